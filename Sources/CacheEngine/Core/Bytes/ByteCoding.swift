#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a key or a value becomes bytes in a store, and bytes become it again.
///
/// ```swift
/// let coding = ByteCoding<User>.json
/// ```
///
/// Values of several types can share a store if each carries the name of its form: see ``init(name:pack:unpack:)``.
public struct ByteCoding<Value: Sendable>: Sendable {
  /// Names the type and form of the bytes.
  ///
  /// The name is stored beside them: bytes written under another name are not decoded.
  public let name: String
  /// Turns a value into bytes.
  public let encode: @Sendable (Value) throws -> Data
  /// Turns bytes into a value.
  public let decode: @Sendable (Data) throws -> Value

  package let pack: @Sendable (Value) throws -> NamedBytes
  package let unpack: @Sendable (NamedBytes) throws -> Value
  /// What ``encode`` gives, for keys: those that have it as an array need not make `Data` of it on the way.
  package var bytes: @Sendable (Value) throws -> [UInt8]

  /// Creates a coding.
  ///
  /// - Parameters:
  ///   - name: Names the type and form of the bytes; at most 65,535 bytes of UTF-8.
  ///   - encode: Turns a value into bytes.
  ///   - decode: Turns bytes into a value.
  public init(
    name: String, encode: @escaping @Sendable (Value) throws -> Data, decode: @escaping @Sendable (Data) throws -> Value
  ) {
    self.name = name
    self.encode = encode
    self.decode = decode
    bytes = { Array(try encode($0)) }
    pack = { NamedBytes(form: name, bytes: try encode($0)) }
    unpack = { packed in
      guard packed.form == name else {
        throw CacheError(
          .invalidCachedData,
          "the entry was stored as \(packed.form) and is read as \(name); give values of another type a place of their own"
        )
      }
      return try decode(packed.bytes)
    }
  }

  /// Creates a coding of values that carry the name of their form, so that values of several types share a store.
  ///
  /// - Parameters:
  ///   - name: Names the coding.
  ///   - pack: Turns a value into bytes, and says what these are. The name is stored beside them.
  ///   - unpack: Turns bytes of any form into a value, or throws.
  public init(
    name: String, pack: @escaping @Sendable (Value) throws -> NamedBytes,
    unpack: @escaping @Sendable (NamedBytes) throws -> Value
  ) {
    self.name = name
    self.pack = pack
    self.unpack = unpack
    encode = { try pack($0).bytes }
    bytes = { Array(try pack($0).bytes) }
    decode = { try unpack(NamedBytes(form: name, bytes: $0)) }
  }
}

extension ByteCoding where Value == Data {
  /// The bytes as they are.
  public static var data: ByteCoding { ByteCoding(name: "data", encode: { $0 }, decode: { $0 }) }
}

extension ByteCoding where Value == String {
  /// UTF-8, code unit for code unit.
  ///
  /// Strings that are equal may have different code units: for keys there is ``canonicalText``.
  public static var utf8: ByteCoding {
    ByteCoding(name: "utf8", encode: { Data($0.utf8) }, decode: Self.text(from:))
  }

  private static func text(from bytes: Data) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CacheError(.invalidCachedData, "the stored bytes are not UTF-8")
    }
    return text
  }
}

extension ByteCoding where Value: Codable {
  /// JSON with sorted keys.
  ///
  /// What is nested more than 128 deep fails. Equal sets, and texts of other code points, may make different bytes: for keys there
  /// is ``canonicalJSON``.
  public static var json: ByteCoding {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return json(encoder: encoder, decoder: JSONDecoder())
  }

  /// JSON as an encoder writes it and a decoder reads it: with dates, numbers and keys in a form of your own.
  ///
  /// What is nested more than 128 deep fails.
  ///
  /// - Parameters:
  ///   - encoder: Writes values. For keys it has to write equal ones alike: `.sortedKeys` is not enough for sets and texts.
  ///   - decoder: Reads what the encoder wrote.
  /// - Returns: The coding. It has the name that ``json`` has, so each reads what the other wrote, as far as it can.
  public static func json(encoder: JSONEncoder, decoder: JSONDecoder) -> ByteCoding {
    ByteCoding(
      name: "json/\(StableName.of(Value.self))",
      encode: { value in
        do {
          let bytes = try encoder.encode(value)
          try JSONNesting.check(bytes)
          return bytes
        } catch {
          throw CacheError(.encodingFailed, "\(Value.self) cannot be written as JSON", underlying: error)
        }
      },
      decode: { bytes in
        do {
          try JSONNesting.check(bytes)
          return try decoder.decode(Value.self, from: bytes)
        } catch {
          throw CacheError(
            .invalidCachedData, "the stored bytes are not JSON of the type \(Value.self)", underlying: error)
        }
      })
  }

  /// Binary property lists: smaller and quicker to read than JSON where there are many numbers.
  ///
  /// The value is stored in an array of one, since a property list cannot hold a lone number or text. A list that is nested more
  /// than 64 deep fails, and so does one that would expand to many times its size.
  public static var propertyList: ByteCoding {
    ByteCoding(
      name: "plist/\(StableName.of(Value.self))",
      encode: { value in
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        do {
          let bytes = try encoder.encode([value])
          try PropertyListNesting.check(bytes)
          return bytes
        } catch {
          throw CacheError(.encodingFailed, "\(Value.self) cannot be written as a property list", underlying: error)
        }
      },
      decode: { bytes in
        do {
          try PropertyListNesting.check(bytes)
          if let value = try PropertyListDecoder().decode([Value].self, from: bytes).first { return value }
        } catch {
          throw CacheError(
            .invalidCachedData, "the stored bytes are not a property list of the type \(Value.self)", underlying: error)
        }
        throw CacheError(.invalidCachedData, "the stored property list holds no value of the type \(Value.self)")
      })
  }
}

/// The name of a type that is the same in every run of a program, as the name of a coding has to be.
public enum StableName {
  /// The full name, without the addresses that are part of the names of private and local types.
  ///
  /// - Parameter type: The type.
  /// - Returns: Its name.
  public static func of(_ type: Any.Type) -> String {
    let parts = String(reflecting: type).split(separator: "(unknown context at $", omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(into: String(parts[0])) { name, part in
      name += part.drop { $0.isHexDigit }.dropFirst(2)  // what follows the address: ")."
    }
  }
}
