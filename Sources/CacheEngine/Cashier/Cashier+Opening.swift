import CacheDisk

public import CacheCore
import Dispatch

#if canImport(Darwin)
internal import Foundation
#endif

extension Cashier {
  private static let queue = DispatchQueue(label: "CacheEngine.cashier", attributes: .concurrent)

  /// Opens the cache with a name, or returns the one that is open.
  ///
  /// If the app has a higher version than any that opened the cache before, everything in it is removed first, unless it
  /// is durable or its settings say that it persists across versions. If the program crashes while it does, removing starts
  /// over when the cache is next opened.
  ///
  /// - Parameters:
  ///   - id: The name: any text.
  ///   - location: Where the files are. Caches with the same name in different locations are independent.
  ///   - persistsCacheAcrossVersions: Sets ``CashierSettings/persistsCacheAcrossVersions``, before anything is removed.
  ///     `nil` leaves it as it was when the cache was used last.
  ///   - appVersion: The version of the app: numbers with dots between them. With `nil` nothing is removed.
  ///   - capacity: The maximum size of the files, in bytes. At least 1 MiB. The least recently used entries are evicted first.
  ///   - memoryCapacity: The maximum size of the values in memory, in bytes.
  ///   - cipher: Seals keys and values in the files; `nil` for a cache that is not encrypted. The name, settings and version of
  ///     the cache are not sealed.
  ///   - clock: The clock by which lifespans are measured.
  ///   - observer: Notified of damage, and of failures that were skipped. By default the log.
  /// - Returns: The cache. If it was already open, only `persistsCacheAcrossVersions` is applied; everything else is as it was opened.
  /// - Throws: `CacheError` with code `CacheError.Code.inUse` if another process has opened it,
  ///   `CacheError.Code.invalidSetting` if the path of the location is empty, `CacheError.Code.unusableStore`,
  ///   `CacheError.Code.wrongKey`, `CacheError.Code.notEncrypted`, `CacheError.Code.diskReadFailed` or `CacheError.Code.diskWriteFailed`.
  public static func open(
    _ id: String = "default", in location: CashierLocation = .purgeable, persistsCacheAcrossVersions: Bool? = nil,
    appVersion: String? = bundleVersion, capacity: Int = 256 << 20, memoryCapacity: Int = 50 << 20,
    cipher: (any StoreCipher)? = nil, clock: any CacheClock = SystemClock(),
    observer: any CacheObserver = CacheLogger.failures
  ) async throws -> Cashier {
    try StandardDirectory.check(location.directory)
    let opening = CashierOpening(
      id: id, location: location, persistsCacheAcrossVersions: persistsCacheAcrossVersions,
      appVersion: appVersion.map(AppVersion.init), capacity: capacity, memoryCapacity: memoryCapacity,
      cipher: cipher, clock: clock, observer: observer)
    return try await open(opening)
  }

  /// The version of the app's bundle; `nil` if there is none, as on Linux.
  public static var bundleVersion: String? {
    #if canImport(Darwin)
    Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
    #else
    nil
    #endif
  }

  static func open(_ opening: CashierOpening) async throws -> Cashier {
    while true {
      let cashier = try await CashierRegistry.cashier(at: opening.folder) { try await opening.open() }
      guard let policy = opening.persistsCacheAcrossVersions else { return cashier }
      do {
        try await cashier.changeSettings { $0.persistsCacheAcrossVersions = policy }
        return cashier
      } catch let error as CacheError where error.code == .closed {
        // Somebody has closed it since; there will be another one.
      }
    }
  }

  /// Runs what may wait for the disk where nobody else has to wait for it.
  static func blocking<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { done in
      queue.async { done.resume(with: Result(catching: work)) }
    }
  }
}
