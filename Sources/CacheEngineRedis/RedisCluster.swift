#if Redis
import CacheEngine
import CacheEngineShared
import Synchronization

/// Where a server of a cluster sends those who ask it.
enum RedisRedirect: Error, Equatable {
  /// Another server has the slot from now on.
  case moved(to: RedisAddress)
  /// Another server has this name already; the slot is on its way.
  case ask(RedisAddress)
  /// Some of the names are here and some there.
  case tryAgain

  /// Reads `MOVED 866 10.0.0.1:7000`, `ASK 866 10.0.0.1:7000`, or `TRYAGAIN …`; `nil` for anything else.
  init?(_ text: String, saidBy host: String) {
    let words = text.split(separator: " ")
    switch words.first {
    case "TRYAGAIN": self = .tryAgain
    case "MOVED", "ASK":
      guard words.count == 3, let address = RedisAddress(words[2], saidBy: host) else { return nil }
      self = words[0] == "ASK" ? .ask(address) : .moved(to: address)
    default: return nil
    }
  }
}

/// The primaries of a cluster, and which of them has what.
///
/// Nothing that was sent is sent again, unless a server said that it carried out nothing and who would.
final class RedisCluster: Sendable {
  private struct State {
    var topology = RedisTopology()
    var nodes: [RedisAddress: RedisNode] = [:]
    var refresh: Task<Void, Never>?
    var watch: Task<Void, Never>?
    /// When servers were asked last who has what, and answered.
    var confirmed: CacheInstant
    /// When it was begun last to ask them.
    var asked: CacheInstant?
    var isClosed = false
  }

  /// As many times a command is sent on: more often than a cluster that settles needs.
  private static let mostRedirects = 16

  private let settings: RedisSettings
  private let listeners: RedisListeners
  private let instance: [UInt8]
  private let clock = SystemClock()
  private let state: Mutex<State>

  init(_ settings: RedisSettings, _ listeners: RedisListeners, instance: [UInt8]) {
    self.settings = settings
    self.listeners = listeners
    self.instance = instance
    state = Mutex(State(confirmed: SystemClock().now))
  }

  var nodes: [RedisNode] { state.withLock { Array($0.nodes.values) } }

  func close() {
    let (nodes, work) = state.withLock { state in
      defer { state.nodes = [:] }
      state.isClosed = true
      return (state.nodes, [state.refresh.take(), state.watch.take()])
    }
    for task in work { task?.cancel() }
    for node in nodes.values { node.close() }
  }

  deinit { close() }

  // MARK: Asking

  /// Asks the server that has a slot, and those to which it sends.
  ///
  /// With `waits`, it is waited while only some of the names are where they are asked for; otherwise
  /// ``RedisRedirect/tryAgain`` is thrown.
  func ask<Answer>(
    slot: Int, waits: Bool = true, _ body: (_ node: RedisNode, _ isAsking: Bool) async throws -> Answer
  ) async throws -> Answer {
    let deadline = clock.now.advanced(by: settings.commandLimit)
    var pause = Duration.milliseconds(2)
    var next: (RedisNode, isAsking: Bool)?
    var redirects = 0
    while redirects <= Self.mostRedirects {
      redirects += 1
      let (node, isAsking) = if let next { next } else { (try await owner(of: slot), false) }
      next = nil
      do { return try await body(node, isAsking) } catch RedisRedirect.moved(let address) {
        state.withLock { $0.topology.move(slot, to: address) }
        refreshSoon()
        next = (try self.node(address), false)
      } catch RedisRedirect.ask(let address) {
        next = (try self.node(address), true)
      } catch RedisRedirect.tryAgain where waits {
        guard clock.now.advanced(by: pause) < deadline else {
          throw CacheError(
            .refusedByServer,
            "the server refused: TRYAGAIN for \(settings.commandLimit.text); the namespace is on its way to another server",
            level: settings.name)
        }
        try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil)
        pause = min(pause * 2, .milliseconds(50))
        redirects = 0
        refreshSoon()
      } catch let error as CacheError where error.code != .overloaded && error.code != .closed {
        // Lost, late, or no primary any more: perhaps others know better.
        refreshSoon()
        throw error
      }
    }
    throw CacheError(
      .refusedByServer, "the servers of the cluster redirect to each other for slot \(slot)", level: settings.name)
  }

  /// The time of day of the first primary that answers, in the order of their slots.
  func time() async throws -> Duration {
    _ = try await owner(of: 0)
    var failure: (any Error)?
    for address in state.withLock({ $0.topology.inOrder }) {
      do { return try await node(address).timeSinceEpoch() } catch let error as CacheError {
        refreshSoon()
        failure = failure ?? error
      }
    }
    throw failure ?? CacheError(.unreachable, "no server of the cluster was reached", level: settings.name)
  }

  /// The server that has a slot.
  private func owner(of slot: Int) async throws -> RedisNode {
    for attempt in 0..<2 {
      if let address = state.withLock({ $0.topology[slot] }) { return try node(address) }
      if attempt == 0 { await refresh() }
    }
    throw CacheError(
      .unreachable, "no server of the cluster at \(settings.address) says that it has slot \(slot)",
      level: settings.name)
  }

  private func node(_ address: RedisAddress) throws -> RedisNode {
    if let node = state.withLock({ $0.nodes[address] }) { return node }
    state.withLock { $0.topology.add(address) }
    join()
    let (node, isClosed) = state.withLock { ($0.nodes[address], $0.isClosed) }
    if let node { return node }
    throw isClosed ? CacheError(.closed, "the store was closed", level: settings.name) : gone(address)
  }

  /// The cluster has changed since somebody was sent there.
  private func gone(_ address: RedisAddress) -> CacheError {
    CacheError(
      .unreachable, "\(address) cannot be reached any more: the cluster has no such primary", level: settings.name)
  }

  // MARK: Topology

  /// Makes nodes for all primaries, and releases those that no longer are.
  private func join() {
    let changed = state.withLock { state -> ([RedisNode], [RedisAddress: RedisNode], CacheInstant, UInt64)? in
      let primaries = state.topology.primaries
      guard !state.isClosed, primaries != Set(state.nodes.keys) else { return nil }
      let gone = state.nodes.filter { !primaries.contains($0.key) }
      for address in gone.keys { state.nodes[address] = nil }
      for address in primaries where state.nodes[address] == nil {
        var settings = settings
        settings.place = .host(address.host, port: address.port)
        settings.others = []
        state.nodes[address] = RedisNode(settings, instance: instance, role: .member)
      }
      return (Array(state.nodes.values), gone, state.confirmed, listeners.nextStep())
    }
    guard let (nodes, left, confirmed, step) = changed else { return }
    listeners.set(nodes, lastHeard: confirmed, step: step)
    for (address, node) in left { node.close(gone(address)) }
  }

  /// Asks all who has what, unless that was done a moment ago.
  func refreshSoon() {
    let now = clock.now
    let isDue = state.withLock { state in
      guard let asked = state.asked else { return true }
      return asked.duration(to: now) >= min(settings.pauses.lowerBound, settings.pingInterval)
    }
    if isDue { _ = begin() }
  }

  private func refresh() async { await begin()?.value }

  private func begin() -> Task<Void, Never>? {
    state.withLock { state -> Task<Void, Never>? in
      if state.isClosed { return nil }
      if let refresh = state.refresh { return refresh }
      state.asked = clock.now
      let task = Task { [weak self] in
        guard let self else { return }
        await look()
        self.state.withLock { $0.refresh = nil }
      }
      state.refresh = task
      return task
    }
  }

  /// Takes in what each of them says as it comes: a server that hangs holds nobody up.
  private func look() async {
    let began = clock.now
    let (members, hasListeners) = (nodes, !listeners.isEmpty)
    let spares = await withTaskGroup(of: Set<RedisAddress>?.self) { group in
      for node in members { group.addTask { await self.learn(from: node, began) } }
      var all: Set<RedisAddress>?
      for await spares in group { if let spares { all = (all ?? []).union(spares) } }
      return all
    }
    if let spares {
      state.withLock { $0.topology.keep(spares: spares) }
      join()
    } else {
      // If it knows nobody, those whom the user named.
      for place in [settings.place] + settings.others {
        var settings = settings
        settings.place = place
        settings.others = []
        let node = RedisNode(settings, instance: instance, role: .member)
        let spares = await learn(from: node, began)
        node.close()
        if spares != nil { break }
      }
    }
    if hasListeners { watch() }
  }

  /// Asks one, and returns who has no slots; `nil` if it did not answer.
  private func learn(from node: RedisNode, _ began: CacheInstant) async -> Set<RedisAddress>? {
    let view: RedisTopology.View?
    // If one does not answer, the others do, or nobody is asked anything.
    do { view = try await node.view() } catch { return nil }
    guard let view else { return nil }
    state.withLock { $0.topology.learn(view) }
    join()
    state.withLock { $0.confirmed = max($0.confirmed, began) }
    return view.spares
  }

  /// Looks every now and then whether anything has changed, for as long as somebody listens: another one may have the slots, and
  /// the one who had them says nothing.
  func watch() {
    state.withLock { state in
      guard state.watch == nil, !state.isClosed else { return }
      state.watch = Task { [weak self, clock, settings] in
        while !Task.isCancelled {
          do { try await clock.sleep(until: clock.now.advanced(by: settings.pingInterval), tolerance: nil) } catch {
            return
          }
          guard let self, await self.refreshIfHeard() else { return }
        }
      }
    }
  }

  private func refreshIfHeard() async -> Bool {
    let isHeard = state.withLock { state in
      // At one moment: somebody who began to listen in between would assume that somebody looks.
      guard listeners.isEmpty else { return true }
      state.watch = nil
      return false
    }
    if isHeard { await refresh() }
    return isHeard
  }
}
#endif
