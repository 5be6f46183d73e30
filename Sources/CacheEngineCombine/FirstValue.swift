#if Combine || canImport(Combine)
import Synchronization

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// Gives the first value that a publisher delivers, once, whatever the publisher does.
final class FirstValue<Input: Sendable, Failure: Error>: Subscriber, Sendable {
  // Combine asks of every subscription that it can be cancelled and asked on any thread.
  private struct Upstream: @unchecked Sendable {
    let subscription: any Subscription
  }

  private struct State: Sendable {
    var upstream: Upstream?
    var waiter: CheckedContinuation<Input?, any Error>?
    var outcome: Result<Input?, any Error>?
  }

  private let state = Mutex(State())

  /// Waits for the value; to be called once.
  func value() async throws -> Input? {
    try await withCheckedThrowingContinuation { continuation in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.waiter = continuation }
        return state.outcome
      }
      if let outcome { continuation.resume(with: outcome) }
    }
  }

  func cancel() { end(with: .failure(CancellationError()))?.subscription.cancel() }

  func receive(subscription: any Subscription) {
    let upstream = Upstream(subscription: subscription)
    let isWanted = state.withLock { state in
      guard state.outcome == nil, state.upstream == nil else { return false }
      state.upstream = upstream
      return true
    }
    if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    end(with: .success(input))?.subscription.cancel()
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished: _ = end(with: .success(nil))
    case .failure(let error): _ = end(with: .failure(error))
    }
  }

  /// Returns what is left to be cancelled.
  private func end(with outcome: Result<Input?, any Error>) -> Upstream? {
    let (upstream, waiter) = state.withLock { state -> (Upstream?, CheckedContinuation<Input?, any Error>?) in
      guard state.outcome == nil else { return (nil, nil) }
      defer { state = State(outcome: outcome) }
      return (state.upstream, state.waiter)
    }
    waiter?.resume(with: outcome)
    return upstream
  }
}
#endif
