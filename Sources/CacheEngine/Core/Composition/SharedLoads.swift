public import Synchronization

/// Lets callers that ask for one key at a time share one load of it.
///
/// The decisions are ``InFlightTable``'s; this class holds the lock, runs the loads, and resumes those who wait.
@usableFromInline
final class SharedLoads<Key: Hashable & Sendable, Answer: Sendable>: Sendable {
  /// A caller who waits.
  ///
  /// The table hands each out once, to the end of its load or to its own departure, so that nothing else need count.
  @safe
  @usableFromInline
  struct Waiter: Sendable {
    /// `nil` for who leads a load and does not wait yet: it takes the answer where that is kept.
    @usableFromInline let continuation: UnsafeContinuation<Answer, any Error>?
    @usableFromInline let who: Waiting

    @inlinable
    init(_ continuation: UnsafeContinuation<Answer, any Error>?, _ who: Waiting) {
      unsafe self.continuation = continuation
      self.who = who
    }

    @inlinable var isWaiting: Bool { unsafe continuation != nil }

    @inlinable
    func resume(with answer: Result<Answer, any Error>) { unsafe continuation?.resume(with: answer) }
  }

  @usableFromInline let recorder: OperatorRecorder
  @usableFromInline let executor: (any TaskExecutor)?
  @usableFromInline let lastCaller = Atomic<UInt64>(0)
  @usableFromInline let table = BriefLock(InFlightTable<Key, Waiter>())

  /// The recorder is told who waits for which load.
  ///
  /// A load is nobody's child and inherits no executor; whoever wants one for it, as a test that decides the order of all
  /// steps does, says so.
  @usableFromInline
  init(recorder: OperatorRecorder, executor: (any TaskExecutor)? = nil) {
    self.recorder = recorder
    self.executor = executor
  }

  /// Nothing is under way.
  var isIdle: Bool { table.withLock { $0.isEmpty } }

  /// Returns what a load of the key gives: the one under way, or one that is begun now.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/circular`` if the load under way waits for the caller.
  @inlinable
  func answer(
    for key: Key, load: @escaping @Sendable () async throws -> Answer
  ) async throws -> Answer {
    try Task.checkCancellation()
    // A key that does not equal itself, with a NaN in it, say, is never found again: nobody can share its load.
    guard key == key else { return try await load() }
    let id = lastCaller.wrappingAdd(1, ordering: .relaxed).newValue
    let who = Waiting()
    let urgency = Task.currentPriority.rawValue
    let making = ValueInTheMaking(self, key)
    let led = table.withLock { $0.lead(key, id: id, waiter: unsafe Waiter(nil, who), urgency: urgency) { making } }
    guard let flight = led else { return try await join(key, id, who, urgency, making, load) }
    // A load that answers at once needs no waiter.
    let early = EarlyAnswer<Answer>()
    if let answer = begin(flight, key: key, urgency, making, load, early) {
      early.deallocate()
      return try answer.get()
    }
    return try await unsafe wait(id, key: key) { continuation in
      let waiter = unsafe Waiter(continuation, who)
      let answer: Result<Answer, any Error>? = table.withLock { table in
        if early.isThere { return early.take() }
        // It may have been cancelled before it waited.
        return table.beginToWait(waiter, for: flight, of: key) ? nil : .failure(CancellationError())
      }
      // Nobody leaves an answer any more for a task that waits or has left.
      early.deallocate()
      if let answer { waiter.resume(with: answer) }
    }
  }

  /// Waits for the load under way, or for one that is begun now if that has ended.
  @inlinable
  @inline(never)
  func join(
    _ key: Key, _ id: UInt64, _ who: Waiting, _ urgency: UInt8, _ making: ValueInTheMaking<Key, Answer>,
    _ load: @escaping @Sendable () async throws -> Answer
  ) async throws -> Answer {
    try await unsafe wait(id, key: key) { continuation in
      let waiter = unsafe Waiter(continuation, who)
      let (joined, slow) = table.withLock { table in
        (table.join(key, id: id, waiter: waiter, urgency: urgency) { making }, table.hasten(key, to: urgency))
      }
      switch joined {
      case .leads(let flight): _ = begin(flight, key: key, urgency, making, load, nil)
      case .follows(let flight, let callers):
        if let slow { hasten(slow, to: urgency) }
        recorder.record(.flightJoined(callers: callers), key: key)
        // A load can wait for its caller if the caller loads something itself, or has a turn that somebody who does wants.
        if who.work != nil || WaitingCircle.mayLeadOverGates { leaveCircle(id, who, flight, key: key) }
      }
    }
  }

  /// Waits until the continuation is resumed that is handed out, or the caller is cancelled.
  @inlinable
  func wait(
    _ id: UInt64, key: Key, _ begin: (UnsafeContinuation<Answer, any Error>) -> Void
  ) async throws -> Answer {
    try await withTaskCancellationHandler {
      try await unsafe withUnsafeThrowingContinuation { continuation in
        unsafe begin(continuation)
        // A cancellation that came before the caller waited found nobody to release.
        if Task.isCancelled { leave(id, key: key) }
      }
    } onCancel: {
      leave(id, key: key)
    }
  }

  /// Ends the wait of a caller for whom the load waits.
  @usableFromInline
  func leaveCircle(_ id: UInt64, _ who: Waiting, _ flight: UInt64, key: Key) {
    guard let making = table.withLock({ $0.making(of: flight, key: key) }),
      WaitingCircle.isClosed(by: who, { $0.work === making })
    else { return }
    leave(id, key: key) {
      CacheError(
        .circular,
        "the load of the key \(key) asks for the value that it loads, itself or through others; let it ask for other keys only",
        level: recorder.name)
    }
  }

  /// Those who wait for a load.
  func waiting(for making: any AwaitedWork, of key: Key, isEverybodyMeant: Bool) -> [Waiting] {
    table.withLock { $0.waiters(for: making, of: key) }.compactMap { id, waiter in
      guard var who = waiter?.who, isEverybodyMeant || who.work != nil else { return nil }
      who.id = id
      return who
    }
  }

  /// Lets later callers of a key begin a load of their own: what is under way may be out of date.
  @inlinable
  func detach(_ key: Key) { table.withLock { $0.detach(key) } }

  @inlinable
  func detachAll() { table.withLock { $0.detachAll() } }

  /// Begins a load, and returns its answer if it has ended by then and its first caller does not wait for it.
  @inlinable
  func begin(
    _ flight: UInt64, key: Key, _ urgency: UInt8, _ making: ValueInTheMaking<Key, Answer>,
    _ load: @escaping @Sendable () async throws -> Answer, _ early: EarlyAnswer<Answer>?
  ) -> Result<Answer, any Error>? {
    recorder.record(.flightBegan, key: key)
    let began = recorder.isSilent ? nil : recorder.clock.now
    let place = holdPlace()
    let work: @Sendable @isolated(any) () async -> Void = { [self] in
      await run(flight, key, making, load, early, began)
      releasePlace(place)
    }
    let task = if let executor { NestedStarts.start(on: executor, work) } else { NestedStarts.start(work) }
    let (isOver, needed) = table.withLock { table in
      if let early, early.isThere { return (true, UInt8?.none) }
      return (false, table.attach(task, to: flight, of: key))
    }
    if isOver { return early?.take() }
    if let needed {
      if needed > urgency { hasten(task, to: needed) }
    } else {
      // It has ended already, or has lost its last caller before its task was known.
      task.cancel()
    }
    return nil
  }

  @inlinable
  func run(
    _ flight: UInt64, _ key: Key, _ making: ValueInTheMaking<Key, Answer>,
    _ load: @Sendable () async throws -> Answer, _ early: EarlyAnswer<Answer>?, _ began: CacheInstant?
  ) async {
    let answer: Result<Answer, any Error>
    do {
      answer = .success(try await Waiting.innermost.withValue(making) { try await load() })
    } catch { answer = .failure(error) }
    let finished = table.withLock { table in
      let finished = table.finish(flight, of: key)
      if let early, let leader = finished?.leader, !leader.isWaiting { early.leave(answer) }
      return finished
    }
    guard let ended = finished else { return }
    if let began {
      recorder.record(.flightEnded(callers: ended.waiting, began.duration(to: recorder.clock.now)), key: key)
    }
    if ended.followers.isEmpty {
      ended.leader?.resume(with: answer)
    } else {
      for (_, waiter) in ended.waiters { waiter?.resume(with: answer) }
    }
  }

  // The load may outlive its first caller, and takes up that one's place in a cap until it ends.
  @usableFromInline
  func holdPlace() -> CapPlace? { CapPlace.holdCurrent() }

  @usableFromInline
  func releasePlace(_ place: CapPlace?) { place?.release() }

  /// A load takes the priority of the most urgent of those who wait for it.
  @usableFromInline
  func hasten(_ load: Task<Void, Never>, to urgency: UInt8) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    load.escalatePriority(to: TaskPriority(rawValue: urgency))
  }

  @inlinable
  func leave(_ id: UInt64, key: Key, telling error: () -> any Error = { CancellationError() }) {
    guard let departure = table.withLock({ $0.leave(id, key: key) }) else { return }
    departure.abandoned?.cancel()
    departure.waiter.resume(with: .failure(error()))
    recorder.record(.flightLeft(callers: departure.remaining), key: key)
    if departure.remaining == 0 { recorder.record(.flightEnded(callers: 0, .zero), key: key) }
  }
}

/// The answer of a load that ended before its first caller waited for it.
///
/// Guarded by the lock of the table.
///
/// In memory of its own, since releasing an object whose properties are generic looks up what they are.
@safe
@usableFromInline
struct EarlyAnswer<Answer: Sendable>: @unchecked Sendable {
  @usableFromInline let memory: UnsafeMutablePointer<Result<Answer, any Error>?>

  @inlinable
  init() {
    unsafe memory = .allocate(capacity: 1)
    unsafe memory.initialize(to: nil)
  }

  @inlinable var isThere: Bool { unsafe memory.pointee != nil }

  @inlinable
  func leave(_ answer: Result<Answer, any Error>) { unsafe memory.pointee = answer }

  @inlinable
  func take() -> Result<Answer, any Error>? {
    let answer = unsafe memory.move()
    unsafe memory.initialize(to: nil)
    return answer
  }

  @inlinable
  func deallocate() {
    unsafe memory.deinitialize(count: 1)
    unsafe memory.deallocate()
  }
}

/// The making of a value that others wait for: a load that is shared.
@usableFromInline
final class ValueInTheMaking<Key: Hashable & Sendable, Answer: Sendable>: AwaitedWork {
  private let loads: SharedLoads<Key, Answer>
  private let key: Key

  @usableFromInline
  init(_ loads: SharedLoads<Key, Answer>, _ key: Key) {
    self.loads = loads
    self.key = key
  }

  @usableFromInline
  func waiting(isEverybodyMeant: Bool) -> [Waiting] {
    loads.waiting(for: self, of: key, isEverybodyMeant: isEverybodyMeant)
  }
}
