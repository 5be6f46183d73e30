public import Synchronization

/// Lets one write at a time through for each key, and back-fills only while nothing came between.
///
/// A composition writes several levels one after the other. Without the gate two writes of a key could end in
/// different orders in different levels, and a slow read could put an old value over a newer one.
///
/// A removal of many keys, a *sweep*, waits for no turn and holds none back. It is done with the lower level first. Whatever
/// was under way below meanwhile does not reach the upper level, or is forgotten there when it ends: so what the lower level
/// holds decides. What had got as far as the upper level before the sweep began is let finish there first, if the upper level
/// stores at once.
///
/// ```swift
/// try await gate.write(key) { began in
///   try await first.set(value, forKey: key)
///   try await second.set(value, forKey: key)
///   if gate.isSwept(key, since: began) { try await removeFromBoth(key) }
/// }
/// ```
public final class WriteGate<Key: Hashable & Sendable>: Sendable {
  @usableFromInline package typealias Concern = SweepConcern<Key>

  // The decisions are WriteGateTable's; this class holds the lock, and those who wait.

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var table = WriteGateTable<Key>()
    var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    /// Those whose turn has come, and who are about to be resumed.
    var granted: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    var lastID: UInt64 = 0
    /// How many were in the upper level at the end of a phase, and still are.
    var above: [UInt64: UInt64] = [:]
    /// Sweeps that wait for those of phases before their own.
    var draining: [UInt64: (before: UInt64, continuation: CheckedContinuation<Void, any Error>)] = [:]

    @usableFromInline
    init() {}

    /// A turn is over: who waited for it and has it now.
    @inlinable
    mutating func finish(_ key: Key, at place: WriteGateTable<Key>.Place?, isBackFill: Bool) -> UInt64? {
      guard let next = table.finishWrite(key, at: place, isBackFill: isBackFill) else { return nil }
      grant(next)
      return next
    }

    @usableFromInline
    mutating func grant(_ id: UInt64) { granted[id] = stopWaiting(id) }

    mutating func stopWaiting(_ id: UInt64) -> CheckedContinuation<Void, any Error>? { waiting.removeValue(forKey: id) }
  }

  @usableFromInline let state = BriefLock(State())
  /// Counts the writes that began, so that a read that finds its value above need not be noted.
  @usableFromInline let writes = Atomic<UInt64>(0)
  /// Counts the back-fills that ended.
  @usableFromInline let copies = Atomic<UInt64>(0)
  /// The phase, and in the lowest bits how many went to the upper level in it and are there still.
  ///
  /// A phase ends when a sweep begins or gets on. Its lowest bit says whether one is at work below.
  @usableFromInline let phase = Atomic<UInt64>(0)

  /// Creates a gate through which nothing goes yet.
  public init() {}

  @inlinable var currentEpoch: GateTime {
    GateTime(writes: writes.load(ordering: .relaxed), copies: copies.load(ordering: .relaxed))
  }

  @inlinable var currentPhase: GatePhase { GatePhase(phase.load(ordering: .acquiring)) }

  // MARK: Writes

  /// Runs a write of one key when it is its turn: first come, first served.
  ///
  /// - Parameters:
  ///   - key: The key that is written.
  ///   - body: Writes it.
  /// - Returns: What `body` returns.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/circular`` if the turn belongs to a write that waits for this
  ///   one, directly or over others; `CancellationError` if the task is cancelled before its turn has come; what `body` throws.
  @inlinable
  @inline(__always)
  public func write<Result>(_ key: Key, _ body: () async throws -> Result) async throws -> Result {
    try await write(key) { _ in try await body() }
  }

  /// Runs a write of one key when it is its turn, and tells it the phase in which it began.
  ///
  /// - Parameters:
  ///   - key: The key that is written.
  ///   - body: Writes it. At its end it asks ``isSwept(_:_:since:)`` and, if so, takes back what it wrote.
  /// - Returns: What `body` returns.
  /// - Throws: As the write that is told nothing.
  @inlinable
  @inline(__always)
  public func write<Result>(_ key: Key, _ body: (GatePhase) async throws -> Result) async throws -> Result {
    let turn = beginWrite(key)
    if !turn.isGranted { try await wait(key) }
    defer { endWrite(key, turn) }
    return try await body(currentPhase)
  }

  /// The turn of a write.
  @usableFromInline
  struct Turn {
    /// It need not be waited for.
    @usableFromInline let isGranted: Bool
    @usableFromInline let place: WriteGateTable<Key>.Place?

    @inlinable
    init(isGranted: Bool, place: WriteGateTable<Key>.Place?) {
      self.isGranted = isGranted
      // Until a write waits, the line may go and another one may come.
      self.place = isGranted ? place : nil
    }
  }

  // For writes that are not passed in as a closure, which would be one more function that waits.

  @inlinable
  func beginWrite(_ key: Key) -> Turn {
    let task = TaskIdentity.current
    return state.withLock { state in
      writes.wrappingAdd(1, ordering: .relaxed)
      let (isGranted, place) = state.table.beginWrite(key, by: task)
      return Turn(isGranted: isGranted, place: place)
    }
  }

  @inlinable
  func endWrite(_ key: Key, _ turn: Turn) { finish(key, at: turn.place, isBackFill: false) }

  @usableFromInline
  func wait(_ key: Key) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let who = Waiting()
    WaitingCircle.enter(self, who)
    defer { WaitingCircle.leave(self, who) }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let begins = state.withLock { state in
          let begins = state.table.requestWrite(key, id: id, by: who)
          if !begins { state.waiting[id] = continuation }
          return begins
        }
        if begins { return continuation.resume() }
        // A cancellation that came before the continuation was noted found nobody to resume.
        if Task.isCancelled { leave(id) }
        leaveCircle(id, who, key)
      }
    } onCancel: {
      leave(id)
    }
  }

  /// Ends the wait of a write that waits for itself.
  private func leaveCircle(_ id: UInt64, _ who: Waiting, _ key: Key) {
    guard let owner = state.withLock({ $0.table.owner(awaitedBy: id) }), owner != .none,
      WaitingCircle.isClosed(by: who, { $0.task == owner })
    else { return }
    leave(id, ifTurnOf: owner) {
      CacheError(
        .circular,
        "the key \(CacheError.shown(key)) was written by what its own write waits for; write it afterwards, or elsewhere"
      )
    }
  }

  private func leave(
    _ id: UInt64, ifTurnOf owner: TaskIdentity? = nil, telling error: () -> any Error = { CancellationError() }
  ) {
    let waiting = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      // Whoever is no longer waiting has been granted its turn, and takes it.
      guard owner == nil || owner == state.table.owner(awaitedBy: id), let continuation = state.stopWaiting(id) else {
        return nil
      }
      _ = state.table.cancel(id)
      return continuation
    }
    waiting?.resume(throwing: error())
  }

  @inlinable
  func finish(_ key: Key, at place: WriteGateTable<Key>.Place?, isBackFill: Bool) {
    // A number: whether there is no continuation would be asked of the library's type at run time.
    if let next = state.withLock({ $0.finish(key, at: place, isBackFill: isBackFill) }) { resume(next) }
  }

  @usableFromInline
  func resume(_ id: UInt64) { state.withLock { $0.granted.removeValue(forKey: id) }?.resume() }

  // MARK: Reads

  /// Notes that a read travels to the lower level, having asked the upper one since a time.
  @inlinable
  func beginRead(_ key: Key, since time: GateTime) -> ReadTicket {
    state.withLock { state in
      ReadTicket(
        state.table.beginRead(key), phase: currentPhase, isLate: writes.load(ordering: .relaxed) != time.writes)
    }
  }

  @inlinable
  package func beginRead(_ key: Key) -> ReadTicket {
    state.withLock { ReadTicket($0.table.beginRead(key), phase: currentPhase, isLate: false) }
  }

  @inlinable
  package func endRead(_ key: Key, _ ticket: ReadTicket) {
    state.withLock { $0.table.endRead(key, at: ticket.place(in: self)) }
  }

  /// Notes that a key is read again, and numbers the reloads that are under way.
  @usableFromInline
  package func beginReload(_ key: Key) -> (ticket: ReadTicket, number: UInt64) {
    state.withLock { state in
      let (read, number) = state.table.beginReload(key)
      return (ReadTicket(read, phase: currentPhase, isLate: false), number)
    }
  }

  /// Lets all other reads of a key be late that are under way, since what a reload found goes first, but not reloads that were
  /// asked for after that one.
  ///
  /// - Returns: The ticket of that one from now on, as it was if a write or a later reload went before it; and whether what one of
  ///   the others found is being copied upwards, so that nothing else can be before that has ended.
  @usableFromInline
  package func overtakeReads(
    _ key: Key, by reload: (ticket: ReadTicket, number: UInt64)
  ) -> (ticket: ReadTicket, meetsCopy: Bool) {
    var ticket = reload.ticket
    let place = ticket.place(in: self)
    guard let overtaken = state.withLock({ $0.table.overtakeReads(key, at: place, byReload: reload.number) }) else {
      return (ticket, false)
    }
    ticket.version = overtaken.version
    return (ticket, overtaken.meetsCopy)
  }

  /// Begins a back-fill, unless a write of this key is under way or came since the read began, or a sweep that concerns the
  /// entry.
  ///
  /// It never waits. A back-fill that begins is to be ended with ``endBackFill(_:_:isNew:)``. The task is that which
  /// carries it out, so that a write of the key from there is told; what stores at once writes nothing.
  @inlinable
  func beginBackFill(_ key: Key, _ ticket: ReadTicket, tags: Set<String>?, by task: TaskIdentity) -> Bool {
    let place = ticket.place(in: self)
    let isGranted = state.withLock {
      $0.table.beginBackFill(key, at: place, readVersion: ticket.version, by: task)
    }
    guard isGranted else { return false }
    guard isSwept(key, tags, since: ticket.phase) else { return true }
    finish(key, at: place, isBackFill: true)
    return false
  }

  /// Says that the task that runs has the turn, if a back-fill was begun for it by another.
  func adopt(_ key: Key) { state.withLock { $0.table.adopt(key, by: .current) } }

  /// Ends a back-fill; what was stored for the first time is newer than what reads have found that are under way.
  @inlinable
  func endBackFill(_ key: Key, _ ticket: ReadTicket, isNew: Bool = false) {
    copies.wrappingAdd(1, ordering: .relaxed)
    finish(key, at: ticket.place(in: self), isBackFill: !isNew)
  }

  /// Ends a back-fill and the read that it was made for, which nothing can have overtaken until now.
  @inlinable
  func endBackFillAndRead(_ key: Key, _ ticket: ReadTicket) {
    copies.wrappingAdd(1, ordering: .relaxed)
    let place = ticket.place(in: self)
    let next = state.withLock { state in
      let next = state.finish(key, at: place, isBackFill: true)
      state.table.endRead(key, at: place)
      return next
    }
    if let next { resume(next) }
  }

  /// Runs a back-fill of a level, unless something came between, and takes it back if a sweep comes while it runs.
  @inlinable
  package func backFill<Upper: CacheLevel>(
    _ key: Key, in upper: Upper, _ ticket: ReadTicket, tags: Set<String>? = nil, _ store: () async throws -> Void
  ) async throws where Upper.Key == Key {
    guard beginBackFill(key, ticket, tags: tags, by: .current) else { return }
    defer { endBackFill(key, ticket) }
    try await above(key, in: upper, tags: tags, since: ticket.phase, store: store)
  }

  /// Whether a write of this key is under way or came since the read began, or a sweep, so that the answers of two levels
  /// may not fit together.
  @inlinable
  func isOvertaken(_ key: Key, _ ticket: ReadTicket) -> Bool {
    ticket.isLate
      || state.withLock {
        $0.table.isOvertaken(
          key, at: ticket.place(in: self), readVersion: ticket.version, since: ticket.phase.moment)
      }
  }

  /// Ends a read, and says whether it was overtaken until then, as ``isOvertaken(_:_:)`` does.
  @inlinable
  func endReadOvertaken(_ key: Key, _ ticket: ReadTicket) -> Bool {
    let place = ticket.place(in: self)
    let isOvertaken = state.withLock { state in
      let isOvertaken = state.table.isOvertaken(
        key, at: place, readVersion: ticket.version, since: ticket.phase.moment)
      state.table.endRead(key, at: place)
      return isOvertaken
    }
    return ticket.isLate || isOvertaken
  }

  /// Whether nobody should join the read any more: a write of the key has begun or ended since, or a sweep has ended that
  /// may concern its entry.
  ///
  /// The read may have ended.
  func isLate(_ key: Key, _ ticket: ReadTicket) -> Bool {
    let (isWritten, concerns) = state.withLock { state in
      (
        state.table.isWritten(key, readVersion: ticket.version),
        state.table.sweeps.ended(since: ticket.phase.moment)
      )
    }
    return isWritten || concerns.contains { $0.meets(key, tags: nil) }
  }

  // MARK: For tests

  /// How many writes wait for their turn.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// How many of them were looked at, ever.
  var steps: Int { state.withLock { $0.table.steps } }

  /// Nobody reads, writes, waits, or is in a level.
  var isIdle: Bool {
    state.withLock { state in
      state.table.isEmpty && state.waiting.isEmpty && state.granted.isEmpty && state.above.isEmpty
        && state.draining.isEmpty
    }
      && GatePhase.count(phase.load(ordering: .acquiring)) == 0
  }
}

extension WriteGate: TurnKeeper {
  func waiting(forTurnsOf task: TaskIdentity) -> [NumberedWaiting] {
    state.withLock { $0.table.waiting(forTurnsOf: task) }
  }
}
