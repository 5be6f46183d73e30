#if Combine || canImport(Combine)
import CacheEngineTesting
import Synchronization

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// Writes down how it is called, and demands only what it is told to.
final class RecordingSubscriber<Input: Sendable>: Subscriber, Sendable {
  typealias Failure = any Error

  /// What a subscriber may do with its subscription; Combine allows it on any thread.
  struct Handle: @unchecked Sendable {
    fileprivate let subscription: any Subscription

    func request(_ count: Int) { subscription.request(.max(count)) }
    func cancel() { subscription.cancel() }
  }

  private struct State {
    var calls: [String] = []
    var handle: Handle?
    var isInside = false
    var overlapped = false
  }

  private let state = Mutex(State())
  private let end = Gate()
  private let onSubscription: @Sendable (Handle) -> Void
  private let onValue: @Sendable (Handle) -> Subscribers.Demand

  /// By default it demands one value at once and nothing more.
  init(
    onSubscription: @escaping @Sendable (Handle) -> Void = { $0.request(1) },
    onValue: @escaping @Sendable (Handle) -> Subscribers.Demand = { _ in .none }
  ) {
    self.onSubscription = onSubscription
    self.onValue = onValue
  }

  /// The values and the end, in the order in which they came.
  var calls: [String] { state.withLock { $0.calls } }

  /// Two calls were under way at once, or one came before the subscription was received.
  var overlapped: Bool { state.withLock { $0.overlapped } }

  /// Waits for the end and returns all calls.
  func outcome() async throws -> [String] {
    try await end.pass()
    return calls
  }

  func request(_ count: Int) { state.withLock { $0.handle }?.request(count) }

  /// As `AnyCancellable` does, it lets go of the subscription.
  func cancel() { takeHandle()?.cancel() }

  func receive(subscription: any Subscription) {
    let handle = Handle(subscription: subscription)
    enter { $0.handle = handle }
    onSubscription(handle)
    leave()
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    let handle = enter { state in
      state.calls.append("value \(input)")
      return state.handle
    }
    defer { leave() }
    guard let handle else { return .none }
    return onValue(handle)
  }

  func receive(completion: Subscribers.Completion<any Error>) {
    enter { state in
      switch completion {
      case .finished: state.calls.append("finished")
      case .failure(let error): state.calls.append("failed \(error)")
      }
    }
    _ = takeHandle()
    leave()
    end.open()
  }

  private func takeHandle() -> Handle? {
    state.withLock { state in
      defer { state.handle = nil }
      return state.handle
    }
  }

  @discardableResult
  private func enter<Result: Sendable>(_ note: @Sendable (inout State) -> Result) -> Result {
    state.withLock { state in
      if state.isInside { state.overlapped = true }
      state.isInside = true
      return note(&state)
    }
  }

  private func leave() { state.withLock { $0.isInside = false } }
}
#endif
