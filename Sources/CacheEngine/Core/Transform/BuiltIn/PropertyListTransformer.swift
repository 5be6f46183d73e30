#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Turns property lists into values, and values into property lists.
///
/// Both formats are read, whichever is written; XML in UTF-8 only. A property list holds an array or a dictionary: lone
/// numbers and texts fail. So does one that is nested more than 64 deep, or that would unfold to more than 64 MiB and to more
/// than 16 times its size because texts in it lie in many places, read or written. XML with declarations of its own fails.
public struct PropertyListTransformer<Value: Codable & Sendable>: TwoWayTransformer {
  /// How values are written.
  public enum Format: Hashable, Sendable {
    /// Compact.
    case binary
    /// Readable. Of dates it keeps whole seconds, and only those of the years 1 to 9999.
    case xml
  }

  /// How values are written.
  public let format: Format

  /// Creates a transformer.
  ///
  /// - Parameter format: How values are written.
  public init(format: Format = .binary) { self.format = format }

  /// Parses a property list.
  ///
  /// - Parameter input: The bytes, in either format.
  /// - Returns: The value.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/invalidCachedData`` if the bytes are not a property list or not
  ///   a value of this type.
  @concurrent
  public func transform(_ input: Data) async throws -> Value {
    do {
      try PropertyListNesting.check(input)
      return try PropertyListDecoder().decode(Value.self, from: input)
    } catch {
      throw CacheError(
        .invalidCachedData, "the property list is not of the type \(Value.self) (\(input.count) bytes)",
        underlying: error)
    }
  }

  /// Writes a property list.
  ///
  /// - Parameter output: The value.
  /// - Returns: The bytes.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/encodingFailed`` if the value cannot be written.
  @concurrent
  public func inverseTransform(_ output: Value) async throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format == .xml ? .xml : .binary
    do {
      let data = try encoder.encode(output)
      try PropertyListNesting.check(data)
      return data
    } catch {
      throw CacheError(.encodingFailed, "a \(Value.self) cannot be written as a property list", underlying: error)
    }
  }
}
