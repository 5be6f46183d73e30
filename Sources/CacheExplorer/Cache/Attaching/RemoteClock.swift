import CacheEngine

/// The clock of another process: ours, and how far the other is ahead.
///
/// Two processes of one machine share a clock, but not if one lives in a time namespace of its own.
struct RemoteClock: CacheClock {
  private let base = SystemClock()
  private let ahead: Duration

  /// - Parameters:
  ///   - now: What the other process said, by its clock.
  ///   - asked: When it was asked, by ours.
  ///   - answered: When its answer was there, by ours.
  init(now: CacheInstant, asked: CacheInstant, answered: CacheInstant) {
    // It may take as long as it likes to answer: by a shared clock, that time has passed meanwhile.
    ahead = asked <= now && now <= answered ? .zero : answered.duration(to: now)
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
