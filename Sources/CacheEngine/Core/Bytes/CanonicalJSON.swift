#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ByteCoding where Value: Codable {
  /// JSON for keys: what is equal makes equal bytes.
  ///
  /// Texts are canonical, `-0.0` is `0.0`, and sets and dictionaries, whose order differs from run to run, are sorted by the bytes
  /// of their elements. All else is written as by ``json``.
  public static var canonicalJSON: ByteCoding {
    let json = ByteCoding.json
    return ByteCoding(
      name: json.name,
      encode: { value in
        do { return try CanonicalNode(value).bytes } catch {
          throw CacheError(.encodingFailed, "\(Value.self) cannot be written as JSON", underlying: error)
        }
      },
      decode: json.decode)
  }
}

/// Elements come in no order that means anything.
private protocol Unordered {
  /// How many things an element writes: a dictionary writes key and value, if its keys are no texts.
  static var width: Int { get }
}
extension Set: Unordered {
  static var width: Int { 1 }
}
extension Dictionary: Unordered {
  static var width: Int { 2 }
}

/// What a value encodes, before it is written.
private indirect enum CanonicalNode: Encodable {
  case null
  case scalar(any Encodable)
  case array([CanonicalNode])
  case object([String: CanonicalNode])

  init<Value: Encodable>(_ value: Value) throws {
    switch value {
    case let text as String: self = .scalar(Self.canonical(text))
    case let number as Double: self = .scalar(number == 0 ? 0 : number)
    case let number as Float: self = .scalar(number == 0 ? 0 : number)
    // What JSON has a form for, or its writer one of its own.
    case is Bool, is any FixedWidthInteger, is Data, is URL, is Decimal: self = .scalar(value)
    default:
      let place = CanonicalPlace()
      try value.encode(to: CanonicalEncoder(place: place))
      guard let node = place.node else {
        throw EncodingError.invalidValue(
          value, EncodingError.Context(codingPath: [], debugDescription: "a \(Value.self) encodes nothing"))
      }
      self = if let type = Value.self as? any Unordered.Type { try node.sorted(by: type.width) } else { node }
    }
  }

  var bytes: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      return try encoder.encode(self)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .scalar(let value): try container.encode(value)
    case .array(let nodes): try container.encode(nodes)
    case .object(let nodes): try container.encode(nodes)
    }
  }

  static func canonical(_ text: String) -> String { String(decoding: CanonicalText.bytes(of: text), as: UTF8.self) }

  /// The same elements in the order of the bytes of the first thing that each writes.
  private func sorted(by width: Int) throws -> CanonicalNode {
    guard case .array(let nodes) = self else { return self }
    let elements = try stride(from: 0, to: nodes.count, by: width).map { start in
      (key: try nodes[start].bytes, nodes: nodes[start..<min(start + width, nodes.count)])
    }
    return .array(elements.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap(\.nodes))
  }
}

/// Where something is encoded to: a node, or what is to become one.
private final class CanonicalPlace {
  private enum Content {
    case node(CanonicalNode)
    case array([CanonicalPlace])
    case object([String: CanonicalPlace])
  }

  private var content: Content?

  var node: CanonicalNode? {
    switch content {
    case nil: nil
    case .node(let node): node
    case .array(let places): .array(places.map { $0.node ?? .object([:]) })
    case .object(let places): .object(places.mapValues { $0.node ?? .object([:]) })
    }
  }

  var count: Int { if case .array(let places) = content { places.count } else { 0 } }

  func put(_ node: CanonicalNode) { content = .node(node) }

  func beginArray() { if case .array = content {} else { content = .array([]) } }

  func beginObject() { if case .object = content {} else { content = .object([:]) } }

  func append() -> CanonicalPlace {
    guard case .array(var places) = content else { return CanonicalPlace() }
    content = nil
    places.append(CanonicalPlace())
    content = .array(places)
    return places[places.count - 1]
  }

  func place(for key: String) -> CanonicalPlace {
    guard case .object(var places) = content else { return CanonicalPlace() }
    content = nil
    let place = CanonicalPlace()
    places[CanonicalNode.canonical(key)] = place
    content = .object(places)
    return place
  }
}

private struct CanonicalEncoder: Encoder, SingleValueEncodingContainer {
  let place: CanonicalPlace
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    place.beginObject()
    return KeyedEncodingContainer(Keyed(place: place))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    place.beginArray()
    return Unkeyed(place: place)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { place.put(.null) }

  func encode<Value: Encodable>(_ value: Value) throws { place.put(try CanonicalNode(value)) }

  struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: CanonicalPlace
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { place.place(for: key.stringValue).put(.null) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      place.place(for: key.stringValue).put(try CanonicalNode(value))
    }

    func nestedContainer<Inner: CodingKey>(
      keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
      CanonicalEncoder(place: place.place(for: key.stringValue)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      CanonicalEncoder(place: place.place(for: key.stringValue)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { CanonicalEncoder(place: place.place(for: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { CanonicalEncoder(place: place.place(for: key.stringValue)) }
  }

  struct Unkeyed: UnkeyedEncodingContainer {
    let place: CanonicalPlace
    var codingPath: [any CodingKey] { [] }
    var count: Int { place.count }

    func encodeNil() { place.append().put(.null) }

    func encode<Value: Encodable>(_ value: Value) throws { place.append().put(try CanonicalNode(value)) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      CanonicalEncoder(place: place.append()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      CanonicalEncoder(place: place.append()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { CanonicalEncoder(place: place.append()) }
  }
}
