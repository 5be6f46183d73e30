#if HTTP
import Synchronization

/// Turns to change what is stored for a URI, and what became of it since a request for it left.
///
/// Variants of one URI are one value, so that each change reads and writes: changes of one URI follow upon each other. What was
/// invalidated after a request left must not be stored from its answer.
final class VariantTurns: Sendable {
  private struct State {
    var tickets = 0
    var invalidations = 0
    var isTaken = false
    var change: Task<Void, any Error>?
    var line: [CheckedContinuation<Void, Never>] = []

    var isIdle: Bool { tickets == 0 && !isTaken && line.isEmpty }
  }

  /// What was known of a URI when a request for it left.
  struct Ticket: Sendable {
    fileprivate let invalidations: Int

    /// The same for one who has invalidated the URI so often since.
    func afterOwn(_ count: Int) -> Ticket { Ticket(invalidations: invalidations + count) }
  }

  private let states = Mutex<[String: State]>([:])
  private let areBrokenOff = Atomic(false)
  private let sweeps = Atomic(0)

  /// Notes that a request leaves, until ``giveBack(_:)``.
  func ticket(for key: String) -> Ticket {
    states.withLock { states in
      states[key, default: State()].tickets += 1
      return Ticket(invalidations: states[key, default: State()].invalidations)
    }
  }

  /// Ends what ``ticket(for:)`` began.
  func giveBack(_ key: String) {
    states.withLock { states in
      states[key]?.tickets -= 1
      if states[key]?.isIdle == true { states[key] = nil }
    }
  }

  /// Whether nothing was invalidated since.
  func isValid(_ ticket: Ticket, for key: String) -> Bool {
    states.withLock { ($0[key]?.invalidations ?? 0) == ticket.invalidations }
  }

  /// Makes every ticket of a URI invalid.
  func invalidate(_ key: String) {
    states.withLock { $0[key]?.invalidations += 1 }
  }

  /// Makes every ticket invalid: everything is about to be removed, until ``endSweep()``.
  ///
  /// - Returns: The URIs of which something is just being changed.
  func beginSweep() -> [String] {
    sweeps.wrappingAdd(1, ordering: .relaxed)
    return states.withLock { states in
      for key in states.keys { states[key]?.invalidations += 1 }
      return states.keys.filter { states[$0]?.isTaken == true }
    }
  }

  func endSweep() { sweeps.wrappingSubtract(1, ordering: .relaxed) }

  /// Whether everything is being removed: a change that begins must not bring back what is still there.
  var isSweeping: Bool { sweeps.load(ordering: .relaxed) > 0 }

  /// Runs a change alone.
  ///
  /// It is carried out whether or not the task that asks for it is cancelled: a client that leaves must not keep for others what the
  /// origin has just said is gone. Only ``breakOff()`` ends it before its time.
  func take(_ key: String, _ change: @escaping @Sendable () async throws -> Void) async throws {
    await withCheckedContinuation { continuation in
      let isFree = states.withLock { states in
        if states[key]?.isTaken != true {
          states[key, default: State()].isTaken = true
          return true
        }
        states[key]?.line.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    defer { pass(key) }
    let task = Task { try await change() }
    states.withLock { $0[key]?.change = task }
    if areBrokenOff.load(ordering: .relaxed) { task.cancel() }
    try await task.value
  }

  /// Cancels the changes under way, and all that are asked for from now on.
  func breakOff() {
    areBrokenOff.store(true, ordering: .relaxed)
    for task in states.withLock({ $0.values.compactMap(\.change) }) { task.cancel() }
  }

  private func pass(_ key: String) {
    let next = states.withLock { states -> CheckedContinuation<Void, Never>? in
      guard var state = states[key] else { return nil }
      let next = state.line.isEmpty ? nil : state.line.removeFirst()
      state.isTaken = next != nil
      state.change = nil
      states[key] = state.isIdle ? nil : state
      return next
    }
    next?.resume()
  }

  /// Nothing is noted.
  var isIdle: Bool { states.withLock { $0.isEmpty } }
}
#endif
