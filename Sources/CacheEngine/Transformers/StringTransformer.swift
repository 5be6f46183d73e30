// The encodings beyond Unicode, ASCII and Latin-1 are in Foundation, not in FoundationEssentials.
public import CacheCore

public import Foundation

/// Turns bytes into text, and text into bytes.
///
/// Text becomes the same bytes again, and bytes that are not wholly text in the encoding fail. Only encodings that begin
/// with a byte order mark (`.utf16`, `.utf32`) may change bytes on the way there and back; their variants with a fixed
/// order do not.
public struct StringTransformer: TwoWayTransformer {
  /// How text is written.
  public let encoding: String.Encoding

  /// Creates a transformer.
  ///
  /// - Parameter encoding: How text is written.
  public init(encoding: String.Encoding = .utf8) { self.encoding = encoding }

  /// Reads text.
  ///
  /// - Parameter input: The bytes.
  /// - Returns: The text.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidCachedData` if the bytes are not text in this encoding.
  public func transform(_ input: Data) async throws -> String {
    // Foundation drops a byte order mark in UTF-8, and the bytes with it.
    let text = encoding == .utf8 ? String(validating: input, as: UTF8.self) : String(data: input, encoding: encoding)
    guard let text else {
      throw CacheError(.invalidCachedData, "the bytes are not text in \(encoding) (\(input.count) bytes)")
    }
    return text
  }

  /// Writes text.
  ///
  /// - Parameter output: The text.
  /// - Returns: The bytes.
  /// - Throws: `CacheError` with code `CacheError.Code.encodingFailed` if the encoding lacks a character of the text.
  public func inverseTransform(_ output: String) async throws -> Data {
    guard let data = output.data(using: encoding, allowLossyConversion: false) else {
      throw CacheError(.encodingFailed, "\(encoding) cannot hold the text")
    }
    return data
  }
}
