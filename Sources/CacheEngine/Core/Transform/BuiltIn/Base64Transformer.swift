#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Turns Base64 (RFC 4648, section 4) into bytes, and bytes into Base64.
///
/// For levels that hold text. Characters outside the alphabet, line breaks among them, and missing padding fail.
public struct Base64Transformer: TwoWayTransformer {
  /// Creates a transformer.
  public init() {}

  /// Decodes Base64.
  ///
  /// - Parameter input: The text.
  /// - Returns: The bytes.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/invalidCachedData`` if the text is not Base64.
  public func transform(_ input: String) async throws -> Data {
    guard let data = Data(base64Encoded: input) else {
      throw CacheError(.invalidCachedData, "the text is not Base64 (\(input.utf8.count) bytes)")
    }
    return data
  }

  /// Encodes bytes.
  ///
  /// - Parameter output: The bytes.
  /// - Returns: The text, on one line and padded.
  public func inverseTransform(_ output: Data) async -> String { output.base64EncodedString() }
}
