import CacheCore
import Dispatch
import Synchronization

/// The stores that are open in this process: all levels on one directory share one store.
enum StoreRegistry {
  private struct Shared {
    weak var store: SegmentedStore?
    /// 0 while the store closes.
    var users: Int
    /// Other processes use it too.
    var isShared: Bool
  }

  private static let open = Mutex<[StoreDirectory.Identity: Shared]>([:])

  /// Opens the store of a directory, or joins it if it is open.
  ///
  /// Blocks while the directory is read.
  ///
  /// `isBlind`: An encrypted store is looked at without its key: names and values stay sealed. `locked` is called when the
  /// lock was taken, before anything is read.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/inUse`` if another process writes to it.
  static func store(
    at path: String, access: StoreAccess, capacity: Int, durability: Durability, clock: any CacheClock,
    calls: FileCalls, cipher: (any StoreCipher)? = nil, isBlind: Bool = false, isShared: Bool = false,
    locked: (StoreDirectory) throws -> Void = { _ in }
  ) throws -> SegmentedStore {
    do {
      let directory = try StoreDirectory(path, access: access, calls: calls)
      guard access == .readWrite else {
        return try make(directory, access, capacity, durability, clock, lock: nil, cipher, isBlind: isBlind)
      }
      while true {
        if let store = try join(directory, capacity, durability, clock, cipher, isShared, locked) { return store }
        try awaitClosing(directory)
      }
    } catch let failure as SystemFailure {
      let message =
        "\(failure.text), for the store in \(path)"
      throw CacheError(access == .readOnly ? .diskReadFailed : .diskWriteFailed, message, underlying: failure)
    }
  }

  /// `nil` if the store of the directory is about to close.
  private static func join(
    _ directory: StoreDirectory, _ capacity: Int, _ durability: Durability, _ clock: any CacheClock,
    _ cipher: (any StoreCipher)?, _ isShared: Bool, _ locked: (StoreDirectory) throws -> Void
  ) throws -> SegmentedStore? {
    try open.withLock { stores in
      if let shared = stores[directory.identity], let store = shared.store {
        guard shared.users > 0 else { return nil }
        if isShared, shared.isShared {
          throw CacheError(.inUse, "this process has the store in \(directory.path) open elsewhere")
        }
        guard !isShared, !shared.isShared else {
          throw CacheError(
            .invalidSetting,
            "this process has the store in \(directory.path) open both shared with other processes and for itself alone; let all its levels share it"
          )
        }
        try store.expectSettings(capacity, clock)
        try store.expectCipher(cipher, directory)
        stores[directory.identity]?.users += 1
        if durability == .synced { store.expectSyncedWrites() }
        return store
      }
      let lock = try directory.openLock()
      guard try lock.lock() else {
        throw CacheError(.inUse, "another program writes to the store in \(directory.path)")
      }
      try locked(directory)
      let store = try make(directory, .readWrite, capacity, durability, clock, lock: lock, cipher)
      stores[directory.identity] = Shared(store: store, users: 1, isShared: isShared)
      return store
    }
  }

  /// Waits until the store of a directory has closed, if it is about to.
  private static func awaitClosing(_ directory: StoreDirectory) throws {
    let closing = open.withLock { stores in stores[directory.identity].flatMap { $0.users == 0 ? $0.store : nil } }
    guard let store = closing else { return }
    guard !store.isOnQueue else {
      throw CacheError(
        .inUse, "the store in \(directory.path) is about to close; open it elsewhere than in its removal listener")
    }
    store.queue.sync {}
  }

  /// Gives up one use of a store; `true` if it was the last one, which closes it.
  ///
  /// `close` asks the store to close; who opens the directory meanwhile waits for it.
  static func release(_ store: SegmentedStore, closing close: () -> Void) -> Bool {
    open.withLock { stores in
      guard let (identity, shared) = stores.first(where: { $0.value.store === store }), shared.users > 0 else {
        return false
      }
      stores[identity]?.users -= 1
      if shared.users == 1 { close() }
      return shared.users == 1
    }
  }

  /// Forgets a store as it releases its directory, so that nobody finds it half closed.
  static func forget(_ store: SegmentedStore, _ letGo: () -> Void) {
    open.withLock { stores in
      if let identity = stores.first(where: { $0.value.store === store })?.key { stores[identity] = nil }
      letGo()
    }
  }

  /// Notes that a store stands in another directory now.
  static func move(_ store: SegmentedStore, to identity: StoreDirectory.Identity) {
    open.withLock { stores in
      guard let (old, shared) = stores.first(where: { $0.value.store === store }) else { return }
      stores[old] = nil
      stores[identity] = shared
    }
  }

  private static func make(
    _ directory: StoreDirectory, _ access: StoreAccess, _ capacity: Int, _ durability: Durability,
    _ clock: any CacheClock, lock: StoreFile?, _ cipher: (any StoreCipher)?, isBlind: Bool = false
  ) throws -> SegmentedStore {
    // Before anything that a wrong key could harm.
    let sealing = isBlind ? nil : try StoreSealing.open(directory, cipher: cipher, access: access)
    let isEncrypted = isBlind || sealing != nil
    let opened = try OpenedStore(directory, access: access, clock: clock, isEncrypted: isEncrypted, lock: lock)
    guard isEncrypted || !opened.state.index.isSealed else { throw StoreSealing.needsCipher(directory) }
    let store = SegmentedStore(
      directory: directory, access: access, limits: StoreLimits(capacity: capacity), clock: clock, lock: lock,
      opened: opened, isSynced: durability == .synced, sealing: sealing)
    if access == .readWrite { try store.trim() }
    return store
  }
}

extension SegmentedStore {
  /// Checks that another level on this directory asks for what the store has: there is one capacity and one time.
  fileprivate func expectSettings(_ capacity: Int, _ clock: any CacheClock) throws {
    guard capacity == limits.capacity else {
      throw CacheError(
        .invalidSetting,
        "the store in \(directory.path) is open with a capacity of \(limits.capacity) bytes, which all its levels share; another one was asked for: \(capacity)"
      )
    }
    guard type(of: clock) == type(of: self.clock), clock.bootIdentifier == self.clock.bootIdentifier else {
      throw CacheError(
        .invalidSetting, "the store in \(directory.path) is open with another clock, which all its levels share")
    }
  }

  /// Makes everything fit before the store is used.
  fileprivate func trim() throws {
    var batch = WriteBatch(store: self, isSyncing: false)
    try batch.trim()
  }
}
