import Synchronization

/// Lets simultaneous reads of one key share one read of the level below.
///
/// Built by ``CacheLevel/pooled(name:observer:clock:)``. However many callers ask for a key at once, the level below is
/// asked once, and all of them get its one answer: value, miss or error. Nothing is kept afterwards.
///
/// - A caller that is cancelled returns at once with `CancellationError`; the others go on. The load belongs to none of
///   them: the first one may leave like any other. When the last one leaves, the load is cancelled and the next caller
///   begins anew.
/// - Writes are not pooled. After a set, removal or clear, callers no longer join a load that began before it.
public final class PooledLevel<Base: CacheLevel>: CacheLevel {
  /// What values are found by.
  public typealias Key = Base.Key
  /// What is held.
  public typealias Value = Base.Value

  /// What the pool is called in events.
  public let name: String
  /// The level that is asked once.
  public let base: Base

  private typealias Waiter = CheckedContinuation<Lookup<Value>, any Error>
  private let observer: (any CacheObserver)?
  private let clock: any CacheClock
  private let table = Mutex(InFlightTable<Key, Waiter>())

  init(base: Base, name: String, observer: (any CacheObserver)?, clock: any CacheClock) {
    self.base = base
    self.name = name
    self.observer = observer
    self.clock = clock
  }

  /// Returns the value of the level below, read once for everyone who asks at the same time.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The error of the shared read; `CancellationError` if this caller was cancelled.
  @inlinable
  public func get(_ key: Key) async throws -> Value? {
    if let value = base.peek(key) { return value }
    return try await lookup(key).entry?.value
  }

  /// Returns the value of the level below, if that can answer at once.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if only ``get(_:)`` can tell.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }

  /// Returns the answer of the level below, read once for everyone who asks at the same time.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    try Task.checkCancellation()
    let id = table.withLock { $0.nextWaiterID() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        switch table.withLock({ $0.join(key, id: id, waiter: continuation) }) {
        case .leads(let flight): begin(flight, key: key)
        case .follows(_, let callers): record(.flightJoined(callers: callers), key: key)
        }
        // A cancellation that came before the caller was noted found nobody to release.
        if Task.isCancelled { leave(id, key: key) }
      }
    } onCancel: {
      leave(id, key: key)
    }
  }

  /// Stores a value in the level below.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: The error of the level below.
  public func set(_ value: Value, forKey key: Key) async throws {
    defer { table.withLock { $0.detach(key) } }
    try await base.set(value, forKey: key)
  }

  /// Stores a value in the level below on terms of its own.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live, what it weighs, and who stores it.
  /// - Throws: The error of the level below.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    defer { table.withLock { $0.detach(key) } }
    try await base.store(value, forKey: key, terms: terms)
  }

  /// Removes the value for a key from the level below.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: The error of the level below.
  public func remove(_ key: Key) async throws {
    defer { table.withLock { $0.detach(key) } }
    try await base.remove(key)
  }

  /// Removes everything from the level below.
  public func clear() async throws {
    defer { table.withLock { $0.detachAll() } }
    try await base.clear()
  }

  /// Hands the warning to the level below.
  public func onMemoryWarning() async { await base.onMemoryWarning() }

  /// Nothing is under way.
  var isIdle: Bool { table.withLock { $0.isEmpty } }

  private func begin(_ flight: UInt64, key: Key) {
    record(.flightBegan, key: key)
    let began = observer == nil ? nil : clock.now
    let load = Self.start { [self] in
      let answer: Result<Lookup<Value>, any Error>
      do { answer = .success(try await base.lookup(key)) } catch { answer = .failure(error) }
      let waiters = table.withLock { $0.finish(flight) }
      if let began, !waiters.isEmpty {
        record(.flightEnded(callers: waiters.count, began.duration(to: clock.now)), key: key)
      }
      for waiter in waiters { waiter.resume(with: answer) }
    }
    // The load may have ended already, or have lost its last caller before its task was known.
    if !table.withLock({ $0.attach(load, to: flight) }) { load.cancel() }
  }

  private func leave(_ id: UInt64, key: Key) {
    guard let departure = table.withLock({ $0.leave(id, key: key) }) else { return }
    departure.abandoned?.cancel()
    departure.waiter.resume(throwing: CancellationError())
    record(.flightLeft(callers: departure.remaining), key: key)
    if departure.remaining == 0 { record(.flightEnded(callers: 0, .zero), key: key) }
  }

  // A task that starts at once, on the caller's thread, costs a third of one that is enqueued first.
  private static func start(_ work: @escaping @Sendable @isolated(any) () async -> Void) -> Task<Void, Never> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(operation: work)
    } else {
      Task(operation: work)
    }
  }

  private func record(_ kind: CacheEvent.Kind, key: Key) {
    guard let observer else { return }
    observer.record(
      CacheEvent(time: clock.now, request: .current, level: name, key: String(describing: key), kind: kind))
  }
}

extension CacheLevel {
  /// Lets simultaneous reads of one key share one read of this level.
  ///
  /// - Parameters:
  ///   - name: What the pool is called in events.
  ///   - observer: Told who waits for which load.
  ///   - clock: The clock that loads are timed by, if there is an observer.
  /// - Returns: The pooled level.
  public func pooled(
    name: String = "pool", observer: (any CacheObserver)? = nil, clock: any CacheClock = SystemClock()
  ) -> PooledLevel<Self> {
    PooledLevel(base: self, name: name, observer: observer, clock: clock)
  }
}
