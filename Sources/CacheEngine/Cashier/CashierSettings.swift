/// How a ``Cashier`` treats what it holds.
///
/// Settings are kept beside the entries and are there again after a restart. Clearing the cache leaves them.
public struct CashierSettings: Sendable, Equatable, Codable {
  /// How long an entry is valid after it was stored or refreshed; zero or less for ever.
  ///
  /// The lifespan is applied when an entry is read, so a new one also applies to entries that are already stored. An entry that,
  /// after a restart of the machine, seems to come from the future is not valid.
  public var lifespan: Duration = .zero
  /// Whether an entry whose lifespan is over is still returned, marked as not valid.
  ///
  /// It is not deleted either way.
  public var returnsExpiredData = true
  /// Whether values are written to files, or held in memory only.
  ///
  /// A change holds for what is stored from then on.
  public var isPersistent = true
  /// Whether the entries stay when a higher version of the app opens the cache.
  ///
  /// Durable caches always do.
  public var persistsCacheAcrossVersions = false
  /// Whether the system encrypts the files while the device is locked.
  ///
  /// On Apple platforms this is complete file protection. Elsewhere it changes nothing: files are for their owner only,
  /// protected or not.
  public var isProtected = false

  /// Creates the settings that a new cache has: persistent, without a lifespan, giving what has expired, unprotected, and
  /// wiped by a new version of the app.
  public init() {}

  /// Whether an entry of some age is still valid; the age of one that comes from the future is not known.
  func isValid(age: Duration) -> Bool { lifespan <= .zero || (.zero..<lifespan).contains(age) }
}
