public import Synchronization

/// Lets one write at a time through for each key, and back-fills only while no write came between.
///
/// A composition writes several levels one after the other. Without the gate two writes of a key could end in
/// different orders in different levels, and a slow read could put an old value over a newer one.
///
/// The decisions are ``WriteGateTable``'s; this class holds the lock, and those who wait.
@usableFromInline
final class WriteGate<Key: Hashable & Sendable>: Sendable {
  @usableFromInline
  struct State: Sendable {
    @usableFromInline var table = WriteGateTable<Key>()
    @usableFromInline var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]

    @inlinable
    init() {}

    @inlinable
    mutating func grant(_ ids: [UInt64]) -> [CheckedContinuation<Void, any Error>] {
      ids.compactMap { id in
        if let continuation = waiting.removeValue(forKey: id) { return continuation }
        table.keepGrant(id)
        return nil
      }
    }
  }

  @usableFromInline let state = Mutex(State())
  /// Counts the writes that began, so that a read that finds its value above need not be noted.
  @usableFromInline let epoch = Atomic<UInt64>(0)

  @inlinable
  init() {}

  @inlinable var currentEpoch: UInt64 { epoch.load(ordering: .relaxed) }

  /// Runs a write of one key when it is its turn.
  @inlinable
  func write<Result>(_ key: Key, _ body: () async throws -> Result) async throws -> Result {
    try await wait { $0.requestWrite(key, id: $1) }
    defer { resume { $0.finishWrite(key) } }
    return try await body()
  }

  /// Runs a write of all keys when no other write is under way.
  @inlinable
  func writeAll<Result>(_ body: () async throws -> Result) async throws -> Result {
    try await wait { $0.requestClear(id: $1) }
    defer { resume { $0.finishClear() } }
    return try await body()
  }

  /// Notes that a read travels to the lower level, having asked the upper one since the epoch.
  @inlinable
  func beginRead(_ key: Key, since epoch: UInt64) -> ReadTicket {
    state.withLock { state in
      ReadTicket(
        version: state.table.beginRead(key), isLate: self.epoch.load(ordering: .relaxed) != epoch)
    }
  }

  @inlinable
  func beginRead(_ key: Key) -> UInt64 { state.withLock { $0.table.beginRead(key) } }

  @inlinable
  func endRead(_ key: Key) { state.withLock { $0.table.endRead(key) } }

  /// Runs a back-fill, unless a write of this key is under way or came since the read began.
  ///
  /// It never waits.
  @inlinable
  func backFill(_ key: Key, readVersion: UInt64, _ body: () async throws -> Void) async throws {
    guard state.withLock({ $0.table.beginBackFill(key, readVersion: readVersion) }) else { return }
    defer { resume { $0.finishWrite(key, isBackFill: true) } }
    try await body()
  }

  /// Whether a write of this key is under way or came since the read began, so that its answers may not fit together.
  @inlinable
  func isOvertaken(_ key: Key, ticket: ReadTicket) -> Bool {
    ticket.isLate || state.withLock { $0.table.isOvertaken(key, readVersion: ticket.version) }
  }

  @inlinable
  func wait(_ request: (inout WriteGateTable<Key>, UInt64) -> Bool) async throws {
    let (isGranted, id) = state.withLock { state in
      epoch.wrappingAdd(1, ordering: .relaxed)
      let id = state.table.nextID()
      return (request(&state.table, id), id)
    }
    if isGranted { return }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isGranted = state.withLock { state in
          if state.table.takeGrant(id) { return true }
          state.waiting[id] = continuation
          return false
        }
        if isGranted { continuation.resume() }
        // A cancellation that came before the continuation was noted found nobody to resume.
        if Task.isCancelled { leave(id) }
      }
    } onCancel: {
      leave(id)
    }
  }

  @inlinable
  func leave(_ id: UInt64) {
    let (cancelled, granted) = state.withLock { state in
      // Whoever is no longer waiting has been granted its turn, and takes it.
      guard let continuation = state.waiting.removeValue(forKey: id) else {
        return (CheckedContinuation<Void, any Error>?.none, [CheckedContinuation<Void, any Error>]())
      }
      return (continuation, state.grant(state.table.cancel(id)))
    }
    cancelled?.resume(throwing: CancellationError())
    for continuation in granted { continuation.resume() }
  }

  @inlinable
  func resume(_ finish: (inout WriteGateTable<Key>) -> [UInt64]) {
    let granted = state.withLock { state in state.grant(finish(&state.table)) }
    for continuation in granted { continuation.resume() }
  }
}

/// What a read that travels to the lower level has to know in the end.
@usableFromInline
struct ReadTicket: Sendable {
  /// The key's version when the read was noted.
  @usableFromInline var version: UInt64
  /// A write, of whatever key, began between the read's first step and its being noted.
  @usableFromInline var isLate: Bool

  @inlinable
  init(version: UInt64, isLate: Bool) {
    self.version = version
    self.isLate = isLate
  }
}
