import CacheEngine
import Synchronization
@testable import CacheCore

/// A pool with a bug planted in it, to see whether the tests find it.
///
/// Without a flaw it does what `PooledLevel` does, in fewer words.
final class FaultyPool<Base: CacheLevel>: CacheLevel {
  enum Flaw: CaseIterable, Sendable {
    /// When the first caller leaves, the load is cancelled and the others get its `CancellationError`.
    case leaderKillsFollowers
    /// Those who come after a failure are given it again.
    case keepsFailures
    /// Callers join loads that began before a write which has ended.
    case joinsOldLoads
    /// One who comes second is forgotten.
    case forgetsFollowers
    /// Everyone has a load of their own.
    case sharesNothing
    /// A load that nobody waits for goes on.
    case keepsAbandonedLoads
    /// One key's callers get the answer to another one.
    case mixesKeys
    /// A flight stays in the table when it has ended.
    case leavesFlights
  }

  private typealias Waiter = CheckedContinuation<Lookup<Base.Value>, any Error>
  private typealias Flight = InFlightTable<Base.Key, Waiter>.Flight

  private struct State: Sendable {
    var table = InFlightTable<Base.Key, Waiter>()
    var lastCaller: UInt64 = 0
    /// The loads that callers began.
    var led: [UInt64: Task<Void, any Error>] = [:]
    var failures: [Base.Key: any Error] = [:]
    var forgotten: [Waiter] = []
    var lastKey: Base.Key?
  }

  let base: Base
  let flaw: Flaw?
  private let executor: (any TaskExecutor)?
  private let state = Mutex(State())

  init(_ base: Base, flaw: Flaw?, by pace: Pace) {
    self.base = base
    self.flaw = flaw
    executor = pace.executor
  }

  var isIdle: Bool { state.withLock { $0.table.isEmpty } }

  func get(_ key: Base.Key) async throws -> Base.Value? { try await lookup(key).entry?.value }

  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try Task.checkCancellation()
    if flaw == .keepsFailures, let error = state.withLock({ $0.failures[key] }) { throw error }
    let id = state.withLock { state in
      state.lastCaller += 1
      return state.lastCaller
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        join(key, id, waiter)
        if Task.isCancelled { leave(id, key) }
      }
    } onCancel: {
      leave(id, key)
    }
  }

  func set(_ value: Base.Value, forKey key: Base.Key) async throws {
    defer { if flaw != .joinsOldLoads { state.withLock { $0.table.detach(key) } } }
    try await base.set(value, forKey: key)
  }

  func remove(_ key: Base.Key) async throws {
    defer { if flaw != .joinsOldLoads { state.withLock { $0.table.detach(key) } } }
    try await base.remove(key)
  }

  func clear() async throws {
    defer { if flaw != .joinsOldLoads { state.withLock { $0.table.detachAll() } } }
    try await base.clear()
  }

  private func join(_ key: Base.Key, _ id: UInt64, _ waiter: Waiter) {
    let flight = state.withLock { state -> Flight? in
      if flaw == .sharesNothing { state.table.detach(key) }
      switch state.table.join(key, id: id, waiter: waiter) {
      case .leads(let flight): return flight
      case .follows:
        if flaw == .forgetsFollowers, let departure = state.table.leave(id, key: key) {
          state.forgotten.append(departure.waiter)
        }
        return nil
      }
    }
    if let flight { begin(flight, key, leader: id) }
  }

  private func begin(_ flight: Flight, _ key: Base.Key, leader: UInt64) {
    let asked = state.withLock { state in
      defer { state.lastKey = key }
      return flaw == .mixesKeys ? state.lastKey ?? key : key
    }
    let load = start { [self] in
      let answer: Result<Lookup<Base.Value>, any Error>
      do { answer = .success(try await base.lookup(asked)) } catch { answer = .failure(error) }
      for waiter in finish(flight, key, answer) { waiter.resume(with: answer) }
    }
    let isAwaited = state.withLock { state in
      if flaw == .leaderKillsFollowers { state.led[leader] = load }
      return state.table.attach(load, to: flight) != nil
    }
    if !isAwaited { load.cancel() }
  }

  private func start(
    _ work: @escaping @Sendable @isolated(any) () async throws -> Void
  ) -> Task<Void, any Error> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(executorPreference: executor, operation: work)
    } else {
      Task(executorPreference: executor, operation: work)
    }
  }

  private func finish(_ flight: Flight, _ key: Base.Key, _ answer: Result<Lookup<Base.Value>, any Error>) -> [Waiter] {
    state.withLock { state in
      if case .failure(let error) = answer { state.failures[key] = error }
      let waiters = state.table.finish(flight) ? flight.waiters.compactMap(\.waiter) : []
      if flaw == .leavesFlights, let last = waiters.last {
        state.table.detach(key)
        _ = state.table.join(key, id: 0, waiter: last)
        state.table.detach(key)
      }
      return waiters
    }
  }

  private func leave(_ id: UInt64, _ key: Base.Key) {
    if let load = state.withLock({ $0.led[id] }) { return load.cancel() }
    guard let departure = state.withLock({ $0.table.leave(id, key: key) }) else { return }
    if flaw != .keepsAbandonedLoads { departure.abandoned?.cancel() }
    departure.waiter.resume(throwing: CancellationError())
  }
}
