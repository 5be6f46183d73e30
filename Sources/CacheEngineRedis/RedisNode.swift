#if Redis
import CacheEngine
import CacheEngineShared
import Synchronization

/// One server: its connection, what is asked on it, and what it tells.
final class RedisNode: Sendable {
  /// What it is among others.
  enum Role: Sendable {
    /// The only one; if it is found to be of a cluster, or not at all, that is told.
    case alone(RedisHook)
    /// A primary of a cluster.
    case member
  }

  /// The server is of a cluster, and was asked as if it were alone.
  struct IsCluster: Error {}

  enum Phase {
    case idle
    case connecting
    case ready(RedisConnection)
    case pausing(until: CacheInstant, CacheError)
    case closed(CacheError)
  }

  struct State {
    var phase = Phase.idle
    /// How many attempts have failed, and connections been lost, since one proved useful.
    var failures = 0
    /// It has carried out a write.
    var wasPrimary = false
    var waiting: [UInt64: CheckedContinuation<RedisConnection, any Error>] = [:]
    var lastID: UInt64 = 0
    var work: Task<Void, Never>?
    /// The server has greeted, now or before.
    var hasGreeted = false
    /// Whether the server speaks the protocol of before version 6.
    var isOld = false
    var isListening = false
    var listeningError: CacheError?
    var hearsBy: RedisSettings.Invalidations?
    /// What listens to channels, and ends with the connection.
    var ear: RedisConnection?
    /// Why it may not be told through a channel, as far as this connection has found out, and until when that is believed.
    var channels: [[UInt8]: (refusal: CacheError?, end: CacheInstant)] = [:]
    var scriptDigest: [UInt8]?
  }

  var name: String { settings.name }
  let settings: RedisSettings

  let feeds: RedisFeeds
  /// What this process calls itself on channels.
  let instance: [UInt8]
  let role: Role
  let names: RedisNames
  let clock = SystemClock()
  let state = Mutex(State())

  init(_ settings: RedisSettings, instance: [UInt8], role: Role) {
    self.settings = settings
    self.instance = instance
    self.role = role
    names = if case .member = role { .tagged } else { .plain }
    feeds = RedisFeeds(names)
  }

  deinit { close() }

  var isConnected: Bool {
    state.withLock { if case .ready = $0.phase { true } else { false } }
  }

  var listeningError: CacheError? { state.withLock { $0.listeningError } }

  var hearsBy: RedisSettings.Invalidations? { state.withLock { $0.hearsBy } }

  var tellingError: CacheError? {
    state.withLock { state in state.channels.values.lazy.compactMap(\.refusal).first }
  }

  /// Releases the connection; whoever waits for it, or comes later, is told why.
  func close(_ reason: CacheError? = nil) {
    let error = reason ?? CacheError(.closed, "the store was closed", level: name)
    let (old, ear, work, waiting) = state.withLock { state in
      defer {
        state.phase = .closed(error)
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

  func timeSinceEpoch() async throws -> Duration {
    guard case .array(let parts) = try await ask([["TIME"]])[0], parts.count == 2,
      let seconds = parts[0].string.flatMap({ Int64($0) }), let rest = parts[1].string.flatMap({ Int64($0) })
    else { throw unexpected("TIME") }
    return .seconds(seconds) + .microseconds(rest)
  }

  /// What this server says of its cluster; `nil` if that is not to be understood.
  func view() async throws -> RedisTopology.View? {
    let reply = try await ask([["CLUSTER", "NODES"]])[0]
    return reply.string.flatMap { RedisTopology.View($0, saidBy: host, byName: settings.tls != nil) }
  }

  /// The host that it is reached at; that of its machine if it is no other.
  private var host: String { if case .host(let host, _) = settings.place { host } else { "127.0.0.1" } }

  /// What stands under names, by one MGET.
  func read(_ names: [[UInt8]], isAsking: Bool = false) async throws -> [[UInt8]?] {
    let command = [Array("MGET".utf8)] + names.map(self.names.written)
    guard case .array(let values) = try await ask([command], isAsking: isAsking)[0], values.count == names.count
    else {
      throw unexpected("MGET")
    }
    return try values.map { try bytes($0, "MGET") }
  }

  /// What stands under one name, which a server has or has not even while its slot is on its way.
  ///
  /// By MGET, too: what is not bytes is nothing to it, and an error to GET.
  func readOne(_ name: [UInt8], isAsking: Bool) async throws -> [UInt8]? {
    try await read([name], isAsking: isAsking)[0]
  }

  /// Makes changes in one moment: by a transaction, or by a script where there are conditions.
  ///
  /// What a transaction changes the server does not tell its own connection; what a script changes it does.
  func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]], isAsking: Bool = false
  ) async throws -> [[UInt8]?]? {
    let messages = try await messages(telling: changes)
    do {
      return try await commit(changes, if: conditions, reading: names, telling: messages, isAsking)
    } catch let error as CacheError where error.isLastingRefusal {
      // Perhaps it may not tell any more: the next one finds that out.
      state.withLock { state in state.channels = state.channels.filter { $0.value.refusal != nil } }
      throw error
    } catch let error as CacheError where error.code == .refusedByServer && error.message.contains("WRONGTYPE") {
      throw await removeForeign(changes.map(\.changedName) + conditions.map(\.name) + names, error, isAsking: isAsking)
    }
  }

  private func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]],
    telling messages: [RedisChannel.Message], _ isAsking: Bool
  ) async throws -> [[UInt8]?]? {
    guard conditions.isEmpty else {
      let (keys, arguments) = RedisScript.call(changes, conditions, names, telling: messages)
      let reply = try await runScript(keys.map(self.names.written), arguments, isAsking)
      if reply == .null { return nil }
      guard case .array(let values) = reply, values.count == names.count else { throw unexpected("EVALSHA") }
      noteWrite(changes)
      return try values.map { try bytes($0, "EVALSHA") }
    }
    var commands: [[[UInt8]]] = [[Array("MULTI".utf8)]]
    commands += messages.map { [Array("PUBLISH".utf8), $0.channel, $0.bytes] }
    commands += changes.map { RedisScript.command($0, self.names) }
    commands += names.map { [Array("GET".utf8), self.names.written($0)] }
    commands.append([Array("EXEC".utf8)])
    let replies = try await ask(commands, isAsking: isAsking)
    guard case .array(let values) = replies[replies.count - 1], values.count == commands.count - 2 else {
      throw unexpected("EXEC")
    }
    for value in values { try check(value) }
    noteWrite(changes)
    feeds.tellOwn(changes.map(\.changedName))
    return try values.suffix(names.count).map { try bytes($0, "EXEC") }
  }

  private func runScript(
    _ keys: [[UInt8]], _ arguments: [[UInt8]], _ isAsking: Bool
  ) async throws -> RESPValue {
    let rest = [Array(String(keys.count).utf8)] + keys + arguments
    if let digest = state.withLock({ $0.scriptDigest }) {
      do { return try await ask([[Array("EVALSHA".utf8), digest] + rest], isAsking: isAsking)[0] } catch let error
        as CacheError
        where error.code == .refusedByServer && error.message.contains("NOSCRIPT")
      {}
    }
    // It is named by the server, and sent whole where the server has forgotten it: it may be forgotten again at any moment.
    let loaded = try await ask([[Array("SCRIPT".utf8), Array("LOAD".utf8), Array(RedisScript.source.utf8)]])[0]
    guard let digest = loaded.string else { throw unexpected("SCRIPT LOAD") }
    state.withLock { $0.scriptDigest = Array(digest.utf8) }
    return try await ask([[Array("EVAL".utf8), Array(RedisScript.source.utf8)] + rest], isAsking: isAsking)[0]
  }

  private func ask(_ commands: [[String]]) async throws -> [RESPValue] {
    try await ask(commands.map { $0.map { Array($0.utf8) } })
  }

  /// Asks; `isAsking` if the server was named by another one, which sends what it has here.
  func ask(_ commands: [[[UInt8]]], isAsking: Bool = false) async throws -> [RESPValue] {
    try Task.checkCancellation()
    let connection = try await connection()
    if connection.isCluster, case .alone = role { throw IsCluster() }
    var replies = try await connection.ask((isAsking ? [[Array("ASKING".utf8)]] : []) + commands)
    if !connection.hasServed.exchange(true, ordering: .relaxed) { state.withLock { $0.failures = 0 } }
    if isAsking { try check(replies.removeFirst()) }
    for case .error(let text) in replies where text.contains("READONLY") { leaveReplica(connection, text) }
    for reply in replies { try check(reply) }
    return replies
  }

  private func noteWrite(_ changes: [SharedChange]) {
    if !changes.isEmpty { state.withLock { $0.wasPrimary = true } }
  }

  /// Ends a connection to what is no longer a primary: its name may lead to another server by now.
  ///
  /// Not more often than the longest pause, and never from what was a replica all the time.
  private func leaveReplica(_ connection: RedisConnection, _ text: String) {
    guard state.withLock(\.wasPrimary), connection.began.duration(to: clock.now) >= settings.pauses.upperBound else {
      return
    }
    connection.close(RedisRefusal.error(text, settings))
  }

  private func check(_ reply: RESPValue) throws {
    guard case .error(let text) = reply else { return }
    if case .member = role, let redirect = RedisRedirect(text, saidBy: host) { throw redirect }
    throw RedisRefusal.error(text, settings)
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
  func connect() {
    let node: @Sendable () -> RedisNode? = { [weak self] in self }
    let (ready, waiting) = state.withLock {
      state -> (Result<RedisConnection, any Error>?, [CheckedContinuation<RedisConnection, any Error>]) in
      func all() -> [CheckedContinuation<RedisConnection, any Error>] {
        defer { state.waiting = [:] }
        return Array(state.waiting.values)
      }
      switch state.phase {
      case .closed(let error): return (.failure(error), all())
      case .ready(let connection): return (.success(connection), all())
      case .connecting: return (nil, [])
      case .idle, .pausing:
        state.phase = .connecting
        state.work?.cancel()
        state.work = Task { [settings, feeds, names] in await Self.connect(settings, feeds, names, node) }
        return (nil, [])
      }
    }
    if let ready { for waiter in waiting { waiter.resume(with: ready) } }
  }

  /// The node is held only while it is told something.
  private static func connect(
    _ settings: RedisSettings, _ feeds: RedisFeeds, _ names: RedisNames,
    _ node: @escaping @Sendable () -> RedisNode?
  ) async {
    do {
      let connection = try await RedisConnection.connect(settings) { values in
        Self.pushed(values, feeds, names)
      } onClose: { connection, error in
        feeds.lose(connection, lastHeard: connection.lastHeard)
        node()?.lost(connection, error)
      }
      do {
        let isOld = try await connection.greet(isKnown: node()?.state.withLock { $0.hasGreeted } ?? false)
        guard let node = node() else { throw CacheError(.closed, "the store was closed", level: settings.name) }
        node.became(ready: connection, isOld: isOld)
      } catch {
        connection.close(
          error as? CacheError ?? CacheError(.unreachable, "the server was not reached", level: settings.name))
        throw error
      }
    } catch {
      node()?.failed(
        error as? CacheError
          ?? CacheError(.unreachable, "\(settings.address) was not reached", level: settings.name, underlying: error))
    }
  }

  private func became(ready connection: RedisConnection, isOld: Bool) {
    let waiting = state.withLock { state -> [CheckedContinuation<RedisConnection, any Error>]? in
      guard case .connecting = state.phase else { return nil }
      state.phase = .ready(connection)
      state.hasGreeted = true
      state.isOld = isOld
      state.channels = [:]
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    guard let waiting else {
      return connection.close(CacheError(.closed, "the store was closed", level: name))
    }
    for waiter in waiting { waiter.resume(returning: connection) }
    // It may have been lost before anybody knew that it was this one.
    if let error = connection.end { return lost(connection, error) }
    if connection.isCluster, case .alone(let hook) = role { return hook.foundCluster() }
    listen()
  }

  private func lost(_ connection: RedisConnection, _ error: CacheError) {
    let hasLasted = connection.began.duration(to: clock.now) >= settings.pauses.upperBound
    let (isOurs, ear) = state.withLock { state -> (Bool, RedisConnection?) in
      guard case .ready(let current) = state.phase, current === connection else { return (false, nil) }
      if hasLasted { state.failures = 0 }
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
    if !feeds.isEmpty {
      connect(after: pause)
      if case .alone(let hook) = role { hook.failed(self) }
    }
  }

  /// Listeners want a connection whether anybody asks or not.
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
}
#endif
