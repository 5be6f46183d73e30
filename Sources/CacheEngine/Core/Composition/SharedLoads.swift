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
    @usableFromInline let continuation: UnsafeContinuation<Answer, any Error>
    @usableFromInline let who: Waiting

    @inlinable
    init(_ continuation: UnsafeContinuation<Answer, any Error>, _ who: Waiting) {
      unsafe self.continuation = continuation
      self.who = who
    }

    @inlinable
    func resume(with answer: Result<Answer, any Error>) { unsafe continuation.resume(with: answer) }
  }

  @usableFromInline let recorder: OperatorRecorder
  @usableFromInline let executor: (any TaskExecutor)?
  @usableFromInline let lastCaller = Atomic<UInt64>(0)
  @usableFromInline let table = BriefLock(InFlightTable<Key, Waiter>())

  /// The recorder is told who waits for which load.
  ///
  /// A load is nobody's child and inherits no executor; whoever wants one for it, as a test that decides the order of all
  /// steps does, says so.
  init(recorder: OperatorRecorder, executor: (any TaskExecutor)? = nil) {
    self.recorder = recorder
    self.executor = executor
  }

  /// Nothing is under way.
  var isIdle: Bool { table.withLock { $0.isEmpty } }

  /// Returns what a load of the key gives: the one under way, or one that is begun now.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/circular`` if the load under way waits for who asks.
  @inlinable
  func answer(
    for key: Key, load: @escaping @Sendable () async throws -> Answer
  ) async throws -> Answer {
    try Task.checkCancellation()
    // A key that does not equal itself, with a NaN in it, say, is never found again: nobody can share its load.
    guard key == key else { return try await load() }
    let id = lastCaller.wrappingAdd(1, ordering: .relaxed).newValue
    let who = Waiting()
    return try await withTaskCancellationHandler {
      try await unsafe withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Answer, any Error>) in
        let urgency = Task.currentPriority
        let waiter = unsafe Waiter(continuation, who)
        var making: ValueInTheMaking<Key, Answer>?
        let (joined, slow) = table.withLock { table in
          let joined = table.join(key, id: id, waiter: waiter, urgency: urgency) {
            making = ValueInTheMaking(self, key)
            return making
          }
          return (joined, making == nil ? table.hasten(key, to: urgency) : nil)
        }
        switch joined {
        case .leads(let flight):
          if let making { begin(flight, key: key, urgency, making, load) }
        case .follows(let flight, let callers):
          if let slow { hasten(slow, to: urgency) }
          recorder.record(.flightJoined(callers: callers), key: key)
          // A load waits for who asks if that one loads something itself, or has a turn that somebody wants who does.
          if who.work != nil || WaitingCircle.mayLeadOverGates { leaveCircle(id, who, flight, key: key) }
        }
        // A cancellation that came before the caller was noted found nobody to release.
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
        .circular, "the value for the key \(key) was asked for by what makes it; let that ask for others only",
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

  @inlinable
  func begin(
    _ flight: UInt64, key: Key, _ urgency: TaskPriority, _ making: ValueInTheMaking<Key, Answer>,
    _ load: @escaping @Sendable () async throws -> Answer
  ) {
    recorder.record(.flightBegan, key: key)
    let began = recorder.isSilent ? nil : recorder.clock.now
    let place = holdPlace()
    let task = start { [self] in
      defer { releasePlace(place) }
      let answer: Result<Answer, any Error>
      do {
        answer = .success(try await Waiting.work(on: making, load))
      } catch { answer = .failure(error) }
      guard let ended = table.withLock({ $0.finish(flight, of: key) }) else { return }
      if let began {
        recorder.record(.flightEnded(callers: ended.waiting, began.duration(to: recorder.clock.now)), key: key)
      }
      for (_, waiter) in ended.waiters { waiter?.resume(with: answer) }
    }
    // The load may have ended already, or have lost its last caller before its task was known.
    guard let needed = table.withLock({ $0.attach(task, to: flight, of: key) }) else { return task.cancel() }
    if needed > urgency { hasten(task, to: needed) }
  }

  // The load may outlive its first caller, and takes up that one's place in a cap until it ends.
  @usableFromInline
  func holdPlace() -> CapPlace? { CapPlace.holdCurrent() }

  @usableFromInline
  func releasePlace(_ place: CapPlace?) { place?.release() }

  /// A load takes the priority of the most urgent of those who wait for it.
  @usableFromInline
  func hasten(_ load: Task<Void, Never>, to urgency: TaskPriority) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { load.escalatePriority(to: urgency) }
  }

  @inlinable
  func leave(_ id: UInt64, key: Key, telling error: () -> any Error = { CancellationError() }) {
    guard let departure = table.withLock({ $0.leave(id, key: key) }) else { return }
    departure.abandoned?.cancel()
    departure.waiter.resume(with: .failure(error()))
    recorder.record(.flightLeft(callers: departure.remaining), key: key)
    if departure.remaining == 0 { recorder.record(.flightEnded(callers: 0, .zero), key: key) }
  }

  // A task that starts at once, on the caller's thread, costs a third of one that is enqueued first.
  @inlinable
  func start(_ work: @escaping @Sendable @isolated(any) () async -> Void) -> Task<Void, Never> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), NestedStarts.enter() {
      defer { NestedStarts.leave() }
      return Task.immediate(executorPreference: executor, operation: work)
    }
    return Task(executorPreference: executor, operation: work)
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
