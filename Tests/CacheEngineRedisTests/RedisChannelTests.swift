import CacheEngineShared

#if Redis
import CacheEngine
@testable import CacheEngineRedis
import CacheEngineTesting
import Synchronization
import TestRedis
import Testing

/// What processes tell each other where the server does not.
@Suite(.timeLimit(.minutes(10))) struct RedisChannelTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test("what is told is read as it was; what others would not hear, or was only made where nothing was, is not told")
  func messages() {
    let instance = RedisChannel.newInstance()
    let changes: [SharedChange] = [
      .set(bytes("a:r:\u{0}\r\n"), to: [1], lifetime: nil), .remove(bytes("a:l:k")), .remove(bytes("a:t:")),
      .set(bytes("b:s:"), to: [1], lifetime: nil), .make(bytes("a:s:"), as: [1], lifetime: nil),
      .set(bytes("a:g:"), to: [1], lifetime: nil), .set(bytes("no namespace"), to: [1], lifetime: nil),
      .remove(bytes(":r:x")),
    ]
    let messages = RedisChannel.messages(telling: changes, by: instance, database: 3)
    #expect(messages.map(\.channel) == [bytes("a:i:3"), bytes("b:i:3")])
    #expect(
      messages.map { RedisChannel.read($0.bytes) } == [
        .names([bytes("a:r:\u{0}\r\n"), bytes("a:t:")], by: instance), .names([bytes("b:s:")], by: instance),
      ])
    #expect(RedisChannel.name(for: bytes("a:r:"), database: 3) == bytes("a:i:3"))
  }

  @Test("what is no message is unreadable, and nothing else, however it was cut or changed")
  func foreign() throws {
    var generator = SeededGenerator(seed: 17)
    #expect(RedisChannel.read([]) == .nothing)
    let message = try #require(
      RedisChannel.messages(
        telling: [.remove(bytes("a:r:key")), .remove(bytes("a:r:other"))], by: RedisChannel.newInstance(), database: 0
      ).first)
    let ends = [12, 12 + 4 + 7, message.bytes.count]
    for length in 1...message.bytes.count where !ends.contains(length) {
      #expect(RedisChannel.read(Array(message.bytes.prefix(length))) == .unreadable, "\(length) bytes")
    }
    for _ in 0..<1_000 {
      let noise = (0..<Int.random(in: 1...64, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      #expect(RedisChannel.read(noise) == .unreadable)
      // Lengths that lie, up to the longest, end in no crash.
      _ = RedisChannel.read(message.bytes.prefix(12) + noise)
    }
  }

  @Test("a server that refuses to tell, and to let listen, leaves the listener deaf, told why, and all else at work")
  func deaf() async throws {
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "CLIENT": .say("-NOPERM no permissions to run the 'client|tracking' command\r\n")
      case "SUBSCRIBE": .say("-NOPERM no permissions to run the 'subscribe' command\r\n")
      default: .say("*1\r\n$1\r\nv\r\n")
      }
    }
    let store = server.store()
    let feed = store.changes(of: [bytes("a:r:")])
    try await turns { store.listeningError != nil }
    let message = store.listeningError?.message ?? ""
    for words in ["'client|tracking'", "'subscribe'", "ACL SETUSER"] { #expect(message.contains(words), "\(message)") }
    #expect(try await store.read([[1]]) == [bytes("v")])
    #expect(server.connectionCount == 2 && store.isConnected && store.hearsBy == nil)
    feed.end()
  }

  @Test("what is refused for now, as by a server that still loads, is asked for once more")
  func later() async throws {
    let asked = Atomic(0)
    let server = try await HostileServer { _, command in
      switch command[0] {
      case "HELLO": .say("")
      case "CLIENT", "SUBSCRIBE":
        // Tracking and the channel, twice.
        asked.add(1, ordering: .relaxed).newValue <= 4
          ? .say("-LOADING Redis is loading the dataset in memory\r\n") : .say("+OK\r\n")
      default: .say("+OK\r\n")
      }
    }
    let store = server.store()
    var feed = store.changes(of: [bytes("a:r:")]).makeAsyncIterator()
    #expect(await feed.next() == .everything(.connected))
    #expect(store.hearsBy == .tracking && store.listeningError == nil)
    #expect(asked.load(ordering: .relaxed) == 5)
  }

  @Test(
    "what listens is cut off by a reply that nobody asked for, silence or a lie, and everything is in doubt after it")
  func hostile() async throws {
    for lie in ["*1\r\n$1\r\nv\r\n", ">3\r\n$11\r\nunsubscribe\r\n$3\r\na:i\r\n:0\r\n", "HTTP/1.1\r\n"] {
      let server = try await HostileServer { _, command in
        switch command[0] {
        case "HELLO": .say("")
        case "CLIENT": .say("-ERR unknown command 'CLIENT'\r\n")
        case "SUBSCRIBE": .say(">3\r\n$9\r\nsubscribe\r\n$5\r\na:i:0\r\n:1\r\n")
        default: .say("+OK\r\n")
        }
      }
      let store = server.store()
      var feed = store.changes(of: [bytes("a:r:")]).makeAsyncIterator()
      #expect(await feed.next() == .everything(.connected))
      server.say(">3\r\n$7\r\nmessage\r\n$5\r\na:i:0\r\n$3\r\nxyz\r\n", on: 2)
      #expect(await feed.next() == .everything(.overflow))
      server.say(lie, on: 2)
      let lost = await feed.next()
      if case .lost? = lost {} else { Issue.record("\(lie) was not noticed, but \(String(describing: lost))") }
      #expect(await feed.next() == .everything(.connected))
      #expect(server.connectionCount == 4)
    }
  }
}

/// The same, over a server of the real kind.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct RedisFallbackTests {
  typealias Shared = SharedCacheLevel<String, Int>
  typealias Cache = CoherentLevel<MemoryCacheLevel<String, Int>, Shared>

  private func cache(_ store: RedisStore) async throws -> Cache {
    let shared = try Shared(store, namespace: "test", valueCoding: .json)
    let cache = MemoryCacheLevel<String, Int>().compose(shared, coherence: Coherence(store, of: shared), observer: nil)
    try await turns { cache.coherence.deafSince == nil }
    return cache
  }

  @Test("G2 who may not be told by the server hears, through the channel, those who are, and they hear him")
  func mixed() async throws {
    let redis = try await TestRedis(user("poor on nopass ~test:* &test:* +@all -client|tracking"))
    let (rich, poor) = (
      redis.store(),
      redis.store {
        $0.user = "poor"
        $0.password = ""
      }
    )
    let (here, there) = (try await cache(rich), try await cache(poor))
    try await turns { rich.hearsBy == .tracking && poor.hearsBy == .channel }
    for (writer, reader, value) in [(here, there, 1), (there, here, 2), (here, there, 3)] {
      _ = try await reader.get("a")
      try await writer.set(value, forKey: "a")
      try await turns { reader.peek("a") == nil || reader.peek("a") == value }
      #expect(try await reader.get("a") == value)
      #expect(try await writer.store(-value, forKey: "a", terms: StoreTerms(), if: .present))
      try await turns { reader.peek("a") != value }
      #expect(try await reader.get("a") == -value)
    }
  }

  @Test("by a channel a write does not make its own process forget, unless two caches of it share the namespace")
  func ownWrites() async throws {
    let redis = try await TestRedis()
    let (store, other) = (redis.store { $0.invalidations = .channel }, redis.store { $0.invalidations = .channel })
    let (first, elsewhere) = (try await cache(store), try await cache(other))
    try await first.set(0, forKey: "a")
    try await turns { elsewhere.coherence.keys >= 1 }
    try await elsewhere.set(9, forKey: "b")
    try await turns { first.coherence.keys >= 1 }
    #expect(first.peek("a") == 0)
    // Stamps that are looked for and are there are no news.
    #expect(first.coherence.everything == 1 && first.coherence.keys == 1)
    let second = try await cache(store)
    #expect(try await second.get("a") == 0)
    try await first.set(1, forKey: "a")
    try await turns { second.peek("a") == nil }
    #expect(try await second.get("a") == 1)
  }

  @Test(
    "who may not tell others: where they hear by tracking it does not matter; where they do not, nothing is changed")
  func mayNotTell() async throws {
    for (rights, mayWrite) in [("-publish", true), ("-publish -client|tracking", false)] {
      let redis = try await TestRedis(user("default on nopass ~* &* +@all \(rights)"))
      let store = redis.store()
      let cache = try await cache(store)
      let raw = try await RawRedis(redis)
      if mayWrite {
        try await cache.set(1, forKey: "a")
        #expect(try await cache.base.lower.get("a") == 1)
      } else {
        let error = await #expect(throws: CacheError.self) { try await cache.base.lower.set(1, forKey: "a") }
        #expect(error?.code == .refusedByServer && error?.message.contains("&photos:*") == true)
        await #expect(throws: CacheError.self) {
          try await cache.store(1, forKey: "a", terms: StoreTerms(), if: .absent)
        }
        #expect(try await raw.ask("EXISTS", "test:r:a") == .number(0))
      }
      #expect(store.tellingError?.message.contains("publish") == true)
    }
  }

  @Test("who hears by tracking and may tell no more fails once to write, by a transaction or a script")
  func mayTellNoMore() async throws {
    for isConditional in [false, true] {
      let redis = try await TestRedis()
      let store = redis.store()
      let shared = try await cache(store).base.lower
      func write(_ value: Int) async throws {
        if !isConditional { return try await shared.set(value, forKey: "k\(value)") }
        #expect(try await shared.store(value, forKey: "k\(value)", terms: StoreTerms(), if: .absent))
      }
      try await write(1)
      _ = try await RawRedis(redis).ask("ACL", "SETUSER", "default", "-publish")
      await #expect(throws: CacheError.self) { try await write(2) }
      try await write(3)
      #expect(try await shared.get("k3") == 3)
      #expect(store.tellingError?.message.contains("publish") == true)
    }
  }

  @Test("a channel of one namespace or database says nothing to another; what is no message puts everything in doubt")
  func foreignMessages() async throws {
    let redis = try await TestRedis()
    let store = redis.store { $0.invalidations = .channel }
    let here = try await cache(store)
    let there = try await cache(
      redis.store {
        $0.invalidations = .channel
        $0.database = 1
      })
    try await here.set(1, forKey: "a")
    try await there.set(2, forKey: "a")
    let raw = try await RawRedis(redis)
    for (channel, doubts) in [("test:i:1", 1), ("test:", 1), ("test:i:0", 2)] {
      _ = try await raw.ask("PUBLISH", channel, "hello")
      // A change that is told after it: what came before has been heard.
      let other = try Shared(redis.store(), namespace: "test", valueCoding: .json)
      let keys = here.coherence.keys
      try await other.set(0, forKey: "b")
      try await turns { here.coherence.keys > keys }
      #expect(here.coherence.everything == doubts, "\(channel)")
      #expect((here.peek("a") == nil) == (doubts == 2))
    }
  }

  @Test("a listener that does not keep up is cut off by the server, and everything is in doubt")
  func overflow() async throws {
    let redis = try await TestRedis("--client-output-buffer-limit", "pubsub 64kb 32kb 1")
    let store = redis.store { $0.invalidations = .channel }
    let here = try await cache(store)
    let raw = try await RawRedis(redis)
    let before = here.coherence.everything
    let large = String(repeating: "x", count: 4 << 20)
    try await turns {
      _ = try await raw.ask("PUBLISH", "test:i:0", large)
      return here.coherence.everything > before + 1 && store.isConnected
    }
    // The last of what was published may cut it off once more; a write that this ends is settled by a removal.
    try await turns {
      guard (try? await here.set(1, forKey: "a")) != nil, here.base.lower.unsettledCount == 0 else { return false }
      let value = try await here.get("a")
      return value == 1 && here.coherence.deafSince == nil
    }
  }

  @Test(
    "what a server refuses is an error with its words and what helps",
    arguments: [
      (["--requirepass", "secret"], "NOAUTH", "give a password"),
      (user("default on nopass ~other:* &* +@all"), "NOPERM", "ACL SETUSER"),
      (user("default on nopass ~* &* +@all -multi"), "NOPERM", "+@transaction"),
      (user("default on nopass ~* &* +@all -time"), "NOPERM", "+time"),
      (["--rename-command", "MULTI", ""], "unknown command", "configured not to have it"),
      (["--replicaof", "127.0.0.1", "1"], "READONLY", "address of the primary"),
      (["--maxmemory", "1", "--maxmemory-policy", "noeviction"], "OOM", "allkeys-lru"),
      (["--min-replicas-to-write", "1"], "NOREPLICAS", "min-replicas-to-write"),
    ])
  func refusals(options: [String], words: String, remedy: String) async throws {
    let redis = try await TestRedis(options)
    let store = redis.store()
    let level = try Shared(store, namespace: "test", valueCoding: .json)
    let error = await #expect(throws: CacheError.self) { try await level.set(1, forKey: "a") }
    let message = error?.message ?? ""
    #expect(error?.code == .refusedByServer && message.contains(words) && message.contains(remedy), "\(message)")
    #expect(level.unsettledCount == 1)
    // Where it may fail, it is a counted miss, and the rest goes on.
    let seen = RecordingObserver()
    let whole = MemoryCacheLevel<String, Int>().compose(level.optional(observer: seen), observer: nil).compose(
      BasicFetcher<String, Int> { _ in 7 }, observer: nil)
    try await whole.set(2, forKey: "b")
    #expect(try await whole.get("b") == 2)
    #expect(try await whole.get("c") == 7)
    #expect(!seen.events.isEmpty)
  }

  @Test("a wrong database, and a password where none is, are named; a server too old for what is asked says so")
  func settings() async throws {
    let old = try await TestRedis("--rename-command", "HELLO", "", "--requirepass", "secret")
    func error(_ redis: TestRedis, _ change: (inout RedisSettings) -> Void) async -> String {
      do { _ = try await redis.store(change).read([[1]]) } catch {
        return (error as? CacheError)?.message ?? String(describing: error)
      }
      return ""
    }
    #expect(await error(old) { _ in }.contains("give a password"))
    #expect(await error(old) { $0.password = "wrong" }.contains("WRONGPASS"))
    #expect(await error(old) { $0.password = "secret" } == "")
    let database = await error(old) {
      $0.password = "secret"
      $0.database = 99
    }
    #expect(database.contains("as many databases"))
    let tracking = await error(old) {
      $0.password = "secret"
      $0.invalidations = .tracking
    }
    #expect(tracking.contains("too old") && tracking.contains("channel"))
    let cluster = try await TestRedis("--cluster-enabled", "yes")
    #expect(await error(cluster) { $0.database = 1 }.contains("database 0 only"))
  }
}
#endif
