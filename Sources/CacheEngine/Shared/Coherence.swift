public import CacheCore

public import Synchronization

/// How a composition hears of changes that others make in the shared level below.
public struct Coherence<Key: Hashable & Sendable>: Sendable {
  /// What happens to the copies above while nothing is heard.
  public struct WhileDeaf: Sendable, Equatable {
    let limit: Duration

    /// They are passed by: reads go to the shared level.
    public static var passBy: WhileDeaf { WhileDeaf(limit: .zero) }

    /// They are served for a while, counted from when something was last heard, and then passed by.
    ///
    /// - Parameter limit: How long. Not negative.
    /// - Returns: The policy.
    public static func serve(for limit: Duration) -> WhileDeaf {
      precondition(limit >= .zero, "copies cannot be served for a negative time")
      return WhileDeaf(limit: limit)
    }
  }

  let feed: InvalidationFeed
  let meaning: @Sendable ([UInt8]) -> HeardChange<Key>
  let whileDeaf: WhileDeaf

  init(
    feed: InvalidationFeed, meaning: @escaping @Sendable ([UInt8]) -> HeardChange<Key>, whileDeaf: WhileDeaf
  ) {
    (self.feed, self.meaning, self.whileDeaf) = (feed, meaning, whileDeaf)
  }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - bus: Reports the changes in the store.
  ///   - shared: The level whose entries are copied.
  ///   - whileDeaf: What happens to the copies while nothing is heard.
  public init<Value: Sendable>(
    _ bus: some InvalidationBus, of shared: SharedCacheLevel<Key, Value>,
    whileDeaf: WhileDeaf = .serve(for: .seconds(5))
  ) {
    feed = bus.changes(of: shared.namespace.heard)
    shared.unsettled.tell(feed)
    meaning = { shared.heard($0) }
    self.whileDeaf = whileDeaf
  }
}

/// What a change of a name in the store means for those who hold copies.
enum HeardChange<Key: Hashable & Sendable>: Sendable {
  case key(Key)
  case tag(String)
  case everything
  case nothing
}

/// What a coherent composition has heard.
public struct CoherenceReport: Sendable, Equatable {
  /// Since when nothing has been heard; `nil` while changes are heard.
  public var deafSince: CacheInstant?
  /// How many changes of single keys were heard.
  public var keys = 0
  /// How many removals by tag were heard.
  public var tags = 0
  /// How often everything was in doubt.
  public var everything = 0
}

/// Whether copies may be served, and what was heard.
@usableFromInline
final class Hearing: Sendable {
  /// Until when copies may be served: for ever while changes are heard.
  @usableFromInline let limit: Atomic<Int64>
  @usableFromInline let clock: any CacheClock
  private let whileDeaf: Duration
  private let state: Mutex<CoherenceReport>
  private let ears = Mutex<[@Sendable ((any Sendable)?) -> Bool]>([])

  init(whileDeaf: Duration, clock: any CacheClock) {
    self.clock = clock
    self.whileDeaf = whileDeaf
    let now = clock.now
    limit = Atomic(now.advanced(by: whileDeaf).nanoseconds)
    state = Mutex(CoherenceReport(deafSince: now))
  }

  var report: CoherenceReport { state.withLock { $0 } }

  @inlinable var mayServe: Bool {
    let limit = limit.load(ordering: .relaxed)
    return limit == .max || clock.now.nanoseconds < limit
  }

  func add(_ ear: @escaping @Sendable ((any Sendable)?) -> Bool) { ears.withLock { $0.append(ear) } }

  /// Tells what stands around the level that a key was changed; `nil` if that may be any.
  func tell(_ key: (any Sendable)?) {
    ears.withLock { ears in ears.removeAll { !$0(key) } }
  }

  func count(_ change: (inout CoherenceReport) -> Void) { state.withLock { change(&$0) } }

  /// - Returns: Whether nothing was heard before.
  func hears() -> Bool {
    limit.store(.max, ordering: .sequentiallyConsistent)
    return state.withLock { $0.deafSince.take() != nil }
  }

  /// - Returns: Whether something was heard before.
  @discardableResult
  func isDeaf(since lastHeard: CacheInstant) -> Bool {
    let isFirst = state.withLock { state in
      defer { state.deafSince = state.deafSince ?? lastHeard }
      return state.deafSince == nil
    }
    let end = min(lastHeard.advanced(by: whileDeaf).nanoseconds, .max - 1)
    if isFirst { limit.store(end, ordering: .sequentiallyConsistent) }
    return isFirst
  }

  /// What is above may be out of date, and could not be made to forget.
  func mayServeNothing() {
    limit.store(.min, ordering: .sequentiallyConsistent)
    let now = clock.now
    state.withLock { $0.deafSince = $0.deafSince ?? now }
  }
}
