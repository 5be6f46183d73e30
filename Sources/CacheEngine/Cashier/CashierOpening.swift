import CacheDisk
import CacheMemory
import CacheCore

/// How a ``Cashier`` is opened: its files, what it remembers of itself, and what a new version of the app removes.
struct CashierOpening: Sendable {
  var id: String
  var location: CashierLocation
  var persistsCacheAcrossVersions: Bool?
  var appVersion: AppVersion?
  var capacity: Int
  var memoryCapacity: Int
  var cipher: (any StoreCipher)?
  var clock: any CacheClock
  var observer: any CacheObserver
  var calls = FileCalls()

  /// Where the cache stands, however its location was written: without links, from the root.
  let folder: String

  init(
    id: String, location: CashierLocation, persistsCacheAcrossVersions: Bool? = nil, appVersion: AppVersion? = nil,
    capacity: Int = 256 << 20, memoryCapacity: Int = 50 << 20, cipher: (any StoreCipher)? = nil,
    clock: any CacheClock, observer: any CacheObserver
  ) {
    self.id = id
    self.location = location
    self.persistsCacheAcrossVersions = persistsCacheAcrossVersions
    self.appVersion = appVersion
    self.capacity = capacity
    self.memoryCapacity = memoryCapacity
    self.cipher = cipher
    self.clock = clock
    self.observer = observer
    folder = ResolvedPath.of(location.folder(of: id))
  }

  func open() async throws -> Cashier {
    // First, so that no other process has the cache while we look at what it is.
    var disk = try await openDisk(.buffered)
    do {
      let settings = try await openRecord()
      let saved = try await read(settings)
      var record = saved ?? CashierRecord(id: id)
      guard record.id == id else {
        throw CacheError(
          .unusableStore, "the folder \(folder) belongs to the cache \(record.id); give this one another name",
          level: id)
      }
      if let persistsCacheAcrossVersions {
        record.settings.persistsCacheAcrossVersions = persistsCacheAcrossVersions
      }
      if record.mustWipe(for: appVersion, isDurable: location.isDurable), saved != nil || disk.usage.count > 0 {
        try await wipe()
        try await disk.close()
        disk = try await openDisk(.buffered)
      }
      // Only now, when nothing of an older version is left, not even for a power cut to bring back.
      record.version = [record.version, appVersion].compactMap(\.self).max()
      if record != saved { try await settings.set(record, forKey: CashierRecord.key) }
      try CashierFolder.prepare(folder, isDurable: location.isDurable, isProtected: record.settings.isProtected)
      let cashier = Cashier(
        id: id, location: location, folder: folder, levels: levels(over: disk), state: record, record: settings,
        memoryCapacity: memoryCapacity, clock: clock, observer: observer)
      disk.whenStandingAgain { [weak cashier] in cashier?.standAgain() }
      return cashier
    } catch {
      do { try await disk.close() } catch { /* the first failure is the one to tell */  }
      throw error
    }
  }

  private func levels(over disk: DiskCacheLevel<String, CashierItem>) -> Cashier.Levels {
    MemoryCacheLevel(name: "\(id): memory", capacity: memoryCapacity, clock: clock, cost: { $1.cost })
      .compose(CashierFiles(disk: disk), partialStores: .refused, observer: observer)
  }

  private func openDisk(_ durability: Durability) async throws -> DiskCacheLevel<String, CashierItem> {
    try await Cashier.blocking {
      try DiskCacheLevel(
        directory: "\(folder)/entries", capacity: capacity, name: "\(id): files", expiry: .never, keepsExpired: .zero,
        durability: durability, access: .readWrite, keyCoding: .canonicalText, valueCoding: CashierItem.byteCoding,
        clock: clock, removalListener: nil, calls: calls, cipher: cipher)
    }
  }

  private func openRecord() async throws -> UserDefaultsCacheLevel<String, CashierRecord> {
    try await Cashier.blocking {
      try UserDefaultsCacheLevel(
        domain: "cashier", directory: folder, name: "\(id): settings", expiry: .never, durability: .synced,
        keyCoding: .canonicalText, valueCoding: .json, clock: clock, calls: calls)
    }
  }

  /// What the cache remembers about itself; `nil` for a new one, and for one whose settings are damaged: the entries are
  /// worth more than those, unless the version that they belong to has to be known.
  private func read(_ settings: UserDefaultsCacheLevel<String, CashierRecord>) async throws -> CashierRecord? {
    do { return try await settings.get(CashierRecord.key) } catch let error as CacheError
      where [.unusableStore, .invalidCachedData].contains(error.code) && !(error.underlying is NewerFormat)
    {
      observer.record(
        CacheEvent(
          time: clock.now, request: .current, level: settings.name, key: CashierRecord.key,
          kind: .failed(.get, String(describing: error), .zero)))
      try await settings.clear()
      return nil
    }
  }

  /// Removes everything, and waits until it is gone from the disk itself.
  private func wipe() async throws {
    let disk = try await openDisk(.synced)
    do { try await disk.clear() } catch {
      do { try await disk.close() } catch { /* the first failure is the one to tell */  }
      throw error
    }
    try await disk.close()
  }
}
