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
///
/// | does none of these | nothing: the read waits until its task is cancelled |
///
/// Cancelling the task that reads cancels the subscription. Each read makes a publisher and subscribes to it on the
/// thread of the caller.
public struct PublisherFetcher<Key: Hashable & Sendable, Source: Publisher>: Fetcher where Source.Output: Sendable {
  /// What is published.
  public typealias Value = Source.Output

  /// What the level is called in errors, events and logs.
  public let name: String

  private let makePublisher: @Sendable (Key) -> Source

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - name: What the level is called in errors, events and logs.
  ///   - makePublisher: Makes the publisher that is asked for a key.
  public init(name: String = "PublisherFetcher", _ makePublisher: @escaping @Sendable (Key) -> Source) {
    self.name = name
    self.makePublisher = makePublisher
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
      try await withCheckedThrowingContinuation { continuation in
        first.await(continuation)
        makePublisher(key).subscribe(first)
      }
    } onCancel: {
      first.cancel()
    }
  }
}
