import ExplorerText

// A recording has a line for everything that happened. An event is read in 2 us, where Foundation's decoder takes 5.

extension JSONText {
  /// Reads what ``init(recording:)`` made.
  package func recorded<Value: Decodable>(_ type: Value.Type = Value.self) throws(RecordedFault) -> Value {
    do { return try value(type) } catch { throw RecordedFault(error) }
  }

  /// What stands there, for a message.
  fileprivate var excerpt: String {
    if case .text(let text) = self { return "“\(text.prefix(40))\(text.count > 40 ? "…" : "")”" }
    let line = line
    return "\(line.prefix(40))\(line.count > 40 ? "…" : "")"
  }

  fileprivate func isNot(_ wanted: String) -> RecordedFault { RecordedFault("\(excerpt) is not \(wanted)") }
}

extension RecordedFault {
  /// What a type says of a value that it cannot be read from.
  fileprivate init(_ error: any Error) {
    switch error {
    case let fault as RecordedFault: self = fault
    case DecodingError.dataCorrupted(let context):
      self = context.codingPath.reversed().reduce(RecordedFault(context.debugDescription)) {
        $0.inField($1.stringValue)
      }
    default: self.init("\(error)")
    }
  }
}

extension JSONText {
  fileprivate func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let plain: Any? =
      if type == String.self {
        try text
      } else if type == Int.self {
        try number
      } else if type == Int64.self {
        Int64(try number)
      } else if type == Bool.self {
        try flag
      } else if type == Double.self {
        try decimal
      } else if type == Duration.self {
        try duration
      } else if type == [UInt8].self {
        try bytes
      } else {
        nil
      }
    if let plain, let value = plain as? Value { return value }
    do { return try Value(from: RecordDecoder(json: self)) } catch DecodingError.dataCorrupted(let context) {
      guard let words = Self.words(of: type) else { throw RecordedFault(DecodingError.dataCorrupted(context)) }
      throw isNot(words)
    } catch DecodingError.typeMismatch {
      // What the compiler says of an enumeration that is given none of its cases.
      guard case .object(let fields) = self, let name = fields.first?.0 else { throw isNot("an object with a name") }
      throw fields.count == 1
        ? RecordedFault("“\(name)” is no name that is known here") : isNot("an object with one name")
    }
  }

  /// The values of an enumeration of words or numbers; `nil` if it is none, or does not tell them.
  private static func words<Value>(of type: Value.Type) -> String? {
    func words<Cases: CaseIterable>(_ type: Cases.Type) -> [String] {
      type.allCases.compactMap { ($0 as? any RawRepresentable).map { "\($0.rawValue)" } }
    }
    guard let words = (type as? any CaseIterable.Type).map({ words($0) }), let last = words.last else { return nil }
    return (words.dropLast().joined(separator: ", ") + (words.count > 1 ? " or " : "")) + last
  }

  fileprivate var text: String {
    get throws {
      guard case .text(let text) = self else { throw isNot("a text") }
      return text
    }
  }

  fileprivate var number: Int {
    get throws {
      guard case .number(let number) = self else { throw isNot("a whole number") }
      return number
    }
  }

  private var flag: Bool {
    get throws {
      guard case .flag(let flag) = self else { throw isNot("true or false") }
      return flag
    }
  }

  private var decimal: Double {
    get throws {
      switch self {
      case .decimal(let number): return number
      case .number(let number): return Double(number)
      case .text(let text): if let number = Double(text) { return number }
      default: break
      }
      throw isNot("a number")
    }
  }

  private var duration: Duration {
    get throws {
      if case .array(let parts) = self, parts.count == 2 {
        return Duration(
          secondsComponent: Int64(try parts[0].number), attosecondsComponent: Int64(try parts[1].number))
      }
      return .nanoseconds(try number)
    }
  }

  private var bytes: [UInt8] {
    get throws {
      let digits = Array(try text.utf8)
      return try stride(from: 0, to: digits.count, by: 2).map { place in
        guard place + 1 < digits.count,
          let byte = UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16)
        else { throw isNot("hexadecimal, with two digits for each byte") }
        return byte
      }
    }
  }
}

private struct RecordDecoder: Decoder {
  let json: JSONText
  /// The field in which it is, where what is read of it knows that alone.
  var field: String?
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let fields) = json else { throw json.isNot("an object") }
    return KeyedDecodingContainer(Fields<Key>(fields: fields, field: field))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let items) = json else { throw json.isNot("an array") }
    return Items(items: items)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { One(json: json) }

  struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [(String, JSONText?)]
    let field: String?
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { fields.compactMap { Key(stringValue: $0.0) } }

    private func find(_ key: Key) -> JSONText? {
      let name = key.stringValue
      let length = name.utf8.count
      // Most names differ in length, which is known at once.
      for (other, json) in fields where other.utf8.count == length && other == name { return json }
      return nil
    }

    private func findValue(_ key: Key) -> JSONText? {
      guard let json = find(key) else { return nil }
      if case .null = json { return nil }
      return json
    }

    private func field(_ key: Key) throws -> JSONText {
      guard let json = find(key) else { throw inside(RecordedFault("“\(key.stringValue)” is missing")) }
      return json
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) -> Bool { if case .null? = find(key) { true } else { false } }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      let json = try field(key)
      return try at(key) { try json.value(type) }
    }

    // Most fields of most events are not there: one search for each, and none of the type.
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
      guard let json = findValue(key) else { return nil }
      return try at(key) { try json.text }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
      guard let json = findValue(key) else { return nil }
      return try at(key) { try json.number }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
      guard let json = findValue(key) else { return nil }
      return Int64(try at(key) { try json.number })
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      guard let json = findValue(key) else { return nil }
      return try at(key) { try json.value(type) }
    }

    private func at<Value>(_ key: Key, _ read: () throws -> Value) throws -> Value {
      do { return try read() } catch { throw inside(RecordedFault(error).inField(key.stringValue)) }
    }

    private func inside(_ fault: RecordedFault) -> RecordedFault { field.map(fault.inField) ?? fault }

    func nestedContainer<Other: CodingKey>(
      keyedBy type: Other.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Other> {
      let json = try field(key)
      let place = field.map { "\($0).\(key.stringValue)" } ?? key.stringValue
      return try at(key) { try RecordDecoder(json: json, field: place).container(keyedBy: type) }
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      let json = try field(key)
      return try at(key) { try RecordDecoder(json: json).unkeyedContainer() }
    }
    func superDecoder() -> any Decoder { RecordDecoder(json: .object(fields)) }
    func superDecoder(forKey key: Key) throws -> any Decoder { RecordDecoder(json: try field(key)) }
  }

  struct Items: UnkeyedDecodingContainer {
    let items: [JSONText]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    init(items: [JSONText]) { self.items = items }

    private mutating func next() throws -> JSONText {
      guard !isAtEnd else { throw RecordedFault("an item is missing") }
      defer { currentIndex += 1 }
      return items[currentIndex]
    }

    mutating func decodeNil() -> Bool {
      guard !isAtEnd, case .null = items[currentIndex] else { return false }
      currentIndex += 1
      return true
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      let json = try next()
      do { return try json.value(type) } catch { throw RecordedFault(error).inItem(currentIndex - 1) }
    }
    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      try RecordDecoder(json: next()).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try RecordDecoder(json: next()).unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder { RecordDecoder(json: try next()) }
  }

  struct One: SingleValueDecodingContainer {
    let json: JSONText
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { if case .null = json { true } else { false } }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      // A number beyond the middle of its type was written as a negative one.
      if let type = type as? any FixedWidthInteger.Type,
        let value = type.init(truncatingIfNeeded: try json.number) as? Value
      {
        return value
      }
      return try json.value(type)
    }
  }
}
