import CacheDisk
import CacheMemory
import CacheCore
import Dispatch
import Synchronization

/// The levels of a storage and those who observe them: what all its views and faces share.
final class StorageCore<Key: Hashable & Sendable>: Sendable {
  typealias Memory = MemoryCacheLevel<Key, StoredObject>
  typealias Disk = DiskCacheLevel<Key, StoredObject>

  let memory: Memory?
  let disk: Disk?
  let diskConfig: DiskConfig?
  let changes: StorageChanges<Key>
  let clock: any CacheClock
  /// Where the callback face does its work: one request after the other.
  let callbacks = DispatchQueue(label: "CacheEngine.storage.callbacks")

  private let levels: BasicCache<Key, StoredObject>
  private let costLimit: Int
  /// A key's changes are told in the order in which they were made.
  private let gate = WriteGate<Key>()
  private let executor = StorageExecutor()
  private let sweeping = Mutex<Task<Void, Never>?>(nil)
  private let listening = Mutex<MemoryWarningSubscription?>(nil)

  /// Puts memory above a disk that is open, if there is to be one.
  init(
    memory config: MemoryConfig?, disk: Disk? = nil, diskConfig: DiskConfig? = nil,
    changes: StorageChanges<Key> = StorageChanges(), sweepInterval: Duration?, clock: any CacheClock
  ) {
    precondition(sweepInterval.map { $0 > .zero } ?? true, "an interval between sweeps has to be positive")
    self.disk = disk
    self.diskConfig = diskConfig
    self.changes = changes
    self.clock = clock
    let costLimit = config.map(\.totalCostLimit).flatMap { $0 > 0 ? $0 : nil } ?? .max
    self.costLimit = costLimit
    memory = config.map { config in
      Memory(
        capacity: costLimit, countLimit: config.countLimit == 0 ? nil : config.countLimit, eviction: config.eviction,
        expiry: config.expiry,
        keepsExpired: config.keepsExpired, clock: clock, removalListener: { changes.lose($0, from: .memory) },
        cost: { $1.cost })
    }
    // What the disk could not store must not be served from memory: after a restart the old value would be back.
    levels =
      switch (memory, disk) {
      case (let memory?, let disk?): memory.compose(disk, partialStores: .refused).normalize()
      case (let memory?, nil): memory.normalize()
      case (nil, let disk?): disk.normalize()
      case (nil, nil): EmptyLevel().normalize()
      }
    changes.setPresence { [weak memory, weak disk] key in
      // A disk that is closed or has no such key holds nothing.
      (memory?.contains(key) ?? false) || ((try? disk?.contains(key)) ?? false)
    }
    if let sweepInterval { sweep(every: sweepInterval) }
    if let pressure = config?.pressure { listen(to: pressure) }
  }

  /// Opens the disk, and puts memory above it.
  ///
  /// - Throws: As `DiskCacheLevel`'s initialiser; `CacheError` with code `CacheError.Code.unusableStore` if the
  ///   configuration cannot be used.
  convenience init(
    memory memoryConfig: MemoryConfig?, opening config: DiskConfig, keys: ByteCoding<Key>, sweepInterval: Duration?,
    clock: any CacheClock
  ) throws {
    if let directory = config.directory { try StandardDirectory.check(directory) }
    let config = config.absolute
    try config.check()
    let changes = StorageChanges<Key>()
    let disk = try Disk(
      directory: config.path, capacity: config.capacity, expiry: config.expiry, keepsExpired: config.keepsExpired,
      durability: config.durability, cipher: config.cipher, keyCoding: keys, valueCoding: .object, clock: clock,
      removalListener: { changes.lose($0, from: .disk) })
    try config.applyAttributes()
    disk.whenStandingAgain { [name = disk.name] in
      do { try config.applyAttributes() } catch { StorageCore.report(.set, String(describing: error), name, clock) }
    }
    let foreign = try config.foreignFiles.count
    if foreign > 0 {
      StorageCore.report(
        .get,
        "\(foreign) files of another cache library in \(config.path) are neither read nor counted; removeAll removes them",
        disk.name, clock)
    }
    self.init(
      memory: memoryConfig, disk: disk, diskConfig: config, changes: changes, sweepInterval: sweepInterval, clock: clock
    )
  }

  deinit { sweeping.withLock { $0 }?.cancel() }

  // MARK: Ways to run an operation

  // Only writes tell observers: a reader never runs what others passed in.

  /// Carries out a read while the caller's thread waits.
  func waitForRead<Answer: Sendable>(_ read: @escaping @Sendable () async throws -> Answer) throws -> Answer {
    try executor.wait(read)
  }

  /// Carries out a write while the caller's thread waits.
  func wait<Answer: Sendable>(_ write: @escaping @Sendable () async throws -> Answer) throws -> Answer {
    let writer = changes.beginWrite()
    defer { changes.endWrite(writer) }
    return try executor.wait(write)
  }

  /// Carries out a read while the caller's task waits, which may be cancelled.
  @concurrent
  func read<Answer: Sendable>(_ read: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    try Task.checkCancellation()
    return try await executor.run(read)
  }

  /// Carries out a write while the caller's task waits, which may be cancelled.
  @concurrent
  func run<Answer: Sendable>(_ write: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    try Task.checkCancellation()
    let writer = changes.beginWrite()
    defer { changes.endWrite(writer) }
    return try await read(write)
  }

  // MARK: Operations

  /// Whether values have to be encoded before they are stored.
  var needsBytes: Bool { disk != nil || costLimit < .max }

  func lookup(_ key: Key) async throws -> Lookup<StoredObject> { try await levels.lookup(key) }

  /// An entry that lives in any tier comes before one that has expired in another.
  func lookupIncludingExpired(_ key: Key) async throws -> Lookup<StoredObject> {
    do {
      let fresh = try await levels.lookup(key)
      if fresh.entry != nil { return fresh }
    } catch is CacheError {
      // The tier above may keep what the one below cannot give; if not, this is asked below once more.
    }
    return try await levels.lookupIncludingExpired(key)
  }

  func store(_ object: StoredObject, forKey key: Key, terms: StoreTerms) async throws {
    if disk == nil, object.cost > costLimit {
      throw CacheError(
        .tooLarge, "the value costs \(object.cost), more than the totalCostLimit of \(costLimit), which counts bytes",
        level: memory?.name)
    }
    var terms = bounded(terms)
    // What the caller weighed was the value, and not the object that holds it.
    terms.cost = nil
    try await gate.write(key) { [terms] began in
      let before = changes.isObserved(key) ? await held(key) : nil
      try await levels.store(object, forKey: key, terms: terms)
      changes.note(.stored(key, before: before, after: object))
      // A removal of everything came meanwhile: nobody can say which of the two was first, so this one was.
      guard gate.isSwept(key, since: began) else { return }
      try await levels.remove(key)
      changes.note(.removed(key))
    }
    object.dropBytes()
  }

  /// What is stored without an expiry is kept nowhere for longer than the disk keeps it.
  private func bounded(_ terms: StoreTerms) -> StoreTerms {
    guard terms.expiry == nil, let disk, disk.expiry != .never else { return terms }
    return .backFill(deadline: disk.expiry.deadline(by: clock), tags: terms.tags, created: terms.created)
  }

  /// What a key has now, for its observers; that it cannot be read fails no store.
  private func held(_ key: Key) async -> StoredObject? {
    do { return try await levels.lookup(key).entry?.value } catch { return nil }
  }

  func remove(_ key: Key) async throws {
    try await gate.write(key) {
      let isHeld = try exists(key)
      try await levels.remove(key)
      if isHeld { changes.note(.removed(key)) }
    }
  }

  func removeInMemory(_ key: Key) async throws {
    try await gate.write(key) {
      guard let memory, memory.contains(key) else { return }
      try await memory.remove(key)
      changes.note(.removedInMemory(key))
    }
  }

  func removeAll() async throws {
    try await gate.writeAll {
      try await levels.clear()
      // Whatever becomes of the rest, the entries are gone.
      changes.note(.removedAll)
      try diskConfig?.removeForeignFiles()
      try diskConfig?.applyAttributes()
    }
  }

  /// Sweeps both tiers, and returns how many entries left them together.
  func removeExpired() async throws -> Int {
    var count = try await memory?.removeExpired() ?? 0
    count += try await disk?.removeExpired() ?? 0
    changes.note(.removedExpired)
    return count
  }

  /// Seals the folder with the newest key, and returns how many entries that took.
  func rotate() async throws -> Int {
    guard let disk else {
      throw CacheError(.notEncrypted, "a storage in memory has no cipher; give a `DiskConfig` one")
    }
    return try await disk.rotate()
  }

  /// Drops an entry from the tiers in which it has expired.
  func removeIfExpired(_ key: Key) async throws {
    // A look-up drops what it finds expired, and says why.
    if let memory, !memory.contains(key) { _ = try await memory.lookup(key) }
    if let disk, try !disk.contains(key) { _ = try await disk.lookup(key) }
  }

  func exists(_ key: Key) throws -> Bool {
    if memory?.contains(key) ?? false { return true }
    return try disk?.contains(key) ?? false
  }

  /// The keys that have not expired, in no particular order.
  func keys() async throws -> Set<Key> {
    let now = clock.now
    var keys: Set<Key> = []
    for summary in try await (memory?.contents() ?? []) + (disk?.contents() ?? []) {
      if summary.deadline.map({ $0 > now }) ?? true { keys.insert(summary.key) }
    }
    return keys
  }

  private func listen(to source: some MemoryPressureSource) {
    let subscription = MemoryWarningSubscription(to: source, clock: clock) { [weak self] in await self?.warn() }
    listening.withLock { $0 = subscription }
  }

  /// Empties memory.
  func warn() async {
    let writer = changes.beginWrite()
    await memory?.onMemoryWarning()
    changes.endWrite(writer)
  }

  /// Releases the disk, and empties memory, so that nothing is given any more, also if the disk fails.
  func close() async throws {
    sweeping.withLock { $0 }?.cancel()
    listening.withLock { $0 }?.cancel()
    try await gate.writeAll {
      var failure: (any Error)?
      do { try await disk?.close() } catch { failure = error }
      // A read that has already found a value on the disk no longer copies it to memory.
      try await levels.invalidateAll()
      try await memory?.clear()
      if let failure { throw failure }
    }
  }

  // MARK: Sweeping

  private func sweep(every interval: Duration) {
    let clock = clock
    let task = Task { [weak self] in
      while true {
        // Only a cancellation ends the sleep early, and it ends sweeping.
        do { try await clock.sleep(until: clock.now.advanced(by: interval), tolerance: interval / 10) } catch { return }
        guard let self else { return }
        await sweepOnce()
      }
    }
    sweeping.withLock { $0 = task }
  }

  private func sweepOnce() async {
    do { _ = try await run { [self] in try await removeExpired() } } catch {
      Self.report(.remove, "the sweep of expired entries failed: \(error)", disk?.name ?? "memory", clock)
    }
  }

  private static func report(
    _ operation: CacheEvent.Operation, _ what: String, _ level: String, _ clock: any CacheClock
  ) {
    CacheLogger.failures.record(
      CacheEvent(
        time: clock.now, request: .current, level: level, key: nil, kind: .failed(operation, what, .zero)))
  }
}
