import CacheEngineShared

#if Redis
import CacheEngine
@testable import CacheEngineRedis
import CacheEngineTesting
import Synchronization
import TestRedis
import Testing

/// What a server may do wrong: each is an error of its own, and nothing is ever handed to another command.
@Suite(.timeLimit(.minutes(10))) struct HostileServerTests {
  static func code(_ work: () async throws -> some Sendable) async -> CacheError.Code? {
    do { _ = try await work() } catch { return (error as? CacheError)?.code }
    return nil
  }

  static func value(_ text: String) -> String { "*1\r\n$\(text.utf8.count)\r\n\(text)\r\n" }

  @Test(
    "a reply that cannot be one ends the connection; the next call has one of its own",
    arguments: [
      ("half a reply", "*1\r\n$10\r\nhal", CacheError.Code.unreachable), ("no reply at all", "", .unreachable),
      ("another kind", ":5\r\n", .invalidResponse), ("too few values", "*0\r\n", .invalidResponse),
      ("too many", "*2\r\n_\r\n_\r\n", .invalidResponse),
      ("a value of another kind", "*1\r\n:1\r\n", .invalidResponse),
      ("no protocol", "HTTP/1.1 200 OK\r\n\r\n", .invalidResponse),
      ("too long", "*1\r\n$2000000\r\n", .invalidResponse),
      ("too deep", String(repeating: "*1\r\n", count: 40), .invalidResponse),
      ("a lying length", "*1\r\n$3\r\nabcdef\r\n", .invalidResponse),
    ])
  func wrongReplies(what: String, reply: String, expected: CacheError.Code) async throws {
    let server = try await HostileServer { connection, command in
      if command[0] == "HELLO" { return .say("") }
      return connection == 1 ? .sayAndClose(reply) : .say(Self.value("right"))
    }
    let store = server.store { $0.largestReply = 1_000_000 }
    #expect(await Self.code { try await store.read([[1]]) } == expected, "\(what)")
    try await turns { await Self.code { try await store.read([[1]]) } == nil }
    #expect(try await store.read([[1]]) == [Array("right".utf8)])
    #expect(server.connectionCount == 2)
  }

  @Test(
    "whatever a server refuses is told with what helps, asked for once, and mixes up no replies",
    arguments: [
      ("LOADING Redis is loading the dataset in memory", "when it has"),
      ("OOM command not allowed when used memory > 'maxmemory'.", "maxmemory-policy"),
      ("MOVED 866 10.0.0.1:7000", "from Redis 6 on"), ("ASK 866 10.0.0.1:7000", "from Redis 6 on"),
      ("READONLY You can't write against a read only replica.", "address of the primary"),
      ("MASTERDOWN Link with MASTER is down", "address of the primary"),
      ("BUSY Redis is busy running a script.", "SCRIPT KILL"), ("NOAUTH Authentication required.", "give a password"),
      ("MISCONF Redis is configured to save RDB snapshots", "stop-writes-on-bgsave-error"),
      ("CLUSTERDOWN The cluster is down", "CLUSTER INFO"),
      ("WRONGTYPE Operation against a key holding the wrong kind of value", "remove it with DEL"),
    ])
  func refusals(words: String, remedy: String) async throws {
    let isRefusing = Mutex(true)
    let server = try await HostileServer { _, command in
      if command[0] == "HELLO" { return .say("") }
      if isRefusing.withLock({ $0 }) {
        let isQueued = command[0] == "MULTI"
        return .say(isQueued ? "+OK\r\n" : command[0] == "EXEC" ? "-EXECABORT discarded\r\n" : "-\(words)\r\n")
      }
      switch command[0] {
      case "MULTI": return .say("+OK\r\n")
      case "EXEC": return .say("*1\r\n+OK\r\n")
      case "SET": return .say("+QUEUED\r\n")
      case "SCRIPT": return .say("+digest\r\n")
      case "EVALSHA", "EVAL": return .say("*0\r\n")
      default: return .say(Self.value(command[1]))
      }
    }
    let store = server.store()
    let change = SharedChange.set([0x61], to: [1], lifetime: nil)
    let works: [@Sendable () async throws -> Void] = [
      { _ = try await store.read([[0x61]]) }, { _ = try await store.commit([change], if: [], reading: []) },
      { _ = try await store.commit([change], if: [.absent([0x61])], reading: []) },
    ]
    for work in works {
      let error = await #expect(throws: CacheError.self) { try await work() }
      #expect(error?.code == .refusedByServer && error?.message.contains(remedy) == true, "\(error as Any)")
    }
    // Nothing that was refused is asked for again.
    #expect(server.commands.count { $0[0] == "MGET" } == 1 && server.commands.count { $0[0] == "EXEC" } == 1)
    isRefusing.withLock { $0 = false }
    for work in works { try await work() }
    #expect(try await store.read([Array("b".utf8)]) == [Array("b".utf8)])
    #expect(server.connectionCount == 1)
  }

  @Test("what a server refuses before it is asked anything is told with its words and what helps")
  func refusedUnasked() async throws {
    let server = try await HostileServer { _, command in command[0] == "HELLO" ? .say("") : .say(Self.value("right")) }
    let store = server.store { $0.pauses = .seconds(60)...(.seconds(60)) }
    _ = try await store.read([[1]])
    server.say("-ERR max number of clients reached\r\n", on: 1)
    var error: CacheError?
    try await turns {
      do { _ = try await store.read([[1]]) } catch let refusal as CacheError { error = refusal }
      return error != nil
    }
    #expect(error?.code == .refusedByServer && error?.message.contains("raise maxclients") == true, "\(error as Any)")
  }

  @Test("what a server refuses is told with its words, however soon it hangs up", arguments: [false, true])
  func refusedAtOnce(isAtPort: Bool) async throws {
    let port = isAtPort ? try TestRedis.freePort() : nil
    let server = try await HostileServer(port: port, refusing: "-ERR max number of clients reached\r\n") { _, _ in
      .silence
    }
    for _ in 0..<100 {
      let store = server.store { settings in
        if let port { settings.place = .host("127.0.0.1", port: port) }
      }
      let error = await #expect(throws: CacheError.self) { try await store.read([[1]]) }
      #expect(error?.code == .refusedByServer && error?.message.contains("raise maxclients") == true, "\(error as Any)")
    }
  }

  @Test("a server that hangs up may speak TLS, unless it has greeted before")
  func knownServer() async throws {
    let known = try await HostileServer { connection, command in
      connection == 1 && command[0] == "HELLO" ? .say("") : .close
    }
    let store = known.store()
    var messages: [String] = []
    try await turns {
      do { _ = try await store.read([[1]]) } catch let error as CacheError { messages.append(error.message) }
      return known.connectionCount > 2
    }
    #expect(!messages.contains { $0.contains("rediss://") }, "\(messages)")
    let stranger = try await HostileServer { _, _ in .close }
    let error = await #expect(throws: CacheError.self) { try await stranger.store().read([[1]]) }
    #expect(error?.message.contains("if it speaks TLS, write rediss://") == true, "\(error as Any)")
  }

  @Test("a reply that nobody asked for ends the connection, with or without commands in the line")
  func unasked() async throws {
    let server = try await HostileServer { connection, command in
      if command[0] == "HELLO" { return .say("") }
      return .say(Self.value("\(connection)"))
    }
    let store = server.store()
    #expect(try await store.read([[1]]) == [Array("1".utf8)])
    server.say(Self.value("poison"), on: 1)
    try await turns { !store.isConnected }
    try await turns { await Self.code { try await store.read([[1]]) } == nil }
    #expect(try await store.read([[1]]) == [Array("2".utf8)])
  }

  @Test("a reply that is late belongs to nobody: its command has failed, and the next has a connection of its own")
  func late() async throws {
    let server = try await HostileServer { connection, command in
      if command[0] == "HELLO" { return .say("") }
      return connection == 1 ? .silence : .say(Self.value("fresh"))
    }
    let store = server.store { $0.commandLimit = .milliseconds(50) }
    #expect(await Self.code { try await store.read([[1]]) } == .timedOut)
    server.say(Self.value("stale"), on: 1)
    var answer: [[UInt8]?]?
    try await turns {
      do { answer = try await store.read([[2]]) } catch is CacheError { return false }
      return true
    }
    #expect(answer == [Array("fresh".utf8)])
  }

  @Test("what a connection that is given up has yet to send is dropped: it would come after what the next one says")
  func dropped() async throws {
    let port = try TestRedis.freePort()
    let server = try await HostileServer(port: port) { _, command in command[0] == "HELLO" ? .say("") : .silence }
    let store = server.store {
      $0.place = .host("127.0.0.1", port: port)
      $0.commandLimit = .milliseconds(50)
    }
    // One that is given up before the server has accepted it is noticed by nobody.
    try await turns {
      let code = await Self.code { try await store.read([[1]]) }
      return code == .timedOut && server.resetCount > 0
    }
  }

  @Test("who is cancelled leaves, and nobody else, also where a reply has come since he asked")
  func cancelsOne() async throws {
    let server = try await HostileServer { _, command in command[0] == "HELLO" ? .say("") : .silence }
    let store = server.store()
    func ask(_ number: UInt8) async throws -> Task<[[UInt8]?], any Error> {
      let reader = Task { try await store.read([[number]]) }
      try await turns { server.commands.count { $0[0] == "MGET" } == Int(number) }
      return reader
    }
    let (first, second, third) = (try await ask(1), try await ask(2), try await ask(3))
    server.say(Self.value("one"), on: 1)
    #expect(try await first.value == [Array("one".utf8)])
    second.cancel()
    server.say(Self.value("two") + Self.value("three"), on: 1)
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(try await third.value == [Array("three".utf8)])
  }

  @Test("who is cancelled returns at once, and the reply to him is handed to nobody")
  func cancelled() async throws {
    let server = try await HostileServer { _, command in
      if command[0] == "HELLO" { return .say("") }
      return .silence
    }
    let store = server.store()
    let first = Task { try await store.read([Array("held".utf8)]) }
    try await turns { server.commands.contains(["MGET", "held"]) }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    async let second = store.read([Array("next".utf8)])
    try await turns { server.commands.contains(["MGET", "next"]) }
    server.say(Self.value("to the first"), on: 1)
    server.say(Self.value("to the second"), on: 1)
    #expect(try await second == [Array("to the second".utf8)])
    #expect(server.connectionCount == 1)
  }

  @Test(
    "who greets in another way is refused, and told what is wrong",
    arguments: [
      ("-ERR unknown command `HELLO`\r\n", CacheError.Code.refusedByServer, "too old"),
      ("-NOPROTO unsupported protocol version\r\n", .refusedByServer, "too old"),
      ("-WRONGPASS invalid username-password pair\r\n", .refusedByServer, "WRONGPASS"),
      ("+OK\r\n", .invalidResponse, "no Redis"),
      ("HTTP/1.1 400 Bad Request\r\n\r\n", .invalidResponse, "see whether it is a Redis server"),
      ("", .timedOut, "did not answer"),
    ])
  func greetings(reply: String, expected: CacheError.Code, words: String) async throws {
    let server = try await HostileServer { _, _ in reply.isEmpty ? .silence : .say(reply) }
    let store = server.store { if reply.isEmpty { $0.commandLimit = .milliseconds(50) } }
    let error = await #expect(throws: CacheError.self) { try await store.read([[1]]) }
    #expect(error?.code == expected && error?.message.contains(words) == true, "\(String(describing: error))")
  }

  @Test(
    "the password stands in no error, whatever the server repeats of a command that it does not know",
    arguments: [RedisSettings.Invalidations.tracking, .automatic])
  func echoes(invalidations: RedisSettings.Invalidations) async throws {
    let server = try await HostileServer { _, command in
      let arguments = command.dropFirst().map { "`\($0)`, " }.joined()
      return .say("-ERR unknown command `\(command[0])`, with args beginning with: \(arguments)\r\n")
    }
    let error = await Self.refusal(of: server, invalidations)
    #expect(error.contains(invalidations == .tracking ? "`HELLO`" : "`AUTH`"), "\(error)")
    #expect(!error.contains("hunter2"), "\(error)")
    // In words of its own.
    let other = try await HostileServer { _, command in
      .say("-ERR unknown command: \(command.joined(separator: " "))\r\n")
    }
    let told = await Self.refusal(of: other, invalidations)
    #expect(told.contains("AUTH") && !told.contains("hunter2"), "\(told)")
    // Its beginning makes one character with the blank before it.
    let marked = await Self.refusal(of: other, invalidations, password: "\u{301}hunter2")
    #expect(marked.contains("AUTH") && !marked.contains("hunter2"), "\(marked)")
  }

  /// What an error says, and the one below it.
  private static func refusal(
    of server: HostileServer, _ invalidations: RedisSettings.Invalidations, password: String = "hunter2"
  ) async -> String {
    let store = server.store {
      $0.password = password
      $0.invalidations = invalidations
    }
    do { _ = try await store.read([[1]]) } catch {
      let below = (error as? CacheError)?.underlying.map { String(describing: $0) } ?? ""
      return String(describing: error) + " " + below
    }
    return ""
  }

  @Test("a port that there is not is not taken for another, where user and password would go")
  func noPort() async throws {
    let server = try await HostileServer(port: 0) { _, _ in .close }
    let port = try #require(server.port)
    for (place, connections) in [(port + 65_536, 0), (port, 1)] {
      let store = server.store { settings in
        settings.place = .host("127.0.0.1", port: place)
        settings.pauses = .seconds(1_000)...Duration.seconds(1_000)
      }
      #expect(await Self.code { try await store.read([[1]]) } == .unreachable)
      #expect(server.connectionCount == connections)
    }
  }

  @Test("while it is waited to connect again, calls fail at once; a listener is told, and hears again by itself")
  func pauses() async throws {
    let isOpen = Mutex(true)
    let server = try await HostileServer { _, command in
      guard isOpen.withLock({ $0 }) else { return .close }
      return command[0] == "HELLO" ? .say("") : command[0] == "MGET" ? .close : .say("+OK\r\n")
    }
    let store = server.store { $0.pauses = .seconds(1_000)...Duration.seconds(1_000) }
    #expect(await Self.code { try await store.read([[1]]) } == .unreachable)
    let before = server.connectionCount
    for _ in 0..<100 { #expect(await Self.code { try await store.read([[1]]) } == .unreachable) }
    #expect(server.connectionCount == before)
    let quick = server.store()
    var feed = quick.changes(of: [Array("a".utf8)]).makeAsyncIterator()
    #expect(await feed.next() == .everything(.connected))
    #expect(server.commands.last == ["CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "a", "NOLOOP"])
    #expect(await Self.code { try await quick.read([[1]]) } == .unreachable)
    let lost = await feed.next()
    if case .lost? = lost {} else { Issue.record("a lost connection was not told, but \(String(describing: lost))") }
    #expect(await feed.next() == .everything(.connected))
  }

  @Test("what is told is told on; an empty store, and nothing else, is everything")
  func pushes() async throws {
    let server = try await HostileServer { _, command in command[0] == "HELLO" ? .say("") : .say("+OK\r\n") }
    let store = server.store()
    var feed = store.changes(of: [Array("ns:".utf8)]).makeAsyncIterator()
    #expect(await feed.next() == .everything(.connected))
    server.say(">2\r\n$7\r\nmessage\r\n$1\r\nx\r\n", on: 1)
    server.say(">2\r\n$10\r\ninvalidate\r\n*2\r\n$4\r\nns:a\r\n$5\r\nother\r\n", on: 1)
    #expect(await feed.next() == .names([Array("ns:a".utf8)]))
    server.say(">2\r\n$10\r\ninvalidate\r\n_\r\n", on: 1)
    #expect(await feed.next() == .everything(.flushed))
  }

  @Test("a server that refuses to tell leaves the listener deaf and everything else at work")
  func refusesTracking() async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "CLIENT": .say("-NOPERM this user has no permissions\r\n")
      default: .say(Self.value("v"))
      }
    }
    let store = server.store { $0.invalidations = .tracking }
    let feed = store.changes(of: [Array("a".utf8)])
    try await turns { store.listeningError?.code == .refusedByServer }
    #expect(try await store.read([[1]]) == [Array("v".utf8)])
    #expect(server.connectionCount == 1)
    feed.end()
  }

  @Test("a server that hangs up as soon as it has greeted is connected to less and less often, until it answers a call")
  func hangsUp() async throws {
    let server = try await HostileServer { _, command in
      command[0] == "HELLO" ? .say("") : command.last == "good" ? .say(Self.value("v")) : .close
    }
    var settings = server.store().settings
    // No connection of this test lasts as long as that.
    settings.pauses = .milliseconds(1)...Duration.seconds(1_000)
    let node = RedisNode(settings, instance: [1], role: .member)
    func failures(_ name: String) async -> Int {
      _ = await Self.code { try await node.read([Array(name.utf8)]) }
      return node.state.withLock { $0.failures }
    }
    try await turns { await failures("bad") == 5 }
    try await turns { await Self.code { try await node.read([Array("good".utf8)]) } == nil }
    #expect(await failures("bad") == 1)
    node.close()
  }

  @Test(
    "what ends the connection each time that it is asked to report changes ends nothing else any more",
    arguments: [RedisSettings.Invalidations.tracking, .channel, .automatic])
  func endsWhenAskedToTell(invalidations: RedisSettings.Invalidations) async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "MGET": .say(Self.value("v"))
      default: .close
      }
    }
    let store = server.store {
      $0.invalidations = invalidations
      $0.pauses = .milliseconds(1)...Duration.seconds(1_000)
    }
    let feed = store.changes(of: [Array("photos:r:".utf8)])
    let words = invalidations == .channel ? "changes are not heard of" : "end when the server is asked to report"
    try await turns { store.listeningError?.message.contains(words) == true }
    #expect(store.hearsBy == nil)
    // The listener would have ended the connection by now.
    for _ in 0..<100 { #expect(try await store.read([[1]]) == [Array("v".utf8)]) }
    let asked = server.commands.filter { ["CLIENT", "SUBSCRIBE"].contains($0[0]) }.map { $0[0] }
    // Once on the connection for all, and once on one of its own.
    let tracking = ["CLIENT", "CLIENT"]
    let channel = ["SUBSCRIBE"]
    #expect(asked == (invalidations == .tracking ? tracking : invalidations == .channel ? channel : tracking + channel))
    // Nobody was refused what was not asked for.
    #expect(!server.commands.contains(["PING"]))
    feed.end()
  }

  @Test("a proxy that hangs up when it is asked to track leaves the channel to be listened to")
  func endsWhenAskedToTrack() async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "CLIENT": .close
      case "SUBSCRIBE": .say(">3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n")
      default: .say(Self.value("v"))
      }
    }
    let store = server.store { $0.pauses = .milliseconds(1)...Duration.seconds(1_000) }
    var feed = store.changes(of: [Array("photos:r:".utf8)]).makeAsyncIterator()
    #expect(await feed.next() == .everything(.connected))
    try await turns { store.hearsBy == .channel }
    #expect(try await store.read([[1]]) == [Array("v".utf8)])
    #expect(server.commands.count { $0[0] == "CLIENT" } == 2)
  }

  @Test("connections that end by chance when the server is asked to track do not keep the next ones from hearing")
  func endsByChance() async throws {
    let asked = Mutex(0)
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "CLIENT":
        asked.withLock { asked in
          asked += 1
          return asked < 5 ? .close : .say("+OK\r\n")
        }
      default: .say(Self.value("v"))
      }
    }
    let store = server.store { $0.invalidations = .tracking }
    var feed = store.changes(of: [Array("photos:r:".utf8)]).makeAsyncIterator()
    #expect(await feed.next() == .everything(.connected))
    // The one for all has ended once; then four of their own were tried, of which the last one was answered.
    #expect(asked.withLock { $0 } == 6)
    #expect(server.connectionCount == 6)
  }

  @Test("a proxy that hangs up at PUBLISH fails one write, and more of them only where others rely on messages")
  func endsWhenAskedToPublish() async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "PUBLISH": .close
      case "EXEC": .say("*1\r\n+OK\r\n")
      case "MULTI": .say("+OK\r\n")
      default: .say("+QUEUED\r\n")
      }
    }
    let change = SharedChange.set(Array("photos:r:1".utf8), to: [1], lifetime: nil)
    for invalidations in [RedisSettings.Invalidations.automatic, .channel] {
      let store = server.store {
        $0.invalidations = invalidations
        $0.pauses = .milliseconds(1)...Duration.seconds(1_000)
      }
      func write() async -> CacheError.Code? {
        await Self.code { try await store.commit([change], if: [], reading: []) }
      }
      #expect(await write() == .unreachable)
      try await turns { await write() != .unreachable }
      let before = server.connectionCount
      for _ in 0..<10 { #expect(await write() == (invalidations == .channel ? .refusedByServer : nil)) }
      #expect(server.connectionCount == before)
      #expect(store.tellingError?.message.contains("asked to publish") == true)
    }
  }

  @Test("silence is broken by a sign of life, and a link that stays silent is cut")
  func silence() async throws {
    let isSilent = Mutex(true)
    let server = try await HostileServer { _, command in
      if command[0] == "HELLO" { return .say("") }
      return command[0] == "PING" && isSilent.withLock { $0 } ? .silence : .say("+OK\r\n")
    }
    let store = server.store {
      $0.pingInterval = .milliseconds(20)
      $0.commandLimit = .milliseconds(500)
    }
    var feed = store.changes(of: [Array("a".utf8)]).makeAsyncIterator()
    #expect(await feed.next() == .everything(.connected))
    let lost = await feed.next()
    if case .lost? = lost {} else { Issue.record("silence was not noticed, but \(String(describing: lost))") }
    isSilent.withLock { $0 = false }
    // It may be silent once more before that.
    while let change = await feed.next(), change != .everything(.connected) {}
    #expect(server.commands.contains(["PING"]))
  }
}
#endif
