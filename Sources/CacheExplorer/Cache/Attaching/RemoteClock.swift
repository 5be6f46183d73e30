import CacheEngine

/// The clock of another process: ours, and how far the other is ahead.
///
/// Two processes of one machine share a clock, but not if one lives in a time namespace of its own.
struct RemoteClock: CacheClock {
  private let base = SystemClock()
  private let ahead: Duration

  init(now: CacheInstant) {
    let ahead = base.now.duration(to: now)
    // What the greeting took is no difference.
    self.ahead = ahead < .seconds(-10) || ahead > .seconds(1) ? ahead : .zero
  }

  /// A moment of the other process by our clock.
  func here(_ instant: CacheInstant) -> CacheInstant { instant.advanced(by: .zero - ahead) }

  var now: CacheInstant { base.now.advanced(by: ahead) }
  var timeSinceEpoch: Duration { base.timeSinceEpoch }
  var bootIdentifier: UInt64 { base.bootIdentifier }
  var minimumResolution: Duration { base.minimumResolution }

  func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
    try await ContinuousClock().sleep(for: now.duration(to: deadline), tolerance: tolerance)
  }
}
