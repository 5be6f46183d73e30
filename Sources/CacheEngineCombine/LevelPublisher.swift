#if Combine || canImport(Combine)
// Whoever asks for a publisher needs what publishers can do: one import is enough, the same on every platform.
#if canImport(Combine)
@_exported public import Combine
#else
@_exported public import OpenCombine
#endif

/// One question to a level, as a publisher.
///
/// Built by `CacheLevel.publisher(for:on:)` and its siblings. It is cold: the level is asked when a
/// subscriber demands a value, and again for every subscription, so that `retry` asks again. There is one outcome, a
/// value and the end, or a failure. Cancelling a subscription cancels what the level does for it and delivers nothing
/// afterwards, except what another thread was about to deliver at that moment; on an actor not even that.
///
/// The answer never comes inside `sink`, but later. It comes on the actor that the publisher was made on, so that
/// closures written in `@MainActor` code run where they claim to:
///
/// ```swift
/// @MainActor final class Profile {
///   var name = ""
///   var load: AnyCancellable?
///
///   func show(_ id: String, from names: some CacheLevel<String, String>) {
///     load = names.publisher(for: id)
///       .sink(receiveCompletion: { _ in }, receiveValue: { name in self.name = name })
///   }
/// }
/// ```
///
/// A publisher made outside of any actor, in a method of a plain class for example, answers on any thread. Swift stops
/// a program in which a closure of the main actor is called elsewhere. So whoever subscribes to such a publisher from
/// the main actor puts `.receive(on: DispatchQueue.main)` first, before any operator that takes a closure
/// (`DispatchQueue.main.ocombine` with OpenCombineDispatch), or has the publisher made with `on: MainActor.shared`.
///
/// A publisher keeps its actor alive. An actor that stores a publisher of its own, and not only the subscription, makes
/// it with `on: nil`.
public struct LevelPublisher<Output: Sendable>: Publisher, Sendable {
  /// Whatever the level throws.
  public typealias Failure = any Error

  private let actor: (any Actor)?
  private let ask: @Sendable () async throws -> Output

  init(on actor: (any Actor)?, asking ask: @escaping @Sendable () async throws -> Output) {
    self.actor = actor
    self.ask = ask
  }

  /// Begins a subscription; the level is asked when a value is demanded.
  ///
  /// - Parameter subscriber: Receives the outcome.
  public func receive(subscriber: some Subscriber<Output, Failure>) {
    let subscription = LevelSubscription(subscriber: AnySubscriber(subscriber), actor: actor, ask: ask)
    subscriber.receive(subscription: subscription)
    subscription.open()
  }
}
#endif
