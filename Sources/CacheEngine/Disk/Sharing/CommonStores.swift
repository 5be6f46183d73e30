import CacheCore
import Dispatch
import Synchronization

/// The shared directories that are open in this process: all levels on one of them take part as one.
enum CommonStores {
  private struct Joined {
    var store: CommonStore
    /// 0 while it ends.
    var users: Int
  }

  /// What the levels of a process on one directory have together.
  struct Part: Hashable, Sendable {
    var identity: StoreDirectory.Identity
    /// 0 except for what stands apart.
    var number: UInt64
  }

  private static let open = Mutex<[Part: Joined]>([:])

  /// Opens a shared directory, or joins those in this process who have it open.
  ///
  /// Blocks until this process owns the files or was let in by the owner.
  static func store(_ settings: CommonStore.Settings) throws -> CommonStore {
    do {
      let directory = try StoreDirectory(settings.path, access: .readWrite, calls: settings.calls)
      while true {
        let (found, isNew) = try open.withLock { stores -> (Joined, Bool) in
          let part = Part(identity: directory.identity, number: 0)
          if !settings.isApart, let joined = stores[part] { return (joined, false) }
          var settings = settings
          // A program may change its working directory.
          settings.path = directory.path
          let joined = Joined(store: try CommonStore(settings, directory), users: 1)
          stores[joined.store.part] = joined
          return (joined, true)
        }
        if isNew {
          do { try found.store.start() } catch {
            forget(found.store)
            throw error
          }
        }
        guard found.users > 0 else {
          found.store.ended.wait()
          continue
        }
        if !isNew {
          // Whatever that takes, nobody else waits for it; and until it is known, nobody's close is not the last.
          try found.store.expect(settings)
          guard join(found.store) else { continue }
        }
        try awaitOpening(found.store, settings)
        if settings.durability == .synced { found.store.expectSyncedWrites() }
        return found.store
      }
    } catch let failure as SystemFailure {
      throw CacheError(.diskWriteFailed, "\(failure.text), for the store in \(settings.path)", underlying: failure)
    }
  }

  /// Takes part in a store, unless it has begun to end meanwhile.
  private static func join(_ store: CommonStore) -> Bool {
    open.withLock { stores in
      guard let joined = stores[store.part], joined.store === store, joined.users > 0 else { return false }
      stores[store.part]?.users += 1
      return true
    }
  }

  private static func awaitOpening(_ store: CommonStore, _ settings: CommonStore.Settings) throws {
    // The process that has the lock may be starting and reading a long log, or ending and writing its index.
    let patience = DispatchTimeInterval.milliseconds(Int(min(5 * store.limit / 1_000_000, 3_600_000)))
    let isInTime = store.opening.wait(timeout: .now() + patience) == .success
    // For the next level that opens the directory.
    if isInTime { store.opening.signal() }
    let (refusal, isThere) = store.state.withLock { state in
      if case .seeking = state.role { return (state.refusal, false) }
      if case .guest(_, _, isWelcome: false) = state.role { return (state.refusal, false) }
      return (state.refusal, true)
    }
    do {
      if let refusal { throw refusal }
      guard isThere || isInTime else {
        throw CacheError(
          .inUse,
          "another program has the store in \(store.directory.path) open, and does not share it or does not answer")
      }
      // Whoever asks for entries in plain text has the key.
      _ = try StoreSealing.open(store.directory, cipher: settings.cipher, access: .readOnly)
    } catch {
      if leave(store) { store.ended.wait() }
      throw error
    }
  }

  /// Gives up one use; `true` if it was the last one, which ends it.
  @discardableResult
  static func leave(_ store: CommonStore, _ continuation: CheckedContinuation<Void, any Error>? = nil) -> Bool {
    let isLast = open.withLock { stores in
      guard let joined = stores[store.part], joined.store === store, joined.users > 0 else { return false }
      stores[store.part]?.users -= 1
      guard joined.users == 1 else { return false }
      store.state.withLock { state in
        state.isLeaving = true
        if let continuation { state.closing.append(continuation) }
      }
      return true
    }
    if isLast { store.wake() }
    return isLast
  }

  static func forget(_ store: CommonStore) {
    open.withLock { stores in if stores[store.part]?.store === store { stores[store.part] = nil } }
  }
}

extension CommonStore {
  /// Checks that another level of this process asks for what the others have: there is one capacity and one time.
  fileprivate func expect(_ other: Settings) throws {
    guard other.capacity == settings.capacity else {
      throw CacheError(
        .invalidSetting,
        "the store in \(directory.path) is open with a capacity of \(settings.capacity) bytes, which all its levels share; another one was asked for: \(other.capacity)"
      )
    }
    guard type(of: other.clock) == type(of: clock), other.clock.bootIdentifier == clock.bootIdentifier else {
      throw CacheError(
        .invalidSetting, "the store in \(directory.path) is open with another clock, which all its levels share")
    }
    guard other.cipher?.sealingKey == settings.cipher?.sealingKey else {
      throw CacheError(.wrongKey, "the store in \(directory.path) is open with another key")
    }
    guard other.limit == limit else {
      throw CacheError(
        .invalidSetting,
        "the store in \(directory.path) is open with another limit for the silence of its owner, which all its levels share"
      )
    }
  }
}
