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

  private struct State {
    var stores: [StoreDirectory.Identity: Shared] = [:]
    /// The directories that are just being opened, and what ends with that.
    var openings: [StoreDirectory.Identity: DispatchGroup] = [:]
  }

  /// What is found when a directory is opened.
  private enum Found {
    case store(SegmentedStore)
    case opening(DispatchGroup)
    case closing(SegmentedStore)
    /// Nothing: it is reserved until the group is left.
    case reserved(DispatchGroup)
  }

  private static let open = Mutex(State())

  /// Opens the store of a directory, or joins it if it is open.
  ///
  /// Blocks while the directory is read; so does any other opening of it, and nothing else.
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
        switch try find(directory, isShared) {
        case .store(let store):
          // Whatever that takes, nobody else waits for it.
          try store.expectSettings(capacity, clock)
          try store.expectCipher(cipher, directory)
          if join(store, durability) { return store }
        case .opening(let end): end.wait()
        case .closing(let store): try awaitClosing(of: store, in: directory)
        case .reserved(let end):
          defer {
            open.withLock { $0.openings[directory.identity] = nil }
            end.leave()
          }
          let store = try openAlone(directory, capacity, durability, clock, cipher, locked)
          open.withLock { $0.stores[directory.identity] = Shared(store: store, users: 1, isShared: isShared) }
          return store
        }
      }
    } catch let failure as SystemFailure {
      let message =
        "\(failure.text), for the store in \(path)"
      throw CacheError(access == .readOnly ? .diskReadFailed : .diskWriteFailed, message, underlying: failure)
    }
  }

  /// Finds the store of a directory, or reserves the directory if nobody has it open.
  private static func find(_ directory: StoreDirectory, _ isShared: Bool) throws -> Found {
    try open.withLock { state in
      if let end = state.openings[directory.identity] { return .opening(end) }
      guard let shared = state.stores[directory.identity], let store = shared.store else {
        let end = DispatchGroup()
        end.enter()
        state.openings[directory.identity] = end
        return .reserved(end)
      }
      guard shared.users > 0 else { return .closing(store) }
      if isShared, shared.isShared {
        throw CacheError(.inUse, "this process has the store in \(directory.path) open elsewhere")
      }
      guard !isShared, !shared.isShared else {
        throw CacheError(
          .invalidSetting,
          "this process has the store in \(directory.path) open both shared with other processes and for itself alone; let all its levels share it"
        )
      }
      return .store(store)
    }
  }

  /// Takes part in a store, unless it has closed meanwhile.
  private static func join(_ store: SegmentedStore, _ durability: Durability) -> Bool {
    open.withLock { state in
      guard let (identity, shared) = state.stores.first(where: { $0.value.store === store }), shared.users > 0 else {
        return false
      }
      state.stores[identity]?.users += 1
      if durability == .synced { store.expectSyncedWrites() }
      return true
    }
  }

  private static func openAlone(
    _ directory: StoreDirectory, _ capacity: Int, _ durability: Durability, _ clock: any CacheClock,
    _ cipher: (any StoreCipher)?, _ locked: (StoreDirectory) throws -> Void
  ) throws -> SegmentedStore {
    guard let lock = try directory.takeLock() else {
      throw CacheError(.inUse, "another program writes to the store in \(directory.path)")
    }
    try locked(directory)
    return try make(directory, .readWrite, capacity, durability, clock, lock: lock, cipher)
  }

  private static func awaitClosing(of store: SegmentedStore, in directory: StoreDirectory) throws {
    guard !store.isOnQueue else {
      throw CacheError(
        .inUse, "the store in \(directory.path) is about to close; open it elsewhere than in its removal listener")
    }
    store.queue.sync {}
  }

  /// Gives up one use of a store; `true` if it was the last one, which closes it.
  ///
  /// `close` asks the store to close; whoever opens the directory meanwhile waits for that.
  static func release(_ store: SegmentedStore, closing close: () -> Void) -> Bool {
    open.withLock { state in
      guard let (identity, shared) = state.stores.first(where: { $0.value.store === store }), shared.users > 0 else {
        return false
      }
      state.stores[identity]?.users -= 1
      if shared.users == 1 { close() }
      return shared.users == 1
    }
  }

  /// Forgets a store as it releases its directory, so that nobody finds it half closed.
  static func forget(_ store: SegmentedStore, _ letGo: () -> Void) {
    open.withLock { state in
      if let identity = state.stores.first(where: { $0.value.store === store })?.key { state.stores[identity] = nil }
      letGo()
    }
  }

  /// Notes that a store stands in another directory now.
  static func move(_ store: SegmentedStore, to identity: StoreDirectory.Identity) {
    open.withLock { state in
      guard let (old, shared) = state.stores.first(where: { $0.value.store === store }) else { return }
      state.stores[old] = nil
      state.stores[identity] = shared
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
