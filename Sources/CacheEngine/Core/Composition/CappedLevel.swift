import Synchronization

/// A level that is read by a bounded number of callers at a time; the others queue.
///
/// Built by ``CacheLevel/capRequests(_:name:observer:clock:)``. Places are given in the order in which callers arrive. A
/// caller that is cancelled leaves the queue at once. A place is given back when the read of the level inside has ended, even if the
/// caller did not wait for that, because a time limit inside had passed (`source.timeout(after:).capRequests(4)`) or because
/// others wait for the load of a pool. A read through the cap from within such a read shares its place instead of
/// waiting for one, since it would wait for itself. Writes, removals, clears and warnings do not wait.
public final class CappedLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base

  let recorder: OperatorRecorder
  let limit: Int
  private let state: Mutex<CapState>

  init(base: Base, limit: Int, recorder: OperatorRecorder) {
    precondition(limit > 0, "a cap of \(limit) would let nobody through")
    self.base = base
    self.recorder = recorder
    self.limit = limit
    state = Mutex(CapState(line: WaitingLine(places: limit)))
  }

  /// Reads the level inside when there is a place.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: The error of the level inside; `CancellationError` if the caller was cancelled while it waited.
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    if let place = CapPlace.holdCurrent(of: self) {
      defer { place.release() }
      return try await ask()
    }
    try await enter(key)
    let place = CapPlace(of: self) { [self] in leave(key) }
    defer { place.release() }
    return try await place.occupied(by: ask)
  }

  /// Returns the value of the level inside, if that can answer at once; this takes no place.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }

  /// Returns the entry of the level inside, if that can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { base.peekEntry(key) }

  /// How many callers read, and how many wait for a place.
  public var load: (running: Int, waiting: Int) { state.withLock { ($0.line.running, $0.line.waiting) } }

  private func enter(_ key: Key) async throws {
    try Task.checkCancellation()
    let (id, isAdmitted) = state.withLock { $0.line.enter() }
    if isAdmitted { return record(OperatorEvent.admitted, key) }
    record(OperatorEvent.queued, key)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isAdmitted = state.withLock { state in
          if state.line.claim(id) { return true }
          state.waiting[id] = continuation
          return false
        }
        if isAdmitted { continuation.resume() }
        // A cancellation that came before the continuation was noted found nobody to resume.
        if Task.isCancelled { giveUp(id, key) }
      }
    } onCancel: {
      giveUp(id, key)
    }
    record(OperatorEvent.admitted, key)
  }

  private func leave(_ key: Key) {
    let next = state.withLock { state in state.line.leave().flatMap { state.admit($0) } }
    record(OperatorEvent.released, key)
    next?.resume()
  }

  private func giveUp(_ id: UInt64, _ key: Key) {
    let waiter = state.withLock { state in
      // Whoever waits no longer has been given its place, and takes it.
      guard let waiter = state.waiting.removeValue(forKey: id) else {
        return CheckedContinuation<Void, any Error>?.none
      }
      state.line.giveUp(id)
      return waiter
    }
    guard let waiter else { return }
    record(OperatorEvent.released, key)
    waiter.resume(throwing: CancellationError())
  }

  private func record(_ event: (_ running: Int, _ waiting: Int) -> OperatorEvent, _ key: Key) {
    guard !recorder.isSilent else { return }
    let load = load
    recorder.record(event(load.running, load.waiting), key: key)
  }
}

/// The line of a cap, with those who stand in it.
private struct CapState: Sendable {
  var line: WaitingLine
  var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]

  /// Gives a place to someone in line.
  mutating func admit(_ id: UInt64) -> CheckedContinuation<Void, any Error>? {
    if let continuation = waiting.removeValue(forKey: id) { return continuation }
    line.keep(id)
    return nil
  }
}

/// Who has a place and who waits for one, as a plain value.
struct WaitingLine: Sendable {
  private let places: Int
  private(set) var running = 0
  /// In the order in which they came; those who gave up are left in and passed over.
  private var line: [UInt64] = []
  private var head = 0
  private var inLine: Set<UInt64> = []
  /// Given a place before they had begun to wait.
  private var kept: Set<UInt64> = []
  private var lastID: UInt64 = 0

  init(places: Int) { self.places = places }

  var waiting: Int { inLine.count }
  /// Those who wait, and those who gave up and are not forgotten yet.
  var noted: Int { line.count }
  var isEmpty: Bool { running == 0 && inLine.isEmpty && kept.isEmpty }

  mutating func enter() -> (id: UInt64, isAdmitted: Bool) {
    lastID += 1
    guard running >= places else {
      running += 1
      return (lastID, true)
    }
    line.append(lastID)
    inLine.insert(lastID)
    return (lastID, false)
  }

  /// Someone gave back a place: who takes it over, if anybody waits.
  mutating func leave() -> UInt64? {
    while head < line.count {
      let next = line[head]
      head += 1
      if head > 64, head * 2 > line.count {
        line.removeFirst(head)
        head = 0
      }
      if inLine.remove(next) != nil { return next }
    }
    running -= 1
    return nil
  }

  mutating func giveUp(_ id: UInt64) {
    inLine.remove(id)
    // Where no place comes back, nobody passes over those who gave up.
    guard line.count - head > 2 * inLine.count + 64 else { return }
    line = line[head...].filter { inLine.contains($0) }
    head = 0
  }

  mutating func keep(_ id: UInt64) { kept.insert(id) }

  mutating func claim(_ id: UInt64) -> Bool { kept.remove(id) != nil }
}

extension CappedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension CappedLevel: TaggedLevel where Base: TaggedLevel {}
extension CappedLevel: ConditionalLevel where Base: ConditionalLevel {}
extension CappedLevel: InvalidatableLevel where Base: InvalidatableLevel {}

extension CacheLevel {
  /// Lets a bounded number of callers read this level at a time; the others queue.
  ///
  /// - Parameters:
  ///   - limit: How many callers may read at once. At least 1.
  ///   - name: The name of the cap in events.
  ///   - observer: Notified of who waits and who reads.
  ///   - clock: The clock by which events are timed.
  /// - Returns: The capped level.
  public func capRequests(
    _ limit: Int, name: String = "cap", observer: (any CacheObserver)? = nil, clock: any CacheClock = SystemClock()
  ) -> CappedLevel<Self> {
    CappedLevel(base: self, limit: limit, recorder: OperatorRecorder(name: name, observer: observer, clock: clock))
  }
}

extension CappedLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}

extension CappedLevel: ShapedLevel {
  package var shape: LevelShape {
    .around(.init("capped", name: recorder.name, setting: "\(limit)", limit: limit), base)
  }
}

extension CappedLevel: EndingLevel {}
