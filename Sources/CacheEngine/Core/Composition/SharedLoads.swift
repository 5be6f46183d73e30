public import Synchronization

/// Lets callers that ask for one key at a time share one load of it.
///
/// The decisions are ``InFlightTable``'s; this class holds the lock, runs the loads, and resumes those who wait.
@usableFromInline
final class SharedLoads<Key: Hashable & Sendable, Answer: Sendable>: Sendable {
  @usableFromInline typealias Table = InFlightTable<Key, Waiter>

  /// A caller who waits, or is about to.
  ///
  /// The table hands each out once, to the end of its load or to its own departure, so that nothing else need count.
  @safe
  @usableFromInline
  struct Waiter: @unchecked Sendable {  // its memory is guarded as the table is
    /// Where it gets its answer.
    @safe
    @usableFromInline
    enum Place {
      /// Nowhere yet: it leads a load and does not wait.
      case nowhere
      /// So does this one, and takes the answer from here if it is there in time.
      case memory(UnsafeMutablePointer<Result<Answer, any Error>>)
      case continuation(UnsafeContinuation<Answer, any Error>)
    }

    @usableFromInline let place: Place
    @usableFromInline let who: Waiting

    @inlinable
    init(_ who: Waiting, _ place: Place) {
      self.place = place
      self.who = who
    }

    @inlinable var isWaiting: Bool {
      if case .continuation = place { return true }
      return false
    }

    @inlinable var memory: UnsafeMutablePointer<Result<Answer, any Error>>? {
      if case .memory(let memory) = place { return unsafe memory }
      return nil
    }

    @inlinable
    func resume(with answer: Result<Answer, any Error>) {
      if case .continuation(let continuation) = place { unsafe continuation.resume(with: answer) }
    }

    /// The same, which has its answer now, in memory of its own if it has not said where it takes it.
    @inlinable
    func given(_ answer: consuming Result<Answer, any Error>) -> Waiter {
      let memory = unsafe memory ?? .allocate(capacity: 1)
      unsafe memory.initialize(to: answer)
      return unsafe Waiter(Waiting(task: .none), .memory(memory))
    }
  }

  @usableFromInline let recorder: OperatorRecorder
  @usableFromInline let executor: (any TaskExecutor)?
  /// Known beside the executor, since to look whether that is there is to copy it.
  @usableFromInline let prefersExecutor: Bool
  @usableFromInline let lastCaller = Atomic<UInt64>(0)
  @usableFromInline let table = BriefLock(Table())

  /// The recorder is told who waits for which load.
  ///
  /// A load is nobody's child and inherits no executor; whoever wants one for it, as a test that decides the order of all
  /// steps does, says so.
  @usableFromInline
  init(recorder: OperatorRecorder, executor: (any TaskExecutor)? = nil) {
    self.recorder = recorder
    self.executor = executor
    prefersExecutor = executor != nil
  }

  /// Nothing is under way.
  var isIdle: Bool { table.withLock { $0.isEmpty } }

  /// Returns what a load of the key gives: the one under way, or one that is begun now.
  ///
  /// The load is made only where one is begun. `joining` is called before the load of another caller is joined.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/circular`` if the load under way waits for the caller.
  @inlinable
  func answer<Load: ShareableLoad>(
    for key: Key, _ load: @autoclosure () -> Load, joining: () -> Void = {}
  ) async throws -> Answer where Load.Answer == Answer {
    try TaskIdentity.checkCancellation()
    // A key that does not equal itself, with a NaN in it, say, is never found again: nobody can share its load.
    guard key == key else { return try await load()() }
    let caller = LoadCaller(lastCaller.wrappingAdd(1, ordering: .relaxed).newValue)
    var led: Table.Flight?
    // A load that answers at once needs no waiter.
    if let answer = lead(key, caller, load(), &led) { return try answer.get() }
    guard let led else {
      joining()
      return try await join(key, caller, load())
    }
    return try await waitForOwn(led, key, caller)
  }

  /// Begins a load, unless one is under way, and returns its answer if it has ended by then.
  // Not in the asynchronous function, whose memory is allocated whenever it is called.
  @inlinable
  @inline(never)
  func lead<Load: ShareableLoad>(
    _ key: Key, _ caller: LoadCaller, _ load: @autoclosure () -> Load, _ led: inout Table.Flight?
  ) -> Result<Answer, any Error>? where Load.Answer == Answer {
    let (id, who, urgency) = (caller.id, caller.who, caller.urgency)
    return unsafe withUnsafeTemporaryAllocation(of: Result<Answer, any Error>.self, capacity: 1) { memory in
      let waiter = unsafe Waiter(who, .memory(memory.baseAddress.unsafelyUnwrapped))
      led = table.withLock { $0.lead(key, id: id, waiter: waiter, urgency: urgency, keeper: self) }
      guard let led, begin(led, key, urgency, load(), isAnswerTaken: true) else { return nil }
      return unsafe memory.moveElement(from: 0)
    }
  }

  /// Waits for the load that the caller began.
  @inlinable
  @inline(never)
  func waitForOwn(_ flight: Table.Flight, _ key: Key, _ caller: LoadCaller) async throws -> Answer {
    try await unsafe wait(caller.id, key: key) { continuation in
      let waiter = unsafe Waiter(caller.who, .continuation(continuation))
      let answer: Result<Answer, any Error>? = table.withLock { table in
        if flight.isAnswered, let memory = unsafe flight.first.memory {
          defer { unsafe memory.deallocate() }
          return unsafe memory.move()
        }
        // It may have been cancelled before it waited.
        return table.beginToWait(waiter, for: flight) ? nil : .failure(CancellationError())
      }
      if let answer { waiter.resume(with: answer) }
    }
  }

  /// Waits for the load under way, or for one that is begun now if that has ended.
  @inlinable
  @inline(never)
  func join<Load: ShareableLoad>(
    _ key: Key, _ caller: LoadCaller, _ load: @autoclosure () -> Load
  ) async throws -> Answer where Load.Answer == Answer {
    try await unsafe wait(caller.id, key: key) { continuation in
      let waiter = unsafe Waiter(caller.who, .continuation(continuation))
      let (joined, slow) = table.withLock { table in
        (
          table.join(key, id: caller.id, waiter: waiter, urgency: caller.urgency, keeper: self),
          table.hasten(key, to: caller.urgency)
        )
      }
      switch joined {
      case .leads(let flight): _ = begin(flight, key, caller.urgency, load(), isAnswerTaken: false)
      case .follows(let flight, let callers):
        if let slow { hasten(slow, to: caller.urgency) }
        recorder.record(.flightJoined(callers: callers), key: key)
        // A load can wait for its caller if the caller loads something itself, or has a turn that somebody who does wants.
        if caller.who.work != nil || WaitingCircle.mayLeadOverGates { leaveCircle(caller, flight, key: key) }
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
  func leaveCircle(_ caller: LoadCaller, _ flight: Table.Flight, key: Key) {
    guard table.withLock({ _ in !flight.isOver }), WaitingCircle.isClosed(by: caller.who, { $0.work === flight }) else {
      return
    }
    leave(caller.id, key: key) {
      CacheError(
        .circular,
        "the load of the key \(CacheError.shown(key)) asks for the value that it loads, itself or through others; let it ask for other keys only",
        level: recorder.name)
    }
  }

  /// Lets later callers of a key begin a load of their own: what is under way may be out of date.
  @inlinable
  func detach(_ key: Key) { table.withLock { $0.detach(key) } }

  @inlinable
  func detachAll() { table.withLock { $0.detachAll() } }

  /// Begins a load; returns whether it has ended and left its answer where its first caller said, if that one looks there.
  @inlinable
  func begin<Load: ShareableLoad>(
    _ flight: Table.Flight, _ key: Key, _ urgency: UInt8, _ load: @autoclosure () -> Load, isAnswerTaken: Bool
  ) -> Bool where Load.Answer == Answer {
    recorder.record(.flightBegan, key: key)
    let began = recorder.isSilent ? nil : recorder.clock.now
    let place = holdPlace()
    var task: Task<Void, any Error>?
    if !prefersExecutor, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), NestedStarts.enter() {
      defer { NestedStarts.leave() }
      // As in NestedStarts, but handed to the task without a function in between, and made in the loop: else it would be copied.
      repeat {
        let load = load()
        task = Task.immediate { [self] in await run(flight, key, load, began, place) }
      } while task == nil
    } else {
      let load = load()
      task = NestedStarts.start(on: executor) { [self] in await run(flight, key, load, began, place) }
    }
    let (isAnswered, needed) = table.withLock { table in
      if isAnswerTaken, flight.isAnswered { return (true, UInt8?.none) }
      // It is waited for from now on.
      if isAnswerTaken { flight.first = Waiter(flight.first.who, .nowhere) }
      return (false, table.attach(task, to: flight))
    }
    if isAnswered { return true }
    if let needed {
      if needed > urgency, let task { hasten(task, to: needed) }
    } else {
      // It has ended already, or has lost its last caller before its task was known.
      task?.cancel()
    }
    return false
  }

  @inlinable
  func run<Load: ShareableLoad>(
    _ flight: Table.Flight, _ key: Key, _ load: Load, _ began: CacheInstant?, _ place: CapPlace?
  ) async where Load.Answer == Answer {
    let answer: Result<Answer, any Error>
    do {
      answer = .success(try await Waiting.load(load, for: flight))
    } catch { answer = .failure(error) }
    end(flight, key, consume answer, began)
    if let place { releasePlace(place) }
  }

  /// Gives those who wait their answer.
  @inlinable
  @inline(never)
  func end(
    _ flight: Table.Flight, _ key: Key, _ answer: consuming Result<Answer, any Error>, _ began: CacheInstant?
  ) {
    // Moved to a first caller who is the only one, since to copy it costs more than all the rest.
    var answer = Optional(answer)
    let isFinished = table.withLock { table in
      guard table.finish(flight) else { return false }
      if flight.isLed, !flight.first.isWaiting, let given = flight.followers.isEmpty ? answer.take() : answer {
        flight.first = flight.first.given(given)
        flight.isAnswered = true
      }
      return true
    }
    // What the load has begun and left behind remembers the flight, which is not to remember who asked for it.
    defer {
      if !flight.isAnswered { flight.first = Waiter(Waiting(task: .none), .nowhere) }
      if !flight.followers.isEmpty { flight.followers = [] }
    }
    guard isFinished else { return }
    if let began {
      recorder.record(.flightEnded(callers: flight.waiting, began.duration(to: recorder.clock.now)), key: key)
    }
    guard let answer else { return }
    if flight.followers.isEmpty {
      flight.leader?.resume(with: answer)
    } else {
      for (_, waiter) in flight.waiters { waiter?.resume(with: answer) }
    }
  }

  // The load may outlive its first caller, and takes up that one's place in a cap until it ends.
  @usableFromInline
  func holdPlace() -> CapPlace? { CapPlace.holdCurrent() }

  @usableFromInline
  func releasePlace(_ place: CapPlace) { place.release() }

  /// A load takes the priority of the most urgent of those who wait for it.
  @usableFromInline
  func hasten(_ load: Task<Void, any Error>, to urgency: UInt8) {
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

/// Who asks for a value, by a number of its own.
@usableFromInline
struct LoadCaller: Sendable {
  @usableFromInline let id: UInt64
  @usableFromInline let who: Waiting
  @usableFromInline let urgency: UInt8

  @inlinable
  init(_ id: UInt64) {
    self.id = id
    who = Waiting()
    urgency = TaskIdentity.currentPriority
  }
}

extension SharedLoads: FlightKeeper {
  @usableFromInline
  func waiting(for flight: AwaitedWork, isEverybodyMeant: Bool) -> [NumberedWaiting] {
    guard let flight = flight as? Table.Flight else { return [] }
    return table.withLock { _ in flight.isOver ? [] : flight.waiters }.compactMap { id, waiter in
      guard let who = waiter?.who, isEverybodyMeant || who.work != nil else { return nil }
      return NumberedWaiting(who: who, id: id)
    }
  }
}

extension Waiting {
  /// Loads in this task what others wait for.
  // As TaskLocal does it, in a function that makes nothing of its own meanwhile: memory of a task is given back in turn.
  @inlinable
  @inline(never)
  static func load<Load: ShareableLoad>(_ load: Load, for work: AwaitedWork) async throws -> Load.Answer {
    bind(work)
    defer { unbind() }
    return try await load()
  }
}

/// What gives the answer that others share.
///
/// A type for each kind of load, so that none is a closure, which is allocated and has a function of its own that waits.
@usableFromInline
protocol ShareableLoad<Answer>: Sendable {
  associatedtype Answer: Sendable

  func callAsFunction() async throws -> Answer
}

/// A load by a closure.
@usableFromInline
struct ClosureLoad<Answer: Sendable>: ShareableLoad {
  @usableFromInline let body: @Sendable () async throws -> Answer

  @inlinable
  init(_ body: @escaping @Sendable () async throws -> Answer) { self.body = body }

  @inlinable
  func callAsFunction() async throws -> Answer { try await body() }
}
