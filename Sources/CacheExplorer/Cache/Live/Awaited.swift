import Synchronization

/// A value behind a lock, and one task that waits until there is something in it.
package final class Awaited<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state: Mutex<State>
  private let isThere: @Sendable (Value) -> Bool

  /// `isThere`: Whether the value is worth being woken for.
  package init(_ value: Value, isThere: @escaping @Sendable (Value) -> Bool) {
    state = Mutex(State(value: value))
    self.isThere = isThere
  }

  /// Puts something in, and wakes whoever waits.
  package func put(_ change: (inout Value) -> Void) {
    let waiting = state.withLock { state in
      change(&state.value)
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Takes the value out and leaves another.
  func take(leaving rest: Value) -> Value {
    change { value in
      defer { value = rest }
      return value
    }
  }

  /// Looks at the value, and takes something out of it.
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

/// Does work that is cancelled with the task that waits for it, which then does not wait for its end.
func unlessCancelled<Answer: Sendable>(
  _ work: @escaping @Sendable () async throws -> Answer
) async throws -> Answer {
  let answer = Awaited<Result<Answer, any Error>?>(nil) { $0 != nil }
  let task = Task {
    let result: Result<Answer, any Error>
    do { result = .success(try await work()) } catch { result = .failure(error) }
    answer.put { $0 = result }
  }
  return try await withTaskCancellationHandler {
    await answer.wait()
    guard let result = answer.take(leaving: nil) else { throw CancellationError() }
    return try result.get()
  } onCancel: {
    task.cancel()
  }
}
