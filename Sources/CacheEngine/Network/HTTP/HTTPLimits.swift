/// How much of a server's answer is accepted.
///
/// All limits are on by default.
public struct HTTPLimits: Sendable, Equatable {
  /// The most bytes that a body may have.
  public var bodyBytes: Int
  /// The most bytes that all header lines of an answer may have together, interim answers and trailers included.
  public var headerBytes: Int
  /// The most header lines that an answer may have, interim answers and trailers included.
  public var headerCount: Int
  /// The most redirects that are followed.
  public var redirects: Int

  /// 64 MiB of body, 64 KiB and 256 lines of header, 10 redirects.
  public static let `default` = HTTPLimits()

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - bodyBytes: The most bytes that a body may have. Not negative.
  ///   - headerBytes: The most bytes that all header lines may have together. Not negative.
  ///   - headerCount: The most header lines. Not negative.
  ///   - redirects: The most redirects that are followed. Not negative.
  public init(
    bodyBytes: Int = 64 << 20, headerBytes: Int = 64 << 10, headerCount: Int = 256, redirects: Int = 10
  ) {
    precondition(min(bodyBytes, headerBytes, headerCount, redirects) >= 0, "a limit is never negative")
    self.bodyBytes = bodyBytes
    self.headerBytes = headerBytes
    self.headerCount = headerCount
    self.redirects = redirects
  }
}
