#if Redis
public import CacheEngine
public import CacheEngineShared
import Synchronization

/// A Redis or Valkey server as a store that processes share, and as the bus that reports their changes.
///
/// ```swift
/// let redis = RedisStore(try RedisSettings(url: "redis://localhost"))
/// let shared = try SharedCacheLevel<String, Data>(redis, namespace: "photos", valueCoding: .data)
/// let photos = memory.compose(shared, coherence: Coherence(redis, of: shared))
/// ```
///
/// It needs Redis 6 or newer, or Valkey, and speaks RESP3. All tasks share one connection, which is made when it is first
/// needed and again when it is lost, with growing pauses; during a pause, calls fail at once. The same connection listens, so
/// replies and the server's reports of others' changes arrive in one order.
///
/// If the server does not report changes, because the user may not ask for that, because of a proxy, or before version 6, processes
/// notify each other through a channel of the namespace, to which a second connection listens: see ``RedisSettings/Invalidations``.
/// Both connections end together, and after that everything above is in doubt, as usual. If a connection ends when the server is
/// asked to report changes, or to publish them, with a refusal or without, a connection of its own tries that first from then on; if that
/// ends as well, it counts as refused.
///
/// A call fails with `CacheError.Code.unreachable`, `CacheError.Code.timedOut`, `CacheError.Code.overloaded`,
/// `CacheError.Code.invalidResponse`, or `CacheError.Code.refusedByServer` with the words of the server: a wrong password, a
/// read-only replica, a server that is full. None of them is retried. If a server that used to accept writes refuses them because it
/// has become a replica, the connection is replaced, as often as after a loss, since the address may by then lead to another server.
/// If something other than bytes, a list say, has a name of the namespace, the write that meets it fails and removes it.
///
/// A server that belongs to a cluster is recognised, and the others are found; see ``RedisSettings/others``. There, all names of a
/// namespace are in one slot, on one primary, and redirections are followed: `MOVED`, `ASK`. While a namespace is being moved from one
/// server to another, a write waits for at most ``RedisSettings/commandLimit`` and then fails. The store listens to all primaries, and
/// asks every ``RedisSettings/pingInterval`` which of them has which slots; while one of them is gone and not yet replaced, this process
/// counts as deaf, as without a connection.
public final class RedisStore: SharedStore, InvalidationBus {
  private struct State {
    /// Which of the addresses is asked, while it is not known to be of a cluster.
    var place = 0
    var cluster: RedisCluster?
    var isClosed = false
  }

  /// The name of the store in errors.
  public var name: String { settings.name }
  /// The address of the server, and how to use it.
  public let settings: RedisSettings

  private let listeners: RedisListeners
  private let instance: [UInt8]
  private let clock = SystemClock()
  private let state = Mutex(State())
  /// The addresses of the settings, of which one is asked unless it is of a cluster.
  private let named: [RedisNode]
  private let hook: RedisHook

  /// Creates a store; it connects when it is needed.
  ///
  /// - Parameter settings: The address of the server, and how to use it.
  public init(_ settings: RedisSettings) {
    self.settings = settings
    let (listeners, instance, hook) = (RedisListeners(), RedisChannel.newInstance(), RedisHook())
    self.listeners = listeners
    self.instance = instance
    self.hook = hook
    named = ([settings.place] + settings.others).map { place in
      var settings = settings
      settings.place = place
      return RedisNode(settings, instance: instance, role: .alone(hook))
    }
    hook.store.withLock { $0.store = self }
    listeners.set([named[0]], lastHeard: clock.now, step: listeners.nextStep())
  }

  deinit { close() }

  private var nodes: [RedisNode] {
    let (place, cluster) = state.withLock { ($0.place, $0.cluster) }
    return cluster?.nodes ?? [named[place]]
  }

  /// Whether there is a connection at this moment; to a cluster, one to each primary.
  public var isConnected: Bool {
    let nodes = nodes
    return !nodes.isEmpty && nodes.allSatisfy(\.isConnected)
  }

  /// Why the server does not report changes, if it was asked to and refuses; everything above is then served as when deaf.
  public var listeningError: CacheError? { nodes.lazy.compactMap(\.listeningError).first }

  /// How changes are heard, ``RedisSettings/Invalidations/tracking`` or ``RedisSettings/Invalidations/channel``; `nil` while
  /// they are not.
  public var hearsBy: RedisSettings.Invalidations? {
    let ways = nodes.map(\.hearsBy)
    if ways.contains(nil) { return nil }
    return ways.contains(.channel) ? .channel : ways.first ?? nil
  }

  /// Why this process does not publish its changes on the channel of a namespace, if the server refuses.
  ///
  /// Processes that hear by tracking are not affected. With ``RedisSettings/Invalidations/channel``, and where tracking is refused,
  /// this is the error of every write.
  public var tellingError: CacheError? { nodes.lazy.compactMap(\.tellingError).first }

  /// Closes the connections; every later call fails with `CacheError.Code.closed`.
  public func close() {
    let cluster = state.withLock { state in
      state.isClosed = true
      return state.cluster
    }
    for node in named { node.close() }
    cluster?.close()
  }

  // MARK: Store

  /// The server's time of day; in a cluster, that of the first primary which answers, in the order of slots.
  public func timeSinceEpoch() async throws -> Duration {
    try await ask {
      try await $0.timeSinceEpoch()
    } ofCluster: {
      try await $0.time()
    }
  }

  /// Returns the bytes under names, by one MGET; in a cluster, by one for each slot that they are in.
  ///
  /// Names in one slot are read as of one moment, unless the slot is being moved to another server: then they are read one by one, in
  /// their order.
  public func read(_ names: [[UInt8]]) async throws -> [[UInt8]?] {
    if names.isEmpty { return [] }
    return try await ask {
      try await $0.read(names)
    } ofCluster: { cluster in
      let slots = Dictionary(grouping: names.indices) { RedisSlot.of(RedisNames.tagged.written(names[$0])) }
      if slots.count == 1, let slot = slots.keys.first { return try await Self.read(names, of: slot, cluster) }
      return try await withThrowingTaskGroup(of: ([Int], [[UInt8]?]).self) { group in
        for (slot, places) in slots {
          group.addTask { (places, try await Self.read(places.map { names[$0] }, of: slot, cluster)) }
        }
        var found = [[UInt8]?](repeating: nil, count: names.count)
        for try await (places, values) in group { for (place, value) in zip(places, values) { found[place] = value } }
        return found
      }
    }
  }

  private static func read(_ names: [[UInt8]], of slot: Int, _ cluster: RedisCluster) async throws -> [[UInt8]?] {
    do {
      return try await cluster.ask(slot: slot, waits: false) { try await $0.read(names, isAsking: $1) }
    } catch RedisRedirect.tryAgain {
      var found: [[UInt8]?] = []
      for name in names {
        found.append(try await cluster.ask(slot: slot) { try await $0.readOne(name, isAsking: $1) })
      }
      return found
    }
  }

  /// Makes changes atomically: by a transaction, or by a script if there are conditions.
  ///
  /// The server does not report the changes of a transaction to its own connection, but does report those of a script. In a cluster, all
  /// names must be of one namespace.
  public func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]? {
    try await ask {
      try await $0.commit(changes, if: conditions, reading: names)
    } ofCluster: { [name] cluster in
      let all = changes.map(\.changedName) + conditions.map(\.name) + names
      let slots = Set(all.map { RedisSlot.of(RedisNames.tagged.written($0)) })
      guard let slot = slots.first else { return [] }
      guard slots.count == 1 else {
        throw CacheError(
          .refusedByServer,
          "the names are in \(slots.count) slots of a cluster, and are changed in one moment in one only",
          level: name)
      }
      return try await cluster.ask(slot: slot) {
        try await $0.commit(changes, if: conditions, reading: names, isAsking: $1)
      }
    }
  }

  // MARK: Servers

  private func ask<Answer>(
    _ alone: (RedisNode) async throws -> Answer, ofCluster: (RedisCluster) async throws -> Answer
  ) async throws -> Answer {
    for attempt in 0..<named.count {
      let (cluster, place) = state.withLock { ($0.cluster, $0.place) }
      if let cluster { return try await ofCluster(cluster) }
      do { return try await alone(named[place]) } catch is RedisNode.IsCluster {
        becomeCluster()
        break
      } catch let error as CacheError where error.code == .unreachable || error.code == .closed {
        goOn(from: named[place])
        if attempt == named.count - 1, state.withLock({ $0.cluster == nil }) { throw error }
      }
    }
    guard let cluster = state.withLock({ $0.cluster }) else {
      throw CacheError(.closed, "the store was closed", level: name)
    }
    return try await ofCluster(cluster)
  }

  /// Asks the next address from now on, if this one does not answer and there are others.
  fileprivate func goOn(from node: RedisNode) {
    if named.count == 1 { return }
    let step = state.withLock { state -> (RedisNode, UInt64)? in
      guard state.cluster == nil, !state.isClosed, named[state.place] === node else { return nil }
      state.place = (state.place + 1) % named.count
      return (named[state.place], listeners.nextStep())
    }
    if let (next, step) = step { listeners.set([next], lastHeard: clock.now, step: step) }
  }

  /// What was asked is one of a cluster.
  fileprivate func becomeCluster() {
    let new = RedisCluster(settings, listeners, instance: instance)
    let step = state.withLock { state -> UInt64? in
      guard state.cluster == nil, !state.isClosed else { return nil }
      state.cluster = new
      return listeners.nextStep()
    }
    guard let step else { return }
    listeners.set([], lastHeard: clock.now, step: step)
    for node in named { node.close() }
    new.refreshSoon()
  }

  // MARK: Bus

  /// Listens for changes of names with a prefix, by client-side tracking in broadcasting mode or by a channel of the
  /// namespace, as ``RedisSettings/invalidations`` says.
  ///
  /// The listener of this connection does not hear of its own unconditional changes, unless others in this process
  /// listen for the same names.
  public func changes(of prefixes: [[UInt8]]) -> InvalidationFeed {
    let feed = listeners.add(prefixes)
    state.withLock({ $0.cluster })?.watch()
    return feed
  }
}

/// Tells a store what its first connection finds out, and keeps it from nothing.
final class RedisHook: Sendable {
  fileprivate struct Box { weak var store: RedisStore? }
  fileprivate let store = Mutex(Box())

  func foundCluster() { store.withLock { $0.store }?.becomeCluster() }
  func failed(_ node: RedisNode) { store.withLock { $0.store }?.goOn(from: node) }
}

extension SharedCondition {
  var name: [UInt8] {
    switch self {
    case .absent(let name), .begins(let name, _): name
    }
  }
}

extension CacheError.Code {
  /// A server carried out nothing and said why: see the message.
  public static let refusedByServer = CacheError.Code(rawValue: "refusedByServer")
}
#endif
