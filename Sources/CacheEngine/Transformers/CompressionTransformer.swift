public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Turns compressed bytes into plain ones, and plain ones into compressed.
///
/// A read decompresses, a write compresses:
///
/// ```swift
/// let pages = disk.transformValues(CompressionTransformer(.gzip).compose(StringTransformer()))
/// ```
///
/// Checksums are verified. Bytes that end too early fail, and so do bytes after the end. Several gzip members in a row are
/// one value, as RFC 1952 has it; several zlib streams are not.
public struct CompressionTransformer: TwoWayTransformer {
  /// How compressed bytes are wrapped.
  public enum Format: Hashable, Sendable, CustomStringConvertible {
    /// RFC 1952, with a CRC-32.
    case gzip
    /// RFC 1950, with an Adler-32: twelve bytes shorter.
    case zlib

    /// The name of the format.
    public var description: String {
      switch self {
      case .gzip: "gzip"
      case .zlib: "zlib"
      }
    }
  }

  /// How compressed bytes are wrapped.
  public let format: Format
  /// The level of compression, from 0 (none) to 9 (the smallest result, the most work).
  public let level: Int
  /// The most bytes that a plain value may have.
  public let maximumSize: Int

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - format: How compressed bytes are wrapped.
  ///   - level: The level of compression, from 0 (none) to 9 (the smallest result, the most work).
  ///   - maximumSize: The most bytes that a plain value may have. It limits what few compressed bytes can expand to; larger
  ///     values are not written either.
  /// - Precondition: `level` is in 0…9 and `maximumSize` is not negative.
  public init(_ format: Format, level: Int = 6, maximumSize: Int = 64 << 20) {
    precondition((0...9).contains(level), "the compression level is from 0 to 9")
    precondition(maximumSize >= 0, "a size is not negative")
    self.format = format
    self.level = level
    self.maximumSize = maximumSize
  }

  /// Decompresses.
  ///
  /// - Parameter input: The compressed bytes.
  /// - Returns: The plain bytes.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidCachedData` if the bytes are not whole in this format
  ///   or if they become larger than ``maximumSize``; `CancellationError` if the task is cancelled first.
  @concurrent
  public func transform(_ input: Data) async throws -> Data {
    do { return try ZlibStream.inflate(input, format: format, limit: maximumSize) } catch ZlibFailure.tooLarge {
      throw CacheError(.invalidCachedData, "the decompressed value would have more than \(maximumSize) bytes")
    } catch ZlibFailure.failed(let reason) {
      throw CacheError(.invalidCachedData, "the bytes are not \(format), \(reason) (\(input.count) bytes)")
    }
  }

  /// Compresses.
  ///
  /// - Parameter output: The plain bytes.
  /// - Returns: The compressed bytes; the same for the same bytes and version of zlib.
  /// - Throws: `CacheError` with code `CacheError.Code.encodingFailed` if there are more bytes than ``maximumSize``;
  ///   `CancellationError` if the task is cancelled first.
  @concurrent
  public func inverseTransform(_ output: Data) async throws -> Data {
    guard output.count <= maximumSize else {
      throw CacheError(.encodingFailed, "the value has \(output.count) bytes, more than the \(maximumSize) allowed")
    }
    do { return try ZlibStream.deflate(output, format: format, level: level) } catch ZlibFailure.failed(let reason) {
      throw CacheError(.encodingFailed, "the value cannot be written as \(format): \(reason)")
    }
  }
}
