#if Redis
import CacheEngine
import CacheEngineShared
import Synchronization

/// Whether all is heard that several servers tell.
struct JointHearing: Sendable {
  private var hears: [ObjectIdentifier: Bool] = [:]

  private var isComplete: Bool { !hears.isEmpty && hears.values.allSatisfy(\.self) }

  /// What a listener is told when one of the servers tells something.
  mutating func take(_ change: SharedInvalidation, from server: ObjectIdentifier) -> SharedInvalidation? {
    guard hears[server] != nil else { return nil }
    let wasComplete = isComplete
    switch change {
    case .names: return change
    case .everything(let cause):
      hears[server] = true
      return isComplete ? .everything(wasComplete ? cause : .connected) : nil
    case .lost:
      hears[server] = false
      return wasComplete ? change : nil
    }
  }

  /// What a listener is told when these servers tell from now on; that there were no others was known at `lastHeard` last.
  mutating func set(_ servers: Set<ObjectIdentifier>, lastHeard: CacheInstant) -> SharedInvalidation? {
    let wasComplete = isComplete
    hears = Dictionary(uniqueKeysWithValues: servers.map { ($0, hears[$0] ?? false) })
    if wasComplete == isComplete { return nil }
    return isComplete ? .everything(.connected) : .lost(lastHeard: lastHeard)
  }
}

/// Those who listen to a store, whichever servers it has.
///
/// All is told under one lock: what several servers tell comes in the order in which it counted.
final class RedisListeners: Sendable {
  private struct Listener {
    let prefixes: [[UInt8]]
    weak var feed: InvalidationFeed?
    var hearing = JointHearing()
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var nodes: [RedisNode] = []
    var last = 0
    var step: UInt64 = 0
  }

  private let state = Mutex(State())
  private let steps = Atomic<UInt64>(0)

  var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

  func add(_ prefixes: [[UInt8]]) -> InvalidationFeed {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    let feed = InvalidationFeed { [weak self] in self?.remove(number) }
    state.withLock { state in
      var listener = Listener(prefixes: prefixes, feed: feed)
      _ = listener.hearing.set(Set(state.nodes.map { ObjectIdentifier($0) }), lastHeard: .init(nanoseconds: 0))
      state.listeners[number] = listener
      for node in state.nodes { join(number, prefixes, node) }
    }
    return feed
  }

  private func join(_ number: Int, _ prefixes: [[UInt8]], _ node: RedisNode) {
    let server = ObjectIdentifier(node)
    node.listen(number, prefixes) { [weak self] change in self?.tell(number, change, from: server) }
  }

  private func tell(_ number: Int, _ change: SharedInvalidation, from server: ObjectIdentifier) {
    // A feed that ends does so outside of the lock.
    let feed = state.withLock { state -> InvalidationFeed? in
      guard let told = state.listeners[number]?.hearing.take(change, from: server) else { return nil }
      let feed = state.listeners[number]?.feed
      feed?.send(told)
      return feed
    }
    withExtendedLifetime(feed) {}
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.listeners[number] = nil
      for node in state.nodes { node.feeds.remove(number) }
    }
  }

  /// The number of a decision about who is listened to, for ``set(_:lastHeard:step:)``; drawn when it is made.
  func nextStep() -> UInt64 { steps.add(1, ordering: .relaxed).newValue }

  /// Listens to these servers from now on, and to no others, unless that was decided otherwise since.
  func set(_ nodes: [RedisNode], lastHeard: CacheInstant, step: UInt64) {
    let feeds = state.withLock { state -> [InvalidationFeed] in
      guard step > state.step else { return [] }
      state.step = step
      let old = state.nodes
      state.nodes = nodes
      var feeds: [InvalidationFeed] = []
      let servers = Set(nodes.map { ObjectIdentifier($0) })
      for number in state.listeners.keys {
        let told = state.listeners[number]?.hearing.set(servers, lastHeard: lastHeard)
        if let told, let feed = state.listeners[number]?.feed {
          feed.send(told)
          feeds.append(feed)
        }
        for node in old where !servers.contains(ObjectIdentifier(node)) { node.feeds.remove(number) }
        for node in nodes where !old.contains(where: { $0 === node }) {
          join(number, state.listeners[number]?.prefixes ?? [], node)
        }
      }
      return feeds
    }
    withExtendedLifetime(feeds) {}
  }
}
#endif
