#if Combine || canImport(Combine)
public import CacheEngine

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// A source that asks a publisher: how a cache or a client written with Combine becomes a level.
///
/// ```swift
/// let photos = MemoryCacheLevel<String, Data>(capacity: 8 << 20)
///   .compose(PublisherFetcher { key in oldCache.get(key) })
/// ```
///
/// | the publisher | a read gives |
/// |---|---|
/// | delivers a value | that value; the subscription is cancelled, later values are not asked for |
/// | finishes without one | a miss |
/// | fails | its error |
/// | does none of these | nothing: the read waits until its task is cancelled |
///
/// Cancelling the task that reads cancels the subscription. Each read makes a publisher and subscribes to it on the
/// thread of the caller, or on an actor: a cache that is a class and says nothing of threads is asked where it lives.
///
/// ```swift
/// let photos = PublisherFetcher(on: MainActor.shared) { key in oldCache.get(key) }
/// ```
public struct PublisherFetcher<Key: Hashable & Sendable, Source: Publisher>: Fetcher where Source.Output: Sendable {
  /// What is published.
  public typealias Value = Source.Output

  /// The name of the level in errors, events and logs.
  public let name: String

  // What is made on an actor is called nowhere else.
  private enum Maker: @unchecked Sendable {
    case anywhere(@Sendable (Key) -> Source)
    case onActor(any Actor, (Key) -> Source)
  }

  private let maker: Maker

  /// Creates a source that may be asked on any thread, by several at once.
  ///
  /// - Parameters:
  ///   - name: The name of the level in errors, events and logs.
  ///   - makePublisher: Makes the publisher that is asked for a key.
  public init(name: String = "PublisherFetcher", _ makePublisher: @escaping @Sendable (Key) -> Source) {
    self.name = name
    maker = .anywhere(makePublisher)
  }

  /// Creates a source that is asked on an actor: that of whoever creates it.
  ///
  /// - Parameters:
  ///   - name: The name of the level in errors, events and logs.
  ///   - actor: Where publishers are made and subscribed to.
  ///   - makePublisher: Makes the publisher that is asked for a key.
  public init(
    name: String = "PublisherFetcher", on actor: isolated any Actor, _ makePublisher: @escaping (Key) -> Source
  ) {
    self.name = name
    maker = .onActor(actor, makePublisher)
  }

  /// Returns the first value that is published for a key, or `nil` if there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: The publisher's failure; `CancellationError` if the task was cancelled first.
  public func get(_ key: Key) async throws -> Source.Output? {
    try Task.checkCancellation()
    let first = FirstValue<Source.Output, Source.Failure>()
    return try await withTaskCancellationHandler {
      switch maker {
      case .anywhere(let makePublisher): makePublisher(key).subscribe(first)
      case .onActor(let actor, _): await subscribe(first, to: key, on: actor)
      }
      return try await first.value()
    } onCancel: {
      first.cancel()
    }
  }

  private func subscribe(
    _ first: FirstValue<Source.Output, Source.Failure>, to key: Key, on actor: isolated any Actor
  ) {
    if case .onActor(_, let makePublisher) = maker { makePublisher(key).subscribe(first) }
  }
}
#endif
