import CacheEngine
import ExplorerModel
import ExplorerText

/// Something that can be written into a recording and read back as it was.
///
/// What has several fields is written as an array, in which they have their places: short, and read in the order in which
/// it was written.
protocol Recorded {
  var recorded: JSONText { get }
  init(recorded json: JSONText) throws(RecordedFault)
}

/// Takes the fields of an array one after the other.
struct RecordedFields {
  private let items: [JSONText]
  private var place = 0

  init(_ json: JSONText) throws(RecordedFault) {
    guard case .array(let items) = json else { throw RecordedFault("an array is missing") }
    self.items = items
  }

  /// The next field.
  mutating func next<Field: Recorded>(_ type: Field.Type = Field.self) throws(RecordedFault) -> Field {
    guard place < items.count else { throw RecordedFault("a field is missing") }
    defer { place += 1 }
    return try Field(recorded: items[place])
  }

  /// The next field; `nil` where an older program wrote none.
  mutating func nextIfThere<Field: Recorded>() throws(RecordedFault) -> Field? {
    place < items.count ? try next() : nil
  }
}

extension JSONText {
  /// The fields of something, in their order.
  static func fields(_ first: any Recorded, _ rest: any Recorded...) -> JSONText {
    .array([first.recorded] + rest.map(\.recorded))
  }
}

extension Int: Recorded {
  var recorded: JSONText { .number(self) }

  init(recorded json: JSONText) throws(RecordedFault) {
    guard case .number(let number) = json else { throw RecordedFault("a whole number is missing") }
    self = number
  }
}

extension Int64: Recorded {
  var recorded: JSONText { .number(Int(self)) }
  init(recorded json: JSONText) throws(RecordedFault) { self = Int64(try Int(recorded: json)) }
}

extension UInt64: Recorded {
  /// What is beyond the middle is written as a negative number, since the numbers of a recording have a sign.
  var recorded: JSONText { .number(Int(truncatingIfNeeded: self)) }
  init(recorded json: JSONText) throws(RecordedFault) { self = UInt64(truncatingIfNeeded: try Int(recorded: json)) }
}

extension Double: Recorded {
  /// As text, which loses nothing: the numbers of a recording are whole.
  var recorded: JSONText { .text("\(self)") }

  init(recorded json: JSONText) throws(RecordedFault) {
    guard let number = Double(try String(recorded: json)) else { throw RecordedFault("a number is missing") }
    self = number
  }
}

extension Bool: Recorded {
  var recorded: JSONText { .flag(self) }

  init(recorded json: JSONText) throws(RecordedFault) {
    guard case .flag(let flag) = json else { throw RecordedFault("true or false is missing") }
    self = flag
  }
}

extension String: Recorded {
  var recorded: JSONText { .text(self) }

  init(recorded json: JSONText) throws(RecordedFault) {
    guard case .text(let text) = json else { throw RecordedFault("a text is missing") }
    self = text
  }
}

extension Optional: Recorded where Wrapped: Recorded {
  var recorded: JSONText { self?.recorded ?? .null }

  init(recorded json: JSONText) throws(RecordedFault) {
    if case .null = json { self = nil } else { self = try Wrapped(recorded: json) }
  }
}

extension Array: Recorded where Element: Recorded {
  var recorded: JSONText { .array(map(\.recorded)) }

  init(recorded json: JSONText) throws(RecordedFault) {
    guard case .array(let items) = json else { throw RecordedFault("an array is missing") }
    self = []
    reserveCapacity(items.count)
    for item in items { append(try Element(recorded: item)) }
  }
}

extension Dictionary: Recorded where Key == String, Value: Recorded {
  var recorded: JSONText { .object(sorted { $0.key < $1.key }.map { ($0.key, $0.value.recorded) }) }

  init(recorded json: JSONText) throws(RecordedFault) {
    guard case .object(let fields) = json else { throw RecordedFault("an object is missing") }
    self = [:]
    for case (let name, let value?) in fields { self[name] = try Value(recorded: value) }
  }
}

extension RawRepresentable where RawValue: Recorded {
  var recordedValue: JSONText { rawValue.recorded }

  init(recordedValue json: JSONText) throws(RecordedFault) {
    guard let value = Self(rawValue: try RawValue(recorded: json)) else {
      throw RecordedFault("there is no \(Self.self) \(json.line)")
    }
    self = value
  }
}

extension CacheInstant: Recorded {
  var recorded: JSONText { nanoseconds.recorded }
  init(recorded json: JSONText) throws(RecordedFault) { self.init(nanoseconds: try Int64(recorded: json)) }
}

extension RequestID: Recorded {
  var recorded: JSONText { number.recorded }
  init(recorded json: JSONText) throws(RecordedFault) { self.init(try UInt64(recorded: json)) }
}

extension Duration: Recorded {
  /// Nanoseconds; seconds and attoseconds for what that does not hold.
  var recorded: JSONText {
    let nanoseconds = clampedNanoseconds
    guard Duration.nanoseconds(nanoseconds) == self else {
      return .fields(components.seconds, components.attoseconds)
    }
    return nanoseconds.recorded
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    if case .number(let number) = json {
      self = .nanoseconds(number)
    } else {
      var fields = try RecordedFields(json)
      self.init(secondsComponent: try fields.next(), attosecondsComponent: try fields.next())
    }
  }
}

extension Size: Recorded {
  var recorded: JSONText { .fields(width, height) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(width: try fields.next(), height: try fields.next())
  }
}
