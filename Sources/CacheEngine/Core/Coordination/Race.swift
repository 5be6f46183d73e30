import Synchronization

/// Work against a time limit, where nobody waits for the loser.
///
/// A task group would wait for work that does not heed its cancellation.
package final class Race<Answer: Sendable>: Sendable {
  private struct State {
    var runners: [Task<Void, Never>] = []
    var isOver = false
    var waiter: CheckedContinuation<Answer?, any Error>?
  }

  private let state = Mutex(State())

  package init() {}

  /// Returns what the work gives, or `nil` if the limit ended first.
  ///
  /// To be called once. Cancelling the caller ends it at once.
  package func first(
    of work: @escaping @Sendable () async throws -> Answer, limit: @escaping @Sendable () async throws -> Void
  ) async throws -> Answer? {
    let (moved, place) = (MovedWork(), CapPlace.holdCurrent())
    defer { moved.end() }
    return try await withTaskCancellationHandler {
      try await hastening {
        try await withCheckedThrowingContinuation { continuation in
          state.withLock { $0.waiter = continuation }
          run {
            defer { place?.release() }
            return .success(try await Waiting.work(on: moved, work))
          }
          run {
            try await limit()
            return .success(nil)
          }
          if Task.isCancelled { end(.failure(CancellationError())) }
        }
      }
    } onCancel: {
      end(.failure(CancellationError()))
    }
  }

  /// Waits for the runners, which get on as fast as whoever waits is to.
  private func hastening(_ wait: () async throws -> Answer?) async throws -> Answer? {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return try await wait() }
    return try await withTaskPriorityEscalationHandler(operation: wait) { _, urgency in
      for runner in state.withLock({ $0.runners }) { runner.escalatePriority(to: urgency) }
    }
  }

  private func run(_ body: @escaping @Sendable () async throws -> Result<Answer?, any Error>) {
    let runner = Task {
      do { end(try await body()) } catch { end(.failure(error)) }
    }
    let isLate = state.withLock { state in
      if !state.isOver { state.runners.append(runner) }
      return state.isOver
    }
    if isLate { runner.cancel() }
  }

  private func end(_ result: Result<Answer?, any Error>) {
    let (waiter, runners) = state.withLock { state -> (CheckedContinuation<Answer?, any Error>?, [Task<Void, Never>]) in
      // A cancellation may come before there is anybody to tell.
      guard let waiter = state.waiter else { return (nil, []) }
      defer {
        state.waiter = nil
        state.isOver = true
        state.runners = []
      }
      return (waiter, state.runners)
    }
    for runner in runners { runner.cancel() }
    waiter?.resume(with: result)
  }
}
