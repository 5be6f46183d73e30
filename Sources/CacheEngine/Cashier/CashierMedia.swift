public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An image, a sound or a film: bytes that stay as they are, and what is known of them.
///
/// To hold pixels instead, see ``Cashier/level(as:)``.
public struct CashierMedia: Sendable, Equatable {
  /// The bytes, such as those of a PNG file.
  public var bytes: Data
  /// What kind of bytes they are, such as `"image/png"`.
  public var type: String
  /// What else is known: a scale, an orientation, a title.
  public var metadata: [String: String]

  /// Creates media.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - type: What kind of bytes they are, such as `"image/png"`.
  ///   - metadata: What else is known.
  public init(_ bytes: Data, type: String, metadata: [String: String] = [:]) {
    self.bytes = bytes
    self.type = type
    self.metadata = metadata
  }
}

extension ByteCoding where Value == CashierMedia {
  private struct Head: Codable, Sendable {
    var type: String
    var metadata: [String: String]
  }

  /// What is known of the bytes as JSON, with its length before it, and then the bytes as they are.
  public static var media: ByteCoding {
    let heads = ByteCoding<Head>.json
    return ByteCoding(
      name: "media",
      encode: { media in
        let head = try heads.encode(Head(type: media.type, metadata: media.metadata))
        return Data((0..<4).map { UInt8(truncatingIfNeeded: head.count >> ($0 * 8)) }) + head + media.bytes
      },
      decode: { data in
        let length = data.prefix(4).enumerated().reduce(0) { $0 + Int($1.element) << ($1.offset * 8) }
        guard data.count - 4 >= length else {
          throw CacheError(.invalidCachedData, "the stored bytes are no media: they end too early")
        }
        let head = try heads.decode(Data(data.dropFirst(4).prefix(length)))
        return CashierMedia(Data(data.dropFirst(4 + length)), type: head.type, metadata: head.metadata)
      })
  }
}
