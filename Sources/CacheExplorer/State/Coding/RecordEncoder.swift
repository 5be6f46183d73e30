import ExplorerText
import CacheEngine

// What is recorded is `Codable`. Foundation's encoder would leave characters in a line that a terminal obeys.

extension JSONText {
  /// What a value writes of itself: durations in nanoseconds, bytes as pairs of hexadecimal digits.
  package init(recording value: some Encodable) {
    let slot = Slot()
    // Nothing that is recorded can fail to be written.
    try? slot.write(value)
    self = slot.json
  }
}

private func same<Value, Wanted>(_ value: Value, as type: Wanted.Type) -> Wanted? {
  Value.self == type ? value as? Wanted : nil
}

/// A place in JSON that something writes itself into.
private final class Slot {
  private enum Content {
    case value(JSONText)
    case fields([(String, Slot)])
    case items([Slot])
  }

  private var content = Content.value(.null)

  var json: JSONText {
    switch content {
    case .value(let json): json
    case .fields(let fields): .object(fields.map { ($0, $1.json) })
    case .items(let items): .array(items.map(\.json))
    }
  }

  var count: Int { if case .items(let items) = content { items.count } else { 0 } }

  func beginFields() { if case .value = content { content = .fields([]) } }
  func beginItems() { if case .value = content { content = .items([]) } }

  func field(_ key: any CodingKey) -> Slot {
    let slot = Slot()
    guard case .fields(var fields) = content else { return slot }
    content = .value(.null)
    fields.append((key.stringValue, slot))
    content = .fields(fields)
    return slot
  }

  func item() -> Slot {
    let slot = Slot()
    guard case .items(var items) = content else { return slot }
    content = .value(.null)
    items.append(slot)
    content = .items(items)
    return slot
  }

  func writeNull() { content = .value(.null) }
  func write(integer number: any BinaryInteger) { content = .value(.number(Int(truncatingIfNeeded: number))) }

  func write<Value: Encodable>(_ value: Value) throws {
    if let text = same(value, as: String.self) {
      content = .value(.text(text))
    } else if let number = same(value, as: Int.self) {
      content = .value(.number(number))
    } else if let number = same(value, as: Int64.self) {
      content = .value(.number(Int(number)))
    } else if let flag = same(value, as: Bool.self) {
      content = .value(.flag(flag))
    } else if let number = same(value, as: Double.self) {
      content = .value(number.isFinite ? .decimal(number) : .text("\(number)"))
    } else if let duration = same(value, as: Duration.self) {
      content = .value(Self.json(duration))
    } else if let bytes = same(value, as: [UInt8].self) {
      content = .value(.text(bytes.reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }))
    } else {
      try value.encode(to: RecordEncoder(slot: self))
    }
  }

  /// Seconds and attoseconds for what nanoseconds do not hold.
  private static func json(_ duration: Duration) -> JSONText {
    let nanoseconds = duration.clampedNanoseconds
    guard Duration.nanoseconds(nanoseconds) == duration else {
      return .array([.number(Int(duration.components.seconds)), .number(Int(duration.components.attoseconds))])
    }
    return .number(Int(nanoseconds))
  }
}

private struct RecordEncoder: Encoder {
  let slot: Slot
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.beginFields()
    return KeyedEncodingContainer(Fields<Key>(slot: slot))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.beginItems()
    return Items(slot: slot)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { One(slot: slot) }

  struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { slot.field(key).writeNull() }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try slot.field(key).write(value) }
    func nestedContainer<Other: CodingKey>(keyedBy type: Other.Type, forKey key: Key) -> KeyedEncodingContainer<Other> {
      RecordEncoder(slot: slot.field(key)).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      RecordEncoder(slot: slot.field(key)).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { RecordEncoder(slot: slot) }
    func superEncoder(forKey key: Key) -> any Encoder { RecordEncoder(slot: slot.field(key)) }
  }

  struct Items: UnkeyedEncodingContainer {
    let slot: Slot
    var codingPath: [any CodingKey] { [] }
    var count: Int { slot.count }

    func encodeNil() { slot.item().writeNull() }
    func encode<Value: Encodable>(_ value: Value) throws { try slot.item().write(value) }
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      RecordEncoder(slot: slot.item()).container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      RecordEncoder(slot: slot.item()).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { RecordEncoder(slot: slot.item()) }
  }

  struct One: SingleValueEncodingContainer {
    let slot: Slot
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { slot.writeNull() }
    func encode<Value: Encodable>(_ value: Value) throws {
      if let number = value as? any BinaryInteger { slot.write(integer: number) } else { try slot.write(value) }
    }
  }
}
