public import CacheEngine
public import CacheEngineShared
import Synchronization

/// A shared store and its bus within one process, for tests of the levels above.
///
/// Each ``client(_:hearsItself:)`` represents a process. The others are told what one changes, and it is told itself only if it asks for
/// that; reports to a client can be held back, cut off or made to overflow. Names can be looked at, damaged and evicted.
///
/// ```swift
/// let store = SimulatedSharedStore()
/// let (here, there) = (store.client("here"), store.client("there"))
/// let level = try SharedCacheLevel<String, Data>(here, namespace: "test", valueCoding: .data)
/// ```
public final class SimulatedSharedStore: Sendable {
  fileprivate struct State {
    var names = SimulatedNames()
    var feeds: [Int: (client: String, prefixes: [[UInt8]], feed: Weak)] = [:]
    var nextFeed = 0
    var deaf: Set<String> = []
    var held: [(client: String, names: [[UInt8]])]?
  }

  fileprivate final class Weak: Sendable {
    private let box: Mutex<WeakBox>
    private struct WeakBox { weak var feed: InvalidationFeed? }
    init(_ feed: InvalidationFeed) { box = Mutex(WeakBox(feed: feed)) }
    var feed: InvalidationFeed? { box.withLock { $0.feed } }
  }

  fileprivate let clock: any CacheClock
  fileprivate let state = Mutex(State())

  /// Creates an empty store.
  ///
  /// - Parameter clock: The clock that the store lives by.
  public init(clock: any CacheClock = SystemClock()) { self.clock = clock }

  /// A connection of its own to the store, as a process would have it.
  ///
  /// - Parameters:
  ///   - name: What the client is called; it is not notified of its own changes.
  ///   - hearsItself: Whether it is notified of its own changes as well.
  /// - Returns: The client, connected and listening.
  public func client(_ name: String, hearsItself: Bool = false) -> SimulatedSharedClient {
    SimulatedSharedClient(store: self, name: name, hearsItself: hearsItself)
  }

  /// The bytes under each name.
  public var contents: [[UInt8]: [UInt8]] { state.withLock { $0.names.values.mapValues(\.bytes) } }

  /// How long the bytes under a name will stay; `nil` for ever, or if there are none.
  ///
  /// - Parameter name: The name.
  /// - Returns: The rest of their life.
  public func life(of name: [UInt8]) -> Duration? {
    state.withLock { $0.names.values[name]?.deadline.map { clock.now.duration(to: $0) } }
  }

  /// Changes what is under a name without telling anybody, as an outsider could.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - bytes: What is there from now on; `nil` for nothing, as after an eviction that nobody heard of.
  public func plant(_ name: [UInt8], _ bytes: [UInt8]?) {
    state.withLock { $0.names.values[name] = bytes.map { ($0, nil) } }
  }

  /// Removes what stands under names, and tells everybody, as a store does that needs room.
  ///
  /// - Parameter condition: Which names.
  public func evict(where condition: ([UInt8]) -> Bool) {
    let names = state.withLock { state in
      let names = state.names.values.keys.filter(condition)
      for name in names { state.names.values[name] = nil }
      return names
    }
    tell(names, by: nil)
  }

  /// Empties the store, and tells everybody.
  public func flush() {
    state.withLock { $0.names.values = [:] }
    for feed in feeds({ _ in true }) { feed.send(.everything(.flushed)) }
  }

  /// Holds back what is to be told, or tells it after all, in the order in which it happened.
  ///
  /// - Parameter isHeld: Whether it is held back.
  public func holdBack(_ isHeld: Bool) {
    let held = state.withLock { state in
      defer { state.held = isHeld ? state.held ?? [] : nil }
      return isHeld ? [] : state.held ?? []
    }
    for (client, names) in held { tell(names, by: client.isEmpty ? nil : client) }
  }

  fileprivate func feeds(_ condition: (String) -> Bool) -> [InvalidationFeed] {
    state.withLock { state in
      state.feeds.values.filter { condition($0.client) && !state.deaf.contains($0.client) }.compactMap(\.feed.feed)
    }
  }

  fileprivate func tell(_ names: [[UInt8]], by client: String?) {
    guard !names.isEmpty else { return }
    let told = state.withLock { state -> [(InvalidationFeed, [[UInt8]])] in
      if state.held != nil {
        state.held?.append((client ?? "", names))
        return []
      }
      return state.feeds.values.compactMap { listener in
        guard listener.client != client, !state.deaf.contains(listener.client), let feed = listener.feed.feed else {
          return nil
        }
        let matching = names.filter { name in listener.prefixes.contains { name.starts(with: $0) } }
        return matching.isEmpty ? nil : (feed, matching)
      }
    }
    for (feed, names) in told { feed.send(.names(names)) }
  }
}

/// A process's way to a ``SimulatedSharedStore``.
public final class SimulatedSharedClient: SharedStore, InvalidationBus {
  /// What a client was asked.
  public enum Call: Sendable, Equatable {
    /// The time.
    case time
    /// To read names.
    case read([[UInt8]])
    /// To make changes.
    case commit([SharedChange])
  }

  /// What happens to a call.
  public enum Fate: Sendable {
    /// It is carried out.
    case done
    /// It is not carried out, and fails.
    case refused
    /// It is carried out, and the answer is lost.
    case unanswered
  }

  private struct State {
    var calls: [Call] = []
    var onCall: (@Sendable (Call) async throws -> Fate)?
  }

  private let store: SimulatedSharedStore
  /// What the client is called.
  public let name: String
  private let hearsItself: Bool
  private let state = Mutex(State())

  fileprivate init(store: SimulatedSharedStore, name: String, hearsItself: Bool) {
    self.store = store
    self.name = name
    self.hearsItself = hearsItself
  }

  /// What was asked, in order.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// Decides what becomes of calls from now on.
  ///
  /// - Parameter decide: Runs before a call is carried out; `nil` lets all of them be.
  public func onCall(_ decide: (@Sendable (Call) async throws -> Fate)?) { state.withLock { $0.onCall = decide } }

  /// The store's time of day.
  public func timeSinceEpoch() async throws -> Duration {
    try await carryOut(.time) { store.clock.timeSinceEpoch }
  }

  /// Returns the bytes under names.
  public func read(_ names: [[UInt8]]) async throws -> [[UInt8]?] {
    try await carryOut(.read(names)) {
      let now = store.clock.now
      return store.state.withLock { state in names.map { state.names.value($0, now) } }
    }
  }

  /// Makes changes if all conditions hold.
  public func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]? {
    try await carryOut(.commit(changes)) {
      let now = store.clock.now
      let (answer, changed) = store.state.withLock { $0.names.commit(changes, if: conditions, reading: names, now) }
      store.tell(changed, by: hearsItself ? nil : name)
      return answer
    }
  }

  private func carryOut<Answer>(_ call: Call, _ work: () -> Answer) async throws -> Answer {
    let onCall = state.withLock { state in
      state.calls.append(call)
      return state.onCall
    }
    try Task.checkCancellation()
    let fate = try await onCall?(call) ?? .done
    if case .refused = fate { throw CacheError(.unreachable, "the store is down", level: name) }
    let answer = work()
    if case .unanswered = fate { throw CacheError(.timedOut, "the store did not answer", level: name) }
    return answer
  }

  /// Listens; it hears at once, unless it was cut off.
  public func changes(of prefixes: [[UInt8]]) -> InvalidationFeed {
    let store = store
    let number = store.state.withLock { state in
      state.nextFeed += 1
      return state.nextFeed
    }
    let feed = InvalidationFeed { _ = store.state.withLock { $0.feeds.removeValue(forKey: number) } }
    let isDeaf = store.state.withLock { state in
      state.feeds[number] = (name, prefixes, SimulatedSharedStore.Weak(feed))
      return state.deaf.contains(name)
    }
    if !isDeaf { feed.send(.everything(.connected)) }
    return feed
  }

  /// Cuts the client off what is told, or lets it hear again.
  ///
  /// - Parameters:
  ///   - isDeaf: Whether it hears nothing.
  ///   - lastHeard: When it heard something last; by default now.
  public func turn(deaf isDeaf: Bool, lastHeard: CacheInstant? = nil) {
    let change = isDeaf ? SharedInvalidation.lost(lastHeard: lastHeard ?? store.clock.now) : .everything(.connected)
    if !isDeaf { _ = store.state.withLock { $0.deaf.remove(name) } }
    for feed in store.feeds({ $0 == name }) { feed.send(change) }
    if isDeaf { _ = store.state.withLock { $0.deaf.insert(name) } }
  }
}
