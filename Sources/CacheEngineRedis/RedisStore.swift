#if Redis
public import CacheEngine
public import CacheEngineShared
import Synchronization

/// A Redis or Valkey server as the store that processes share, and as the bus that tells their changes.
///
/// ```swift
/// let redis = RedisStore(try RedisSettings(url: "redis://localhost"))
/// let shared = try SharedCacheLevel<String, Data>(redis, namespace: "photos", valueCoding: .data)
/// let photos = memory.compose(shared, coherence: Coherence(redis, of: shared))
/// ```
///
/// It needs Redis 6 or newer, or Valkey, and speaks RESP3. All tasks share one connection, which is made when it is needed
/// first and again when it is lost, with growing pauses; while there is a pause, calls fail at once. The same connection listens:
/// replies and what the server tells of others' changes come in one order.
///
/// Where the server refuses to tell, as to a user who may not, through a proxy, or before version 6, processes tell each
/// other through a channel of the namespace, to which a second connection listens: see ``RedisSettings/Invalidations``. Both
/// connections end together, and after that everything above is in doubt, as ever.
///
/// A call fails with `CacheError.Code.unreachable`, `CacheError.Code.timedOut`, `CacheError.Code.overloaded`,
/// `CacheError.Code.invalidResponse`, or `CacheError.Code.refusedByServer` with the words of the server: a wrong password, a
/// read-only replica, a server that is full. None of them is tried again.
///
/// A cluster is not followed: give it the address of a server that holds all keys.
public final class RedisStore: SharedStore, InvalidationBus {
  enum Phase {
    case idle
    case connecting
    case ready(RedisConnection)
    case pausing(until: CacheInstant, CacheError)
    case closed
  }

  struct State {
    var phase = Phase.idle
    var failures = 0
    var waiting: [UInt64: CheckedContinuation<RedisConnection, any Error>] = [:]
    var lastID: UInt64 = 0
    var work: Task<Void, Never>?
    /// Whether the server speaks the protocol of before version 6.
    var isOld = false
    var isListening = false
    var listeningError: CacheError?
    var hearsBy: RedisSettings.Invalidations?
    /// What listens to channels, and ends with the connection.
    var ear: RedisConnection?
    /// Whether it may be told through a channel, as far as this connection has found out.
    var channels: [[UInt8]: CacheError?] = [:]
    var scriptDigest: [UInt8]?
  }

  /// What the store is called in errors.
  public var name: String { settings.name }
  /// Where the server is, and what is asked of it.
  public let settings: RedisSettings

  let feeds = RedisFeeds()
  /// What this process calls itself on channels.
  let instance = RedisChannel.newInstance()
  let clock = SystemClock()
  let state = Mutex(State())

  /// Creates a store; it connects when it is needed.
  ///
  /// - Parameter settings: Where the server is, and what is asked of it.
  public init(_ settings: RedisSettings) { self.settings = settings }

  deinit { close() }

  /// Whether there is a connection at this moment.
  public var isConnected: Bool {
    state.withLock { if case .ready = $0.phase { true } else { false } }
  }

  /// Why the server does not tell of changes, if it was asked to and refuses; everything above is served as if it were deaf.
  public var listeningError: CacheError? { state.withLock { $0.listeningError } }

  /// How changes are heard, ``RedisSettings/Invalidations/tracking`` or ``RedisSettings/Invalidations/channel``; `nil` while
  /// they are not.
  public var hearsBy: RedisSettings.Invalidations? { state.withLock { $0.hearsBy } }

  /// Why this process does not tell others through a channel of a namespace, if it wanted to and the server refuses.
  ///
  /// Those who hear by tracking hear nevertheless. With ``RedisSettings/Invalidations/channel``, and where tracking is refused,
  /// this is the error of every write.
  public var tellingError: CacheError? {
    state.withLock { state in state.channels.values.lazy.compactMap(\.self).first }
  }

  /// Lets go of the connection; every later call fails with `CacheError.Code.closed`.
  public func close() {
    let error = CacheError(.closed, "the store was closed", level: name)
    let (old, ear, work, waiting) = state.withLock { state in
      defer {
        state.phase = .closed
        state.ear = nil
        state.work = nil
        state.waiting = [:]
      }
      return (state.phase, state.ear, state.work, state.waiting.values.map(\.self))
    }
    work?.cancel()
    for waiter in waiting { waiter.resume(throwing: error) }
    if case .ready(let connection) = old { connection.close(error) }
    ear?.close(error)
  }

  // MARK: Store

  /// The server's time of day.
  public func timeSinceEpoch() async throws -> Duration {
    guard case .array(let parts) = try await ask([["TIME"]])[0], parts.count == 2,
      let seconds = parts[0].string.flatMap({ Int64($0) }), let rest = parts[1].string.flatMap({ Int64($0) })
    else { throw unexpected("TIME") }
    return .seconds(seconds) + .microseconds(rest)
  }

  /// What stands under names, by one MGET.
  public func read(_ names: [[UInt8]]) async throws -> [[UInt8]?] {
    if names.isEmpty { return [] }
    guard case .array(let values) = try await ask([[Array("MGET".utf8)] + names])[0], values.count == names.count
    else {
      throw unexpected("MGET")
    }
    return try values.map { try bytes($0, "MGET") }
  }

  /// Makes changes in one moment: by a transaction, or by a script where there are conditions.
  ///
  /// What a transaction changes the server does not tell its own connection; what a script changes it does.
  public func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]? {
    let changed = changes.map(\.changedName)
    let messages = try await messages(telling: changes)
    guard conditions.isEmpty else {
      let (keys, arguments) = RedisScript.call(changes, conditions, names, telling: messages)
      let reply = try await runScript(keys, arguments)
      if reply == .null { return nil }
      guard case .array(let values) = reply, values.count == names.count else { throw unexpected("EVALSHA") }
      return try values.map { try bytes($0, "EVALSHA") }
    }
    var commands: [[[UInt8]]] = [[Array("MULTI".utf8)]]
    commands += messages.map { [Array("PUBLISH".utf8), $0.channel, $0.bytes] }
    commands += changes.map(RedisScript.command) + names.map { [Array("GET".utf8), $0] }
    commands.append([Array("EXEC".utf8)])
    let replies = try await ask(commands)
    guard case .array(let values) = replies[replies.count - 1], values.count == commands.count - 2 else {
      throw unexpected("EXEC")
    }
    for value in values { try check(value) }
    feeds.tellOwn(changed)
    return try values.suffix(names.count).map { try bytes($0, "EXEC") }
  }

  private func runScript(_ keys: [[UInt8]], _ arguments: [[UInt8]]) async throws -> RESPValue {
    let rest = [Array(String(keys.count).utf8)] + keys + arguments
    if let digest = state.withLock({ $0.scriptDigest }) {
      do { return try await ask([[Array("EVALSHA".utf8), digest] + rest])[0] } catch let error as CacheError
        where error.code == .refusedByServer && error.message.contains("NOSCRIPT")
      {}
    }
    // It is named by the server, and sent whole where the server has forgotten it.
    let loaded = try await ask([[Array("SCRIPT".utf8), Array("LOAD".utf8), Array(RedisScript.source.utf8)]])[0]
    guard let digest = loaded.string else { throw unexpected("SCRIPT LOAD") }
    state.withLock { $0.scriptDigest = Array(digest.utf8) }
    return try await ask([[Array("EVALSHA".utf8), Array(digest.utf8)] + rest])[0]
  }

  private func ask(_ commands: [[String]]) async throws -> [RESPValue] {
    try await ask(commands.map { $0.map { Array($0.utf8) } })
  }

  private func ask(_ commands: [[[UInt8]]]) async throws -> [RESPValue] {
    try Task.checkCancellation()
    let replies = try await connection().ask(commands)
    for reply in replies { try check(reply) }
    return replies
  }

  private func check(_ reply: RESPValue) throws {
    if case .error(let text) = reply { throw RedisRefusal.error(text, level: name) }
  }

  private func bytes(_ value: RESPValue, _ command: String) throws -> [UInt8]? {
    switch value {
    case .null: return nil
    case .bytes(let bytes): return bytes
    default: throw unexpected(command)
    }
  }

  /// What answers so may have confused its commands.
  private func unexpected(_ command: String) -> CacheError {
    let error = CacheError(
      .invalidResponse, "the server's reply to \(command) is of another kind than Redis gives", level: name)
    if case .ready(let connection) = state.withLock({ $0.phase }) { connection.close(error) }
    return error
  }

  // MARK: Connection

  func connection() async throws -> RedisConnection {
    switch state.withLock({ $0.phase }) {
    case .ready(let connection): return connection
    case .pausing(let end, let error) where clock.now < end: throw error
    default: break
    }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ready = state.withLock { state -> RedisConnection? in
          if case .ready(let connection) = state.phase { return connection }
          state.waiting[id] = continuation
          return nil
        }
        if let ready { return continuation.resume(returning: ready) }
        connect()
        if Task.isCancelled { leave(id) }
      }
    } onCancel: {
      leave(id)
    }
  }

  private func leave(_ id: UInt64) {
    state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
  }

  /// Begins to connect, unless that is under way or done.
  private func connect() {
    let store: @Sendable () -> RedisStore? = { [weak self] in self }
    let (ready, waiting) = state.withLock {
      state -> (Result<RedisConnection, any Error>?, [CheckedContinuation<RedisConnection, any Error>]) in
      func all() -> [CheckedContinuation<RedisConnection, any Error>] {
        defer { state.waiting = [:] }
        return Array(state.waiting.values)
      }
      switch state.phase {
      case .closed: return (.failure(CacheError(.closed, "the store was closed", level: name)), all())
      case .ready(let connection): return (.success(connection), all())
      case .connecting: return (nil, [])
      case .idle, .pausing:
        state.phase = .connecting
        state.work?.cancel()
        state.work = Task { [settings, feeds] in await Self.connect(settings, feeds, store) }
        return (nil, [])
      }
    }
    if let ready { for waiter in waiting { waiter.resume(with: ready) } }
  }

  /// The store is held only while it is told something.
  private static func connect(
    _ settings: RedisSettings, _ feeds: RedisFeeds, _ store: @escaping @Sendable () -> RedisStore?
  ) async {
    do {
      let connection = try await RedisConnection.connect(settings) { values in
        Self.pushed(values, feeds)
      } onClose: { connection, error in
        feeds.lose(connection, lastHeard: connection.lastHeard)
        store()?.lost(connection, error)
      }
      do {
        let isOld = try await connection.greet(settings)
        guard let store = store() else { throw CacheError(.closed, "the store was closed", level: settings.name) }
        store.became(ready: connection, isOld: isOld)
      } catch {
        connection.close(
          error as? CacheError ?? CacheError(.unreachable, "the server was not reached", level: settings.name))
        throw error
      }
    } catch {
      store()?.failed(
        error as? CacheError
          ?? CacheError(.unreachable, "\(settings.address) was not reached", level: settings.name, underlying: error))
    }
  }

  private func became(ready connection: RedisConnection, isOld: Bool) {
    let waiting = state.withLock { state -> [CheckedContinuation<RedisConnection, any Error>]? in
      guard case .connecting = state.phase else { return nil }
      state.phase = .ready(connection)
      state.isOld = isOld
      state.channels = [:]
      state.failures = 0
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    guard let waiting else {
      return connection.close(CacheError(.closed, "the store was closed", level: name))
    }
    for waiter in waiting { waiter.resume(returning: connection) }
    // It may have been lost before anybody knew that it was this one.
    if let error = connection.end { return lost(connection, error) }
    listen()
  }

  private func lost(_ connection: RedisConnection, _ error: CacheError) {
    let (isOurs, ear) = state.withLock { state -> (Bool, RedisConnection?) in
      guard case .ready(let current) = state.phase, current === connection else { return (false, nil) }
      state.hearsBy = nil
      return (true, state.ear.take())
    }
    ear?.close(error)
    if isOurs { failed(error) }
  }

  private func failed(_ error: CacheError) {
    let now = clock.now
    let (pause, waiting) = state.withLock {
      state -> (Duration, [CheckedContinuation<RedisConnection, any Error>]) in
      if case .closed = state.phase { return (.zero, []) }
      let growing = settings.pauses.lowerBound * Double(1 << min(state.failures, 20))
      let pause = min(growing, settings.pauses.upperBound) * Double.random(in: 0.5...1)
      state.failures += 1
      state.phase = .pausing(until: now.advanced(by: pause), error)
      defer { state.waiting = [:] }
      return (pause, Array(state.waiting.values))
    }
    for waiter in waiting { waiter.resume(throwing: error) }
    if !feeds.isEmpty { connect(after: pause) }
  }

  /// Who listens wants a connection whether anybody asks or not.
  private func connect(after pause: Duration) {
    state.withLock { state in
      guard case .pausing = state.phase else { return }
      state.work?.cancel()
      state.work = Task { [weak self, clock] in
        do { try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil) } catch { return }
        self?.connect()
      }
    }
  }

  // MARK: Bus

  /// Listens for changes of names that begin so, by client-side tracking in broadcasting mode or by a channel of the
  /// namespace, as ``RedisSettings/invalidations`` says.
  ///
  /// A caller whose connection it is does not hear of what it changed without conditions, unless others in this process
  /// listen for the same names.
  public func changes(of prefixes: [[UInt8]]) -> InvalidationFeed {
    let feed = feeds.add(prefixes) {}
    if case .ready = state.withLock({ $0.phase }) { listen() } else { connect() }
    return feed
  }
}

extension CacheError.Code {
  /// A server carried out nothing and said why: see the message.
  public static let refusedByServer = CacheError.Code(rawValue: "refusedByServer")
}
#endif
