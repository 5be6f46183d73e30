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

  /// Who has a turn, and who waits for one.
  struct Lines<Turn> {
    /// The keys that are being changed, each with those who wait for it and for nothing else.
    private var lines: [StoreKey: ArraySlice<Turn>] = [:]
    private var isAllHeld = false
    /// From the first one on that waits for everything, in the order in which they came.
    private var behind: ArraySlice<(scope: Scope, turn: Turn)> = []

    /// Whether the turn is taken at once.
    mutating func take(_ scope: Scope) -> Bool {
      guard !isAllHeld, behind.isEmpty else { return false }
      switch scope {
      case .key(let key):
        guard lines[key] == nil else { return false }
        lines[key] = []
      case .everything:
        guard lines.isEmpty else { return false }
        isAllHeld = true
      }
      return true
    }

    /// Waits for a turn that could not be taken at once.
    mutating func wait(_ scope: Scope, _ turn: Turn) {
      if case .key(let key) = scope, !isAllHeld, behind.isEmpty {
        lines[key]?.append(turn)
      } else {
        behind.append((scope, turn))
      }
    }

    /// Gives a turn back, and says whose turn it is now.
    mutating func leave(_ scope: Scope) -> [Turn] {
      switch scope {
      case .key(let key):
        if let next = lines[key]?.popFirst() { return [next] }
        lines[key] = nil
      case .everything: isAllHeld = false
      }
      return lines.isEmpty ? advance() : []
    }

    /// Now that nobody has a turn, lets go on who waits behind others, up to the next one who has to wait for all before it.
    private mutating func advance() -> [Turn] {
      let waiting = behind
      behind = []
      var next: [Turn] = []
      for (place, one) in zip(waiting.indices, waiting) {
        if take(one.scope) {
          next.append(one.turn)
        } else if case .key = one.scope, !isAllHeld {
          wait(one.scope, one.turn)
        } else {
          behind = waiting[place...]
          break
        }
      }
      return next
    }
  }

  private let lines = Mutex(Lines<CheckedContinuation<Void, Never>>())

  func enter(_ scope: Scope) async {
    if lines.withLock({ $0.take(scope) }) { return }
    await withCheckedContinuation { turn in
      let isMine = lines.withLock { lines in
        if lines.take(scope) { return true }
        lines.wait(scope, turn)
        return false
      }
      if isMine { turn.resume() }
    }
  }

  func leave(_ scope: Scope) {
    for turn in lines.withLock({ $0.leave(scope) }) { turn.resume() }
  }
}
