/// JSON of any shape.
///
/// ```swift
/// let user: JSONValue = ["name": "Ada", "born": 1815, "admin": true]
/// user["name"] == "Ada"
/// ```
///
/// Whole numbers that fit into an `Int64` are kept exactly; others become the nearest `Double`. JSON does not tell `1`
/// from `1.0`, so `.integer(1)` equals `.number(1)`.
public enum JSONValue: Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// Text.
  case string(String)
  /// Values in order.
  case array([JSONValue])
  /// Values by name.
  case object([String: JSONValue])

  /// How deep values may be nested, counted from the outermost; deeper ones fail when they are read or written.
  public static let maximumDepth = 64

  /// The value of a name; `nil` if there is none, or if this is not an object.
  public subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  /// The value at a place; `nil` if there is none, or if this is not an array.
  public subscript(index: Int) -> JSONValue? {
    if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
  }
}

extension JSONValue: Hashable {
  private var canonical: JSONValue {
    if case .number(let number) = self, let whole = Int64(exactly: number) { .integer(whole) } else { self }
  }

  /// Whether two values are the same JSON.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left.canonical, right.canonical) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  /// Feeds the value to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch canonical {
    case .null: hasher.combine(0)
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}

extension JSONValue: Codable {
  /// Reads a value.
  public init(from decoder: any Decoder) throws {
    guard decoder.codingPath.count < Self.maximumDepth else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: Self.tooDeep))
    }
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let value = try? single.decode(String.self) {
      self = .string(value)
    } else if let value = try? single.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? single.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? single.decode(Double.self) {
      self = .number(value)
    } else if (try? decoder.unkeyedContainer()) != nil {
      self = .array(try single.decode([JSONValue].self))
    } else {
      self = .object(try single.decode([String: JSONValue].self))
    }
  }

  /// Writes the value.
  public func encode(to encoder: any Encoder) throws {
    guard encoder.codingPath.count < Self.maximumDepth else {
      throw EncodingError.invalidValue("JSON", .init(codingPath: [], debugDescription: Self.tooDeep))
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  private static var tooDeep: String { "the JSON is nested more than \(maximumDepth) deep" }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates `null`.
  public init(nilLiteral: ()) { self = .null }
  /// Creates `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// Creates a whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Creates a number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// Creates text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Creates an object; of two values with one name, the later one stays.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}
