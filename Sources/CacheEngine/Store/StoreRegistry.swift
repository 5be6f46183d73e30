import Synchronization

/// The stores that are open in this process: all levels on one directory share one store.
enum StoreRegistry {
  private struct Shared {
    weak var store: SegmentedStore?
    var users: Int
  }

  private static let open = Mutex<[StoreDirectory.Identity: Shared]>([:])

  /// Opens the store of a directory, or joins it if it is open.
  ///
  /// Blocks while the directory is read.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/inUse`` if another process writes to it.
  static func store(
    at path: String, access: StoreAccess, capacity: Int, clock: any CacheClock, calls: FileCalls
  ) throws -> SegmentedStore {
    do {
      let directory = try StoreDirectory(path, access: access, calls: calls)
      guard access == .readWrite else { return try make(directory, access, capacity, clock, lock: nil) }
      return try open.withLock { stores in
        if let shared = stores[directory.identity], let store = shared.store {
          stores[directory.identity]?.users += 1
          return store
        }
        let lock = try directory.open(FileName.lock, forWriting: true, create: true)
        guard try lock.lock() else {
          throw CacheError(.inUse, "another program writes to the store in \(path)")
        }
        let store = try make(directory, access, capacity, clock, lock: lock)
        stores[directory.identity] = Shared(store: store, users: 1)
        return store
      }
    } catch let failure as SystemFailure {
      let message =
        "\(failure.text), for the store in \(path)"
      throw CacheError(access == .readOnly ? .diskReadFailed : .diskWriteFailed, message, underlying: failure)
    }
  }

  /// Gives up one use of a store; `true` if it was the last one.
  static func release(_ store: SegmentedStore) -> Bool {
    guard store.access == .readWrite else { return true }
    return open.withLock { stores in
      guard let shared = stores[store.directory.identity], shared.store === store else { return true }
      if shared.users > 1 {
        stores[store.directory.identity]?.users -= 1
        return false
      }
      stores[store.directory.identity] = nil
      return true
    }
  }

  private static func make(
    _ directory: StoreDirectory, _ access: StoreAccess, _ capacity: Int, _ clock: any CacheClock, lock: StoreFile?
  ) throws -> SegmentedStore {
    let opened = try OpenedStore(directory, access: access, clock: clock)
    let store = SegmentedStore(
      directory: directory, access: access, limits: StoreLimits(capacity: capacity), clock: clock, lock: lock,
      opened: opened)
    if access == .readWrite { try store.trim() }
    return store
  }
}

extension SegmentedStore {
  /// Makes everything fit before the store is used.
  fileprivate func trim() throws {
    var batch = WriteBatch(store: self)
    try batch.trim()
  }
}
