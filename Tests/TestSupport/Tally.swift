import Synchronization

/// Counts what happens on any thread.
package final class Tally: Sendable {
  private let value = Mutex(0)

  package init() {}

  package var count: Int { value.withLock { $0 } }

  /// Returns the new count.
  @discardableResult
  package func add() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}
