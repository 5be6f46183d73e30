import CacheCore
import Synchronization

/// Lets changes of one key be carried out one after the other.
///
/// A change has its turn until its answer is on its way. So a process that lost the owner without an answer knows that nobody has
/// changed the key since, and may try again.
final class KeyTurns: Sendable {
  enum Scope: Sendable {
    case key(StoreKey)
    case everything
  }

  private struct State {
    var held: Set<StoreKey> = []
    var isAllHeld = false
    var waiting: [(scope: Scope, turn: CheckedContinuation<Void, Never>)] = []

    mutating func take(_ scope: Scope, behind: inout Set<StoreKey>, _ isAllAhead: inout Bool) -> Bool {
      if case .key(let key) = scope, !isAllAhead, !isAllHeld, !behind.contains(key), !held.contains(key) {
        held.insert(key)
        return true
      }
      if case .everything = scope, !isAllAhead, !isAllHeld, behind.isEmpty, held.isEmpty {
        isAllHeld = true
        return true
      }
      switch scope {
      case .key(let key): behind.insert(key)
      case .everything: isAllAhead = true
      }
      return false
    }

    /// Whether somebody who waits is in the way.
    func isAwaited(_ scope: Scope) -> Bool {
      waiting.contains { one in
        switch (one.scope, scope) {
        case (.key(let first), .key(let second)): first == second
        default: true
        }
      }
    }
  }

  private let state = Mutex(State())

  func enter(_ scope: Scope) async {
    if state.withLock({ Self.takeNow(scope, &$0) }) { return }
    await withCheckedContinuation { turn in
      let isMine = state.withLock { state in
        if Self.takeNow(scope, &state) { return true }
        state.waiting.append((scope, turn))
        return false
      }
      if isMine { turn.resume() }
    }
  }

  private static func takeNow(_ scope: Scope, _ state: inout State) -> Bool {
    // Those who wait already come first.
    guard state.waiting.isEmpty || !state.isAwaited(scope) else { return false }
    var (behind, isAllAhead): (Set<StoreKey>, Bool) = ([], false)
    return state.take(scope, behind: &behind, &isAllAhead)
  }

  func leave(_ scope: Scope) {
    let next = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      switch scope {
      case .key(let key): state.held.remove(key)
      case .everything: state.isAllHeld = false
      }
      guard !state.waiting.isEmpty else { return [] }
      var (behind, isAllAhead): (Set<StoreKey>, Bool) = ([], false)
      var next: [CheckedContinuation<Void, Never>] = []
      let waiting = state.waiting
      state.waiting = []
      for one in waiting {
        if state.take(one.scope, behind: &behind, &isAllAhead) {
          next.append(one.turn)
        } else {
          state.waiting.append(one)
        }
      }
      return next
    }
    for turn in next { turn.resume() }
  }
}
