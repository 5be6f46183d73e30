import Synchronization

/// Remembers what it was called with.
package final class Calls<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  package init() {}

  package var all: [Value] { values.withLock { $0 } }
  package var count: Int { all.count }

  package func append(_ value: Value) { values.withLock { $0.append(value) } }

  /// Everything since it was last asked.
  package func take() -> [Value] {
    values.withLock { values in
      defer { values = [] }
      return values
    }
  }
}
