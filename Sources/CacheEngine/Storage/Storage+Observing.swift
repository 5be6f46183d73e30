import CacheCore

extension Storage {
  /// Calls a closure after every change of this storage, through whatever view.
  ///
  /// Any number of observers can be added. They are notified of one change at a time, and of the changes of a key in their order. They
  /// may make any calls, and what they write is reported after they have returned.
  ///
  /// **Where.** If only one thread or task writes, all observers have been notified when a write returns, on its own thread. If
  /// several write at once, or a change is just being reported, they are notified on a thread of the storage, and no write waits for
  /// that. A call that only reads never notifies anybody; expired entries that it finds are reported on a thread of the storage. An
  /// observer that belongs to the main actor has to switch to it itself.
  ///
  /// **Slow observers** hold up only a thread that writes alone. At most 4,096 changes wait to be reported; any beyond that are
  /// reported together, as ``StorageChange/missed(_:)``.
  ///
  /// - Parameters:
  ///   - owner: When it is gone, the observation ends; it is not kept alive.
  ///   - body: Called with the owner and the change.
  /// - Returns: Ends this observation.
  @discardableResult
  public func addStorageObserver<Owner: AnyObject & Sendable>(
    _ owner: Owner, _ body: @escaping @Sendable (Owner, StorageChange<Key>) -> Void
  ) -> ObservationToken {
    core.changes.add { [weak owner] change in
      guard let owner else { return false }
      body(owner, change)
      return true
    }
  }

  /// Calls a closure after every change of one key, through whatever view.
  ///
  /// Any number of observers can be added, also of one key. For the rest see ``addStorageObserver(_:_:)``.
  ///
  /// - Parameters:
  ///   - owner: When it is gone, the observation ends; it is not kept alive.
  ///   - key: The key.
  ///   - body: Called with the owner and the change, whose values are read through this view.
  /// - Returns: Ends this observation.
  @discardableResult
  public func addObserver<Owner: AnyObject & Sendable>(
    _ owner: Owner, forKey key: Key, _ body: @escaping @Sendable (Owner, KeyChange<Value>) -> Void
  ) -> ObservationToken {
    core.changes.add(forKey: key) { [weak owner, transformer] note in
      guard let owner else { return false }
      body(owner, KeyChange(note, readBy: transformer))
      return true
    }
  }

  /// Ends all observations that ``addStorageObserver(_:_:)`` began, and the sequences of ``changes(bufferingPolicy:)``.
  public func removeAllStorageObservers() { core.changes.removeAllObservers() }

  /// Ends all observations of a key, and the sequences of its changes.
  ///
  /// - Parameter key: The key.
  public func removeObservers(forKey key: Key) { core.changes.removeObservers(forKey: key) }

  /// Ends all observations of keys, and the sequences of their changes.
  public func removeAllKeyObservers() { core.changes.removeAllKeyObservers() }

  /// Every change from now on.
  ///
  /// The observation begins with this call and not with the first `for await`, so nothing is missed between. It ends with
  /// the iteration or the task that iterates; the sequence ends with the storage.
  ///
  /// ```swift
  /// for await change in storage.changes() { print(change) }
  /// ```
  ///
  /// - Parameter bufferingPolicy: What is kept for a slow consumer. By default the newest 256 changes: older ones that
  ///   were not yet taken are dropped.
  /// - Returns: The changes.
  public func changes(
    bufferingPolicy: AsyncStream<StorageChange<Key>>.Continuation.BufferingPolicy = .bufferingNewest(256)
  ) -> AsyncStream<StorageChange<Key>> {
    let (stream, continuation) = AsyncStream.makeStream(of: StorageChange<Key>.self, bufferingPolicy: bufferingPolicy)
    let sender = StreamSender(continuation: continuation)
    let token = core.changes.add { change in
      sender.continuation.yield(change)
      return true
    }
    continuation.onTermination = { _ in token.cancel() }
    return stream
  }

  /// Every change of one key from now on, read through this view.
  ///
  /// For the rest see ``changes(bufferingPolicy:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - bufferingPolicy: What is kept for a slow consumer. By default the newest 16 changes; `.bufferingNewest(1)` keeps
  ///     the last state only, which is enough for a screen.
  /// - Returns: The changes.
  public func changes(
    forKey key: Key,
    bufferingPolicy: AsyncStream<KeyChange<Value>>.Continuation.BufferingPolicy = .bufferingNewest(16)
  ) -> AsyncStream<KeyChange<Value>> {
    let (stream, continuation) = AsyncStream.makeStream(of: KeyChange<Value>.self, bufferingPolicy: bufferingPolicy)
    let sender = StreamSender(continuation: continuation)
    let token = core.changes.add(forKey: key) { [transformer] note in
      sender.continuation.yield(KeyChange(note, readBy: transformer))
      return true
    }
    continuation.onTermination = { _ in token.cancel() }
    return stream
  }
}

extension KeyChange {
  init<Key>(_ note: StorageChanges<Key>.KeyNote, readBy transformer: Transformer<Value>?) {
    // A value of another type is reported as one that cannot be read; failing is for those who ask for it.
    func read(_ object: StoredObject?) -> Value? { object.flatMap { try? $0.value(by: transformer) } }
    switch note {
    case .edit(let before, let after): self = .edit(before: read(before), after: read(after))
    case .remove(let cause): self = .remove(cause: cause)
    }
  }
}
