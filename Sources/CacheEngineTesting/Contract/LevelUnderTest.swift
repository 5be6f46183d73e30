public import CacheEngine

/// What a level can do beyond the least, which a ``LevelContract`` then checks.
public struct LevelCapabilities: OptionSet, Sendable {
  /// One bit for each capability.
  public let rawValue: Int

  /// Creates a set of capabilities.
  ///
  /// - Parameter rawValue: One bit for each capability.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Entries have lifetimes by the clock in ``LevelUnderTest``.
  public static let expiring = LevelCapabilities(rawValue: 1)
  /// Entries survive memory warnings and ``LevelUnderTest/reopen``.
  public static let durable = LevelCapabilities(rawValue: 2)
  /// Entries may be evicted: where many were set, a read may miss.
  public static let bounded = LevelCapabilities(rawValue: 4)
  /// Writes succeed and change nothing, as those of a `Fetcher`.
  public static let readOnly = LevelCapabilities(rawValue: 8)
}

/// A fresh level, with what a check needs to handle it.
public struct LevelUnderTest<Level: CacheLevel>: Sendable {
  /// The level.
  public let level: Level
  /// The clock that the level lives by; for ``LevelCapabilities/expiring``.
  public let clock: ManualClock?
  /// The lifetime of values stored without one of their own.
  public let expiry: Expiry
  /// Closes a level and opens another on what it left; for ``LevelCapabilities/durable``.
  public let reopen: (@Sendable (Level) async throws -> Level)?

  /// Hands a level to a check.
  ///
  /// - Parameters:
  ///   - level: The level.
  ///   - clock: The clock that the level lives by.
  ///   - expiry: The lifetime of what is stored without one; `nil` for what the level says, or else never.
  ///   - reopen: Closes a level and opens another on what it left.
  public init(
    _ level: Level, clock: ManualClock? = nil, expiry: Expiry? = nil,
    reopen: (@Sendable (Level) async throws -> Level)? = nil
  ) {
    self.level = level
    self.clock = clock
    self.expiry = expiry ?? (level as? any ExpiringLevel)?.expiry ?? .never
    self.reopen = reopen
  }
}
