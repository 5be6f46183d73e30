import CacheCore

/// When small writes may be done where their callers run: a plain value.
///
/// A write to the page cache takes some microseconds and waits for nothing, but for a file system that commits its
/// journal, or that lets writers wait until the disk has caught up. One that took long says that this is such a time: the
/// next ones go to the store's own thread for a while, and for twice as long each time that the first one after it is
/// slow again.
struct WritePace: Equatable, Sendable {
  /// Longer than a thread that only lost its processor to others is away, and shorter than the waits that a file system
  /// imposes.
  static let slow: Int64 = 10_000_000
  static let shortestPause: Int64 = 10_000_000
  static let longestPause: Int64 = 10_000_000_000

  private var pause = Self.shortestPause
  private var resumes = Int64.min

  /// Whether a write that begins now may be done at once.
  func allows(at now: Int64) -> Bool { now >= resumes }

  /// Notes how long a write took; all times are in nanoseconds.
  mutating func note(from began: Int64, to ended: Int64) {
    guard ended - began >= Self.slow else {
      pause = Self.shortestPause
      return
    }
    resumes = ended + pause
    pause = min(2 * pause, Self.longestPause)
  }
}
