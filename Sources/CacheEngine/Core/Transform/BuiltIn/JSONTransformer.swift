#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Turns JSON into values, and values into JSON.
///
/// ```swift
/// let users = disk.transformValues(JSONTransformer<User>())
/// ```
///
/// Fragments (a lone number, text, `true` or `null`) are taken. What is nested more than 128 deep fails, read or written: it
/// could overflow the stack. The parser is Foundation's, which lets pass a comma after the last element. Names are written in order, so equal values make equal
/// bytes.
public struct JSONTransformer<Value: Codable & Sendable>: TwoWayTransformer {
  /// How values are written.
  public let options: JSONOptions

  /// Creates a transformer.
  ///
  /// - Parameter options: How values are written.
  public init(options: JSONOptions = JSONOptions()) { self.options = options }

  /// Parses JSON.
  ///
  /// - Parameter input: The bytes.
  /// - Returns: The value.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/invalidCachedData`` if the bytes are not JSON or not a value of
  ///   this type.
  @concurrent
  public func transform(_ input: Data) async throws -> Value {
    do {
      try JSONNesting.check(input)
      return try options.decoder().decode(Value.self, from: input)
    } catch {
      throw CacheError(
        .invalidCachedData, "the JSON is not of the type \(Value.self) (\(input.count) bytes)", underlying: error)
    }
  }

  /// Writes JSON.
  ///
  /// - Parameter output: The value.
  /// - Returns: The bytes.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/encodingFailed`` if the value cannot be written, for example
  ///   because it holds a number that is not finite.
  @concurrent
  public func inverseTransform(_ output: Value) async throws -> Data {
    do {
      let data = try options.encoder().encode(output)
      try JSONNesting.check(data)
      return data
    } catch {
      throw CacheError(.encodingFailed, "a \(Value.self) cannot be written as JSON", underlying: error)
    }
  }
}

/// Turns JSON of any shape into ``JSONValue``, and back.
public typealias JSONValueTransformer = JSONTransformer<JSONValue>
