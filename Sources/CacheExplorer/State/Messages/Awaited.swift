package import Synchronization

/// A value behind a lock, and one task that waits until there is something in it.
package final class Awaited<Value: Sendable>: Sendable {
  @usableFromInline
  struct State {
    @usableFromInline var value: Value
    @usableFromInline var waiting: CheckedContinuation<Void, Never>?
  }

  // What every event passes is inlined where its type is known.
  @usableFromInline let state: Mutex<State>
  private let isThere: @Sendable (Value) -> Bool

  /// `isThere`: Whether the value is worth being woken for.
  package init(_ value: Value, isThere: @escaping @Sendable (Value) -> Bool) {
    state = Mutex(State(value: value))
    self.isThere = isThere
  }

  /// Puts something in, and wakes whoever waits.
  @inlinable
  package func put(_ change: (inout Value) -> Void) {
    let waiting = state.withLock { state in
      change(&state.value)
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Takes the value out and leaves another.
  @inlinable
  package func take(leaving rest: Value) -> Value {
    change { value in
      defer { value = rest }
      return value
    }
  }

  /// Looks at the value, and takes something out of it.
  @inlinable
  package func change<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
    state.withLock { change(&$0.value) }
  }

  /// Waits until something is there, or until the task is cancelled.
  ///
  /// One task may wait.
  package func wait(isolation: isolated (any Actor)? = #isolation) async {
    await withTaskCancellationHandler {
      // Keeps this closure where the caller is: it would go to the shared pool otherwise, and wake a thread there.
      _ = isolation
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard !isThere(state.value), !Task.isCancelled else { return true }
          state.waiting = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      takeWaiting()?.resume()
    }
  }

  private func takeWaiting() -> CheckedContinuation<Void, Never>? {
    state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting
    }
  }
}
