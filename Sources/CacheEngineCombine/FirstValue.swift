import Synchronization

#if canImport(Combine)
  import Combine
#else
  import OpenCombine
#endif

/// Resumes a continuation with the first value that a publisher delivers, once, whatever the publisher does.
final class FirstValue<Input: Sendable, Failure: Error>: Subscriber, Sendable {
  // Combine asks of every subscription that it can be cancelled and asked on any thread.
  private struct Upstream: @unchecked Sendable {
    let subscription: any Subscription
  }

  private struct State: Sendable {
    var upstream: Upstream?
    var waiter: CheckedContinuation<Input?, any Error>?
    var isOver = false
  }

  private let state = Mutex(State())

  /// Notes who waits, before the publisher is subscribed to.
  func await(_ continuation: CheckedContinuation<Input?, any Error>) {
    let isOver = state.withLock { state in
      if !state.isOver { state.waiter = continuation }
      return state.isOver
    }
    // A cancellation that came before found nobody to release.
    if isOver { continuation.resume(throwing: CancellationError()) }
  }

  func cancel() {
    let ended = end()
    ended.upstream?.subscription.cancel()
    ended.waiter?.resume(throwing: CancellationError())
  }

  func receive(subscription: any Subscription) {
    let upstream = Upstream(subscription: subscription)
    let isWanted = state.withLock { state in
      guard !state.isOver, state.upstream == nil else { return false }
      state.upstream = upstream
      return true
    }
    if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    let ended = end()
    ended.upstream?.subscription.cancel()
    ended.waiter?.resume(returning: input)
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    let ended = end()
    switch completion {
    case .finished: ended.waiter?.resume(returning: nil)
    case .failure(let error): ended.waiter?.resume(throwing: error)
    }
  }

  private func end() -> State {
    state.withLock { state in
      defer { state = State(isOver: true) }
      return state
    }
  }
}
