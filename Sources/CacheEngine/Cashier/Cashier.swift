import CacheDisk
import CacheMemory

public import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cache with a name, for values of any type, that an app opens wherever it needs it.
///
/// ```swift
/// let news = try await Cashier.open("news")
/// try await news.changeSettings { $0.lifespan = .seconds(60) }
///
/// try await news.set("Rain until noon", forKey: "weather")
/// let weather = try await news.string(forKey: "weather")
/// let isFresh = try await news.isValid(forKey: "weather")
/// ```
///
/// Values are held in memory over files. One lifespan applies to the whole cache, at every read: when it is
/// over, an entry is no longer valid, but is still returned unless ``CashierSettings/returnsExpiredData`` is off.
/// It is never deleted because of its age. ``refreshValidation(forKey:)`` restarts its lifespan.
///
/// Whoever opens a cache that is already open gets the same one. It lives as long as somebody holds it; values that are only in
/// memory end with it. One process at a time can open a cache; another one gets `CacheError.Code.inUse`. Stored values survive a
/// crash; files and folders are accessible to their owner only.
///
/// There is no `nil` in the cache: storing `nil` removes the entry.
public final class Cashier: Sendable {
  private struct State: Sendable {
    var record: CashierRecord
    var isClosed = false
    /// The folder was removed, and the record with it.
    var isRecordLost = false
    /// How releasing the files ended.
    var shutDown: Result<Void, any Error>?
  }

  typealias Levels = ComposedLevel<MemoryCacheLevel<String, CashierItem>, CashierFiles>

  /// The name that the cache was opened by.
  public let id: String
  /// Where the cache keeps its files.
  public let location: CashierLocation

  let folder: String
  private let levels: Levels
  private let memoryCapacity: Int
  private let record: UserDefaultsCacheLevel<String, CashierRecord>
  private let clock: any CacheClock
  private let observer: any CacheObserver
  private let state: Mutex<State>
  // A refresh reads and writes, and nobody may write between. The levels cannot know that the two belong together.
  private let writes = WriteGate<String>()
  let settingsWrites = WriteGate<String>()

  init(
    id: String, location: CashierLocation, folder: String, levels: Levels, state: CashierRecord,
    record: UserDefaultsCacheLevel<String, CashierRecord>, memoryCapacity: Int, clock: any CacheClock,
    observer: any CacheObserver
  ) {
    self.id = id
    self.location = location
    self.folder = folder
    self.memoryCapacity = memoryCapacity
    self.levels = levels
    self.record = record
    self.clock = clock
    self.observer = observer
    self.state = Mutex(State(record: state))
  }

  deinit { CashierRegistry.forget(folder) }

  // MARK: Settings

  /// The settings of the cache.
  public var settings: CashierSettings { state.withLock { $0.record.settings } }

  /// Changes settings, for everybody who uses the cache and for the time after a restart.
  ///
  /// - Parameter change: Changes the current settings.
  /// - Throws: `CacheError` with code `CacheError.Code.diskWriteFailed` or `CacheError.Code.closed`; the settings are
  ///   then as they were.
  public func changeSettings(_ change: (inout CashierSettings) -> Void) async throws {
    try await settingsWrites.write("settings") {
      try checkOpen()
      let before = state.withLock { $0.record }
      var changed = before
      change(&changed.settings)
      guard changed != before else { return }
      try CashierFolder.setProtection(changed.settings.isProtected, from: before.settings.isProtected, of: folder)
      try await record.set(changed, forKey: CashierRecord.key)
      state.withLock { $0.record = changed }
    }
  }

  /// Prepares the folder, which was removed and is in use again, and notes that the settings are not there.
  func standAgain() {
    let settings = state.withLock { state in
      state.isRecordLost = true
      return state.record.settings
    }
    do {
      try CashierFolder.prepare(folder, isDurable: location.isDurable, isProtected: settings.isProtected)
    } catch { report(error) }
  }

  /// Carries out a write, and stores the settings again if the folder was removed before.
  private func writing<Answer: Sendable>(_ write: () async throws -> Answer) async throws -> Answer {
    let answer = try await write()
    if state.withLock({ $0.isRecordLost }) {
      // Only a cancellation keeps a turn from coming, and then the next write tries again.
      try? await settingsWrites.write("settings") { await restoreRecord() }
    }
    return answer
  }

  private func restoreRecord() async {
    let lost = state.withLock { state in
      defer { state.isRecordLost = false }
      return state.isRecordLost && state.shutDown == nil ? state.record : nil
    }
    guard let lost else { return }
    do { try await record.set(lost, forKey: CashierRecord.key) } catch {
      state.withLock { $0.isRecordLost = true }
      report(error)
    }
  }

  private func report(_ error: any Error) {
    observer.record(
      CacheEvent(
        time: clock.now, request: .current, level: record.name, key: CashierRecord.key,
        kind: .failed(.set, String(describing: error), .zero)))
  }

  // MARK: Age

  /// Returns whether there is an entry whose lifespan is not over.
  ///
  /// - Parameter key: The key of the entry.
  /// - Returns: Whether it is there and valid.
  /// - Throws: `CacheError` with code `CacheError.Code.diskReadFailed` or `CacheError.Code.closed`.
  /// - Complexity: O(1) on average. No value is read; whether the bytes in the file are intact is not known until they are read.
  public func isValid(forKey key: String) async throws -> Bool {
    guard let created = try await created(key) else { return false }
    return settings.isValid(age: created.duration(to: clock.now))
  }

  /// Returns when an entry was last stored or refreshed.
  ///
  /// - Parameter key: The key of the entry.
  /// - Returns: The moment, by the current time of day; `nil` if there is no entry.
  /// - Throws: As ``isValid(forKey:)``.
  public func lastUpdate(forKey key: String) async throws -> Date? { try await created(key).map(date) }

  /// Restarts the lifespan of an entry.
  ///
  /// - Parameter key: The key of the entry. An absent one stays absent.
  /// - Returns: Whether there is an entry.
  /// - Throws: As `set(_:forKey:)`.
  @discardableResult
  public func refreshValidation(forKey key: String) async throws -> Bool {
    try await writing {
      try await writes.write(key) { began in
        guard let entry = try await find(key)?.entry else { return false }
        let terms = StoreTerms(
          expiry: entry.deadline.map(Expiry.at) ?? .never, cost: entry.value.cost, tags: entry.tags)
        try await levels.store(entry.value, forKey: key, terms: terms)
        // What a clear has removed meanwhile is not to come back.
        guard writes.isSwept(key, since: began) else { return true }
        try await levels.remove(key)
        return false
      }
    }
  }

  // MARK: Removing

  /// Removes an entry from memory and from the files.
  ///
  /// - Parameter key: The key of the entry. An absent one stays absent.
  /// - Throws: As `set(_:forKey:)`.
  public func remove(forKey key: String) async throws {
    try checkOpen()
    try await writing { try await writes.write(key) { try await levels.remove(key) } }
  }

  /// Removes every entry, but keeps the settings.
  ///
  /// An entry that is being refreshed meanwhile may be there for a moment after this has returned, until the refresh removes it.
  ///
  /// - Throws: As `set(_:forKey:)`.
  public func clear() async throws {
    try checkOpen()
    try await writing { try await writes.writeAll { try await levels.clear() } }
  }

  /// Seals everything in the files with the newest key of the cipher, so that older keys are no longer needed.
  ///
  /// - Returns: How many entries were resealed.
  /// - Throws: As `DiskCacheLevel.rotate()`.
  /// - Complexity: O(n), and every byte is read and written.
  @discardableResult
  public func rotate() async throws -> Int {
    try checkOpen()
    return try await levels.lower.disk.rotate()
  }

  /// Drops what is in memory; the files stay.
  public func onMemoryWarning() async { await levels.onMemoryWarning() }

  /// Passes memory pressure to the cache, as memory warnings.
  ///
  /// - Parameter source: Reports memory pressure; by default the operating system.
  /// - Returns: The subscription, which you have to keep.
  public func listenToMemoryWarnings(
    from source: some MemoryPressureSource = KernelPressureSource.system
  ) -> MemoryWarningSubscription {
    levels.listenToMemoryWarnings(from: source, clock: clock)
  }

  /// Writes the index, which makes the next opening quick, and releases the files; opening the cache again creates a new one.
  ///
  /// Every later call fails with `CacheError.Code.closed`. Closing twice is harmless: whoever closes again waits for the first
  /// closing, and is told how it ended. A task that was cancelled closes the cache all the same.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.diskWriteFailed`.
  public func close() async throws {
    state.withLock { $0.isClosed = true }
    try await Task { try await CashierRegistry.close(self) }.value
    try state.withLock { $0.shutDown }?.get()
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Releases the files, once.
  ///
  /// A change of the settings that is under way is waited for: it would take the place of what the next one to open the cache stores.
  func shutDown() async throws {
    try await settingsWrites.write("settings") {
      guard state.withLock({ $0.shutDown == nil }) else { return }
      await restoreRecord()
      await levels.onMemoryWarning()
      let outcome: Result<Void, any Error>
      do { outcome = .success(try await levels.lower.disk.close()) } catch { outcome = .failure(error) }
      state.withLock { $0.shutDown = outcome }
    }
  }

  // MARK: For values of every type

  /// An entry, and what counts of its age.
  struct Found {
    var entry: Entry<CashierItem>
    var isValid: Bool
    /// Whether the settings let it be returned.
    var isReturned: Bool
    var lastUpdate: Date
    /// When it is not valid any more, as the lifespan is now; `nil` for never.
    var limit: CacheInstant?
  }

  private func created(_ key: String) async throws -> CacheInstant? {
    try checkOpen()
    if let entry = try await levels.upper.lookup(key).entry { return entry.created ?? clock.now }
    return try levels.lower.disk.created(key)
  }

  /// A moment by the time of day now.
  private func date(_ moment: CacheInstant) -> Date {
    Date(timeIntervalSince1970: (clock.timeSinceEpoch + clock.now.duration(to: moment)) / .seconds(1))
  }

  func find(_ key: String) async throws -> Found? {
    try checkOpen()
    guard let entry = try await levels.lookup(key).entry else { return nil }
    let settings = settings
    let now = clock.now
    let created = entry.created ?? now
    let isValid = settings.isValid(age: created.duration(to: now))
    return Found(
      entry: entry, isValid: isValid, isReturned: isValid || settings.returnsExpiredData,
      lastUpdate: date(created),
      limit: settings.lifespan > .zero ? created.advanced(by: settings.lifespan) : nil)
  }

  /// Stores what is made of the settings at the moment of the write.
  func store(
    forKey key: String, terms: StoreTerms = StoreTerms(), _ item: (_ isPersistent: Bool) throws -> CashierItem
  ) async throws {
    try checkOpen()
    try await writing {
      try await writes.write(key) {
        let item = try item(settings.isPersistent)
        guard item.isPersistent || item.cost <= memoryCapacity else {
          throw CacheError(
            .tooLarge,
            "the value takes \(item.cost) bytes, and memory, where alone it would be, holds \(memoryCapacity)",
            level: id)
        }
        var terms = terms
        terms.cost = item.cost
        try await levels.store(item, forKey: key, terms: terms)
      }
    }
  }

  private func checkOpen() throws {
    if state.withLock({ $0.isClosed }) {
      throw CacheError(.closed, "the cache was closed; open it again with Cashier.open", level: id)
    }
  }
}
