#if Combine || canImport(Combine)
import Synchronization

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// The task that asks a level for one subscriber, and what is left to do for that subscriber.
///
/// The subscriber and the subscription hold each other until the outcome is delivered or the subscription is
/// cancelled; so do the subscription and its task. Whatever leaves ``stage`` is released outside of the lock, since the
/// subscriber's deinitializer is not ours.
final class LevelSubscription<Output: Sendable>: Subscription, Sendable {
  // Combine lets a publisher call its subscriber on any thread, one call at a time. `stage` sees to the latter: who
  // takes the receiver out of it makes the calls.
  private struct Receiver: @unchecked Sendable {
    let subscriber: AnySubscriber<Output, any Error>
  }

  private enum Stage: Sendable {
    /// The subscriber is still being told of its subscription, and may have demanded a value meanwhile.
    case opening(Receiver, isDemanded: Bool)
    /// Nothing was demanded yet.
    case idle(Receiver)
    /// The level is being asked. There is no task in the moment before it is known.
    case asking(Receiver, Task<Void, Never>?)
    /// The outcome is being handed over, or was a failure.
    case delivering
    /// Finished or cancelled.
    case over
  }

  private let actor: (any Actor)?
  private let ask: @Sendable () async throws -> Output
  private let stage: Mutex<Stage>

  init(
    subscriber: AnySubscriber<Output, any Error>, actor: (any Actor)?,
    ask: @escaping @Sendable () async throws -> Output
  ) {
    self.actor = actor
    self.ask = ask
    stage = Mutex(.opening(Receiver(subscriber: subscriber), isDemanded: false))
  }

  /// The subscriber knows its subscription, so it may be called from elsewhere from now on.
  func open() {
    let isDemanded = stage.withLock { stage in
      guard case .opening(let receiver, let isDemanded) = stage else { return false }
      stage = isDemanded ? .asking(receiver, nil) : .idle(receiver)
      return isDemanded
    }
    if isDemanded { start() }
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let isFirst = stage.withLock { stage in
      switch stage {
      case .opening(let receiver, _):
        stage = .opening(receiver, isDemanded: true)
        return false
      case .idle(let receiver):
        stage = .asking(receiver, nil)
        return true
      case .asking, .delivering, .over:
        return false
      }
    }
    if isFirst { start() }
  }

  func cancel() {
    if case .asking(_, let task?) = end() { task.cancel() }
  }

  private func start() {
    let task = Task { [self] in
      let answer: Result<Output, any Error>
      do { answer = .success(try await ask()) } catch { answer = .failure(error) }
      await deliver(answer, on: actor)
    }
    let isWanted = stage.withLock { stage in
      guard case .asking(let receiver, nil) = stage else { return false }
      stage = .asking(receiver, task)
      return true
    }
    // Delivered already, or cancelled before the task was known.
    if !isWanted { task.cancel() }
  }

  private func deliver(_ answer: Result<Output, any Error>, on actor: isolated (any Actor)?) {
    guard case .asking(let receiver, _) = beginDelivery() else { return }
    switch answer {
    case .success(let value):
      // What is demanded beyond the one value is never served.
      _ = receiver.subscriber.receive(value)
      // The subscriber may have cancelled while it received the value.
      if case .delivering = end() { receiver.subscriber.receive(completion: .finished) }
    case .failure(let error):
      receiver.subscriber.receive(completion: .failure(error))
    }
  }

  private func beginDelivery() -> Stage {
    stage.withLock { stage in
      let previous = stage
      if case .asking = previous { stage = .delivering }
      return previous
    }
  }

  private func end() -> Stage {
    stage.withLock { stage in
      defer { stage = .over }
      return stage
    }
  }
}
#endif
