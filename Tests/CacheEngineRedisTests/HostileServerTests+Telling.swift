import CacheEngineShared

#if Redis
import CacheEngine
@testable import CacheEngineRedis
import CacheEngineTesting
import Synchronization
import Testing

/// What a server may do wrong when it is asked to tell of changes, or to pass them on.
extension HostileServerTests {
  private static let listens = ">3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n"
  private static let change = SharedChange.set(Array("photos:r:1".utf8), to: [1], lifetime: nil)

  private static func invalidation(_ name: String) -> String {
    ">2\r\n$10\r\ninvalidate\r\n*1\r\n$\(name.utf8.count)\r\n\(name)\r\n"
  }

  @Test("while the server is asked to tell more, it tells nothing: those who hear already are told to doubt everything")
  func widens() async throws {
    let server = try await HostileServer { _, command in
      .say(command[0] == "HELLO" ? "" : command[0] == "EXEC" ? "*2\r\n+OK\r\n+OK\r\n" : "+OK\r\n")
    }
    let store = server.store()
    var narrow = store.changes(of: [Array("photos:r:".utf8)]).makeAsyncIterator()
    #expect(await narrow.next() == .everything(.connected))
    var wide = store.changes(of: [Array("photos:".utf8)]).makeAsyncIterator()
    #expect(await wide.next() == .everything(.connected))
    server.say(Self.invalidation("photos:r:1"), on: 1)
    #expect(await narrow.next() == .everything(.overflow))
    #expect(await narrow.next() == .names([Array("photos:r:1".utf8)]))
  }

  @Test("if the server tells neither more nor what it told before, the connection ends, and those who heard know")
  func widensNot() async throws {
    let server = try await HostileServer { _, command in
      .say(command[0] == "HELLO" ? "" : command[0] == "EXEC" ? "*2\r\n+OK\r\n-ERR no\r\n" : "+OK\r\n")
    }
    let store = server.store()
    var narrow = store.changes(of: [Array("photos:r:".utf8)]).makeAsyncIterator()
    #expect(await narrow.next() == .everything(.connected))
    let wide = store.changes(of: [Array("photos:".utf8)])
    try await turns { server.connectionCount >= 2 }
    // If it has not yet been taken that nothing is heard, that everything is heard again takes its place.
    while let change = await narrow.next(), change != .everything(.connected) {}
    wide.end()
  }

  @Test("a server that refuses to tell more goes on telling what it was asked for before")
  func refusesMore() async throws {
    let asked = Mutex(0)
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "SUBSCRIBE": .say(Self.listens)
      default:
        asked.withLock { asked in
          asked += 1
          return .say(asked == 1 ? "+OK\r\n" : "-NOPERM this user has no permissions\r\n")
        }
      }
    }
    let store = server.store()
    var first = store.changes(of: [Array("photos:r:".utf8)]).makeAsyncIterator()
    #expect(await first.next() == .everything(.connected))
    let second = store.changes(of: [Array("music:r:".utf8)])
    try await turns { store.listeningError?.message.contains("NOPERM") == true }
    server.say(Self.invalidation("photos:r:1"), on: 1)
    #expect(await first.next() == .names([Array("photos:r:1".utf8)]))
    #expect(!server.commands.contains { $0[0] == "SUBSCRIBE" })
    second.end()
  }

  @Test("a connection that takes the place of one on which it was still found out how to hear is listened to as well")
  func replacedWhileAsked() async throws {
    let server = try await Self.silentOnSecondConnection()
    let store = server.store()
    let feed = store.changes(of: [Array("photos:r:".utf8)])
    // The second one is to listen to the channel.
    try await turns { server.commands.count { $0[0] == "HELLO" } == 2 }
    server.say("+unasked\r\n", on: 1)
    try await turns { server.commands.count { $0[0] == "HELLO" } == 3 && store.isConnected }
    server.say(HostileServer.greeting, on: 2)
    try await turns { store.hearsBy == .channel }
    feed.end()
  }

  @Test("whoever stops listening while a connection is made for that holds up nobody who begins to listen afterwards")
  func leavesWhileAsked() async throws {
    let server = try await Self.silentOnSecondConnection()
    let store = server.store()
    let first = store.changes(of: [Array("photos:r:".utf8)])
    // The second one is to listen to the channel.
    try await turns { server.commands.count { $0[0] == "HELLO" } == 2 }
    first.end()
    server.say(HostileServer.greeting, on: 2)
    try await turns { store.hearsBy == .channel }
    var second = store.changes(of: [Array("photos:r:".utf8)]).makeAsyncIterator()
    #expect(await second.next() == .everything(.connected))
    #expect(server.connectionCount == 2)
  }

  @Test("a proxy that refuses and hangs up when it is asked to track ends one connection, and leaves the channel")
  func refusesTrackingAndEnds() async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "CLIENT": .sayAndClose("-ERR unknown command 'CLIENT'\r\n")
      case "PING": .say("+PONG\r\n")
      case "SUBSCRIBE": .say(Self.listens)
      default: .say(Self.value("v"))
      }
    }
    let store = server.store { $0.pauses = .milliseconds(1)...Duration.seconds(1_000) }
    let feed = store.changes(of: [Array("photos:r:".utf8)])
    try await turns { store.hearsBy == .channel }
    let connections = server.connectionCount
    for _ in 0..<10 { #expect(try await store.read([[1]]) == [Array("v".utf8)]) }
    // Once on the connection for all, and once on one of its own.
    #expect(server.commands.count { $0[0] == "CLIENT" } == 2)
    #expect(server.connectionCount == connections && store.hearsBy == .channel)
    feed.end()
  }

  @Test(
    "a proxy that refuses and hangs up at PUBLISH fails one write, and more of them only where others rely on messages",
    arguments: [RedisSettings.Invalidations.automatic, .channel])
  func refusesPublishingAndEnds(invalidations: RedisSettings.Invalidations) async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "PUBLISH": .sayAndClose("-ERR unknown command 'PUBLISH'\r\n")
      case "PING": .say("+PONG\r\n")
      case "EXEC": .say("*1\r\n+OK\r\n")
      case "MULTI": .say("+OK\r\n")
      default: .say("+QUEUED\r\n")
      }
    }
    let store = server.store {
      $0.invalidations = invalidations
      $0.pauses = .milliseconds(1)...Duration.seconds(1_000)
    }
    func write() async -> CacheError.Code? {
      await Self.code { try await store.commit([Self.change], if: [], reading: []) }
    }
    #expect(await write() == .unreachable)
    try await turns { await write() != .unreachable }
    let before = server.connectionCount
    for _ in 0..<10 { #expect(await write() == (invalidations == .channel ? .refusedByServer : nil)) }
    #expect(server.connectionCount == before)
    #expect(store.tellingError?.message.contains("asked to publish") == true)
    #expect(server.commands.count { $0[0] == "PUBLISH" } == 2)
  }

  @Test("that changes may not be published any more fails one write")
  func publishesNoMore() async throws {
    let answers = Mutex((publish: "+QUEUED\r\n", exec: "*2\r\n:0\r\n+OK\r\n"))
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "PUBLISH": .say(answers.withLock { $0.publish })
      case "EXEC": .say(answers.withLock { $0.exec })
      default: .say("+OK\r\n")
      }
    }
    let store = server.store()
    func write() async -> CacheError.Code? {
      await Self.code { try await store.commit([Self.change], if: [], reading: []) }
    }
    #expect(await write() == nil)
    answers.withLock { $0 = ("-NOPERM no channels\r\n", "-EXECABORT\r\n") }
    #expect(await write() == .refusedByServer)
    #expect(store.tellingError == nil)
    answers.withLock { $0.exec = "*1\r\n+OK\r\n" }
    #expect(await write() == nil)
    #expect(store.tellingError != nil)
  }

  @Test("what a server refuses within a transaction has failed")
  func refusedWithin() async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "EXEC": .say("*1\r\n-OOM command not allowed\r\n")
      default: .say("+OK\r\n")
      }
    }
    let store = server.store { $0.invalidations = .tracking }
    #expect(await Self.code { try await store.commit([Self.change], if: [], reading: []) } == .refusedByServer)
  }

  @Test("no more commands than that wait for their replies; one that was cancelled before is not waited for")
  func mostWaiting() async throws {
    let server = try await HostileServer { _, command in command[0] == "HELLO" ? .say("") : .silence }
    let store = server.store { $0.mostWaiting = 2 }
    let waiting = (0..<2).map { number in Task { try await store.read([[UInt8(number)]]) } }
    try await turns { server.commands.count { $0[0] == "MGET" } == 2 }
    #expect(await Self.code { try await store.read([[3]]) } == .overloaded)
    store.close()
    for waiter in waiting { await #expect(throws: CacheError.self) { try await waiter.value } }
    let connection = try await RedisConnection.connect(store.settings) { _ in
    } onClose: { _, _ in
    }
    let gate = Gate()
    let cancelled = Task {
      do { try await gate.pass() } catch is CancellationError {}
      return try await connection.ask([[Array("PING".utf8)]])
    }
    await gate.arrivals(1)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    connection.close(CacheError(.closed, "the test is over"))
  }

  @Test("those who listen to a channel know that they hear nothing as soon as the connection beside it is lost")
  func lostBeside() async throws {
    let server = try await HostileServer { connection, command in
      switch command[0] {
      case "HELLO": connection > 2 ? .silence : .say("")
      case "SUBSCRIBE": .say(Self.listens)
      default: .say("-NOPERM this user has no permissions\r\n")
      }
    }
    let node = RedisNode(server.store().settings, instance: [1], role: .member)
    let told = Mutex<[SharedInvalidation]>([])
    node.listen(1, [Array("photos:r:".utf8)]) { change in told.withLock { $0.append(change) } }
    try await turns { node.hearsBy == .channel }
    server.say("+unasked\r\n", on: 1)
    try await turns { told.withLock { $0.contains { if case .lost = $0 { true } else { false } } } }
    node.close()
  }

  @Test("whoever listens to a server's commands is told at once that the server is gone")
  func monitorEnds() async throws {
    let server = try await HostileServer { _, command in
      command[0] == "HELLO" ? .say("") : .sayAndClose("+OK\r\n")
    }
    let inspection = RedisInspection(server.store().settings)
    let isOver = Mutex(false)
    let listening = Task {
      defer { isOver.withLock { $0 = true } }
      return await Self.code { try await inspection.monitor(for: .seconds(600), atMost: 10) { _ in }.commands }
    }
    defer { listening.cancel() }
    try await turns { isOver.withLock(\.self) }
    #expect(await listening.value == .unreachable)
  }

  @Test("what has been a replica all the time is not left when it refuses to be written to")
  func replica() async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "EXEC": .say("-READONLY You can't write against a read only replica.\r\n")
      default: .say("+OK\r\n")
      }
    }
    let store = server.store {
      $0.invalidations = .tracking
      // By then it could be left.
      $0.pauses = .zero...Duration.zero
    }
    for _ in 0..<3 {
      #expect(await Self.code { try await store.commit([Self.change], if: [], reading: []) } == .refusedByServer)
    }
    #expect(server.connectionCount == 1 && store.isConnected)
  }

  @Test("no pause is longer than the longest; who is cancelled before it is known whether there is a connection leaves")
  func pausesAndLeaves() async throws {
    let server = try await HostileServer { _, _ in .close }
    var settings = server.store().settings
    settings.pauses = .seconds(1)...Duration.seconds(2)
    let node = RedisNode(settings, instance: [1], role: .member)
    node.state.withLock { $0.failures = 20 }
    #expect(await Self.code { try await node.connection() } == .unreachable)
    let end = node.state.withLock { state -> CacheInstant? in
      if case .pausing(until: let end, _) = state.phase { end } else { nil }
    }
    #expect(try #require(end) <= SystemClock().now.advanced(by: .seconds(2)))
    node.close()
    let silent = try await HostileServer { _, _ in .silence }
    let other = RedisNode(silent.store().settings, instance: [1], role: .member)
    let gate = Gate()
    let cancelled = Task {
      do { try await gate.pass() } catch is CancellationError {}
      _ = try await other.connection()
    }
    await gate.arrivals(1)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    other.close()
  }

  /// It lets nobody track keys, and does not greet the connection that is to listen to the channel in place of that.
  private static func silentOnSecondConnection() async throws -> HostileServer {
    try await HostileServer { connection, command in
      switch command[0] {
      case "HELLO": connection == 2 ? .silence : .say("")
      case "SUBSCRIBE": .say(Self.listens)
      default: .say("-NOPERM this user has no permissions\r\n")
      }
    }
  }
}
#endif
