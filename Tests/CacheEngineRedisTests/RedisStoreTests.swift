#if Redis
import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Foundation
import Synchronization
import TestRedis
import TestSupport
import Testing

// What a server says of itself is a reply.
@testable import CacheEngineRedis

/// The store over a server of the real kind.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct RedisStoreTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test("what is written is read, with conditions, lifetimes and what was there before, as in the store of the tests")
  func commits() async throws {
    let redis = try await TestRedis()
    let (real, model) = (redis.store(), SimulatedSharedStore().client("model"))
    let stores: [any SharedStore] = [real, model]
    var generator = SystemRandomNumberGenerator()
    let names = ["a", "b", "c", "\u{0}\r\n$5"].map(bytes)
    let values = ["", "x", "xy", "\r\n\u{0}\u{ff}", String(repeating: "long", count: 5_000)].map(bytes)
    for _ in 0..<300 {
      func name() -> [UInt8] { names.randomElement(using: &generator) ?? [] }
      func value() -> [UInt8] { values.randomElement(using: &generator) ?? [] }
      let changes = (0..<Int.random(in: 0...3, using: &generator)).map { _ -> SharedChange in
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: .remove(name())
        case 1: .make(name(), as: value(), lifetime: nil)
        case 2: .set(name(), to: value(), lifetime: .seconds(1_000))
        default: .set(name(), to: value(), lifetime: nil)
        }
      }
      let conditions = (0..<Int.random(in: 0...2, using: &generator)).map { _ -> SharedCondition in
        Bool.random(using: &generator) ? .absent(name()) : .begins(name(), with: bytes("x"))
      }
      var answers: [[[UInt8]?]?] = []
      for store in stores { answers.append(try await store.commit(changes, if: conditions, reading: names)) }
      #expect(answers[0] == answers[1], "\(changes) if \(conditions)")
      #expect(try await real.read(names) == (try await model.read(names)))
    }
    let time = try await real.timeSinceEpoch()
    #expect(abs((time - SystemClock().timeSinceEpoch) / .seconds(1)) < 60)
  }

  @Test("a shared level over a server keeps the contract, and so does memory above it that listens")
  func contract() async throws {
    let redis = try await TestRedis()
    let values = (0..<3).map { Data("value \($0)".utf8) }
    @Sendable func namespace() -> String { "n\(UInt64.random(in: 0 ... .max))" }
    let plain = LevelContract("redis", values: values, capabilities: .durable) {
      let name = namespace()
      return LevelUnderTest(try SharedCacheLevel<String, Data>(redis.store(), namespace: name, valueCoding: .data)) {
        _ in try SharedCacheLevel<String, Data>(redis.store(), namespace: name, valueCoding: .data)
      }
    }
    let plainViolations = await plain.violations()
    #expect(plainViolations == [], "\(plainViolations.map(String.init(describing:)).joined(separator: "; "))")
    let coherent = LevelContract("memory+redis", values: values) {
      let store = redis.store()
      let shared = try SharedCacheLevel<String, Data>(store, namespace: namespace(), valueCoding: .data)
      return LevelUnderTest(
        MemoryCacheLevel<String, Data>().compose(shared, coherence: Coherence(store, of: shared)))
    }
    let coherentViolations = await coherent.violations()
    #expect(coherentViolations == [], "\(coherentViolations.map(String.init(describing:)).joined(separator: "; "))")
  }

  @Test("a write does not make its own process forget, unless two caches of it share the namespace")
  func ownWrites() async throws {
    let redis = try await TestRedis()
    let store = redis.store()
    func cache(_ store: RedisStore) async throws -> CoherentLevel<
      MemoryCacheLevel<String, Data>, SharedCacheLevel<String, Data>
    > {
      let shared = try SharedCacheLevel<String, Data>(store, namespace: "test", valueCoding: .data)
      let cache = MemoryCacheLevel<String, Data>().compose(shared, coherence: Coherence(store, of: shared))
      try await turns { cache.coherence.deafSince == nil }
      return cache
    }
    let (first, other) = (try await cache(store), try await cache(redis.store()))
    try await first.set(Data([0]), forKey: "a")
    try await turns { other.coherence.keys >= 1 }
    try await other.set(Data([9]), forKey: "b")
    try await turns { first.coherence.keys >= 1 }
    #expect(first.peek("a") == Data([0]))
    let second = try await cache(store)
    #expect(try await second.get("a") == Data([0]))
    try await first.set(Data([1]), forKey: "a")
    try await turns { second.peek("a") == nil }
    #expect(try await second.get("a") == Data([1]))
  }

  @Test("the stacks of the article on several processes are put together as it says, and read through")
  func article() async throws {
    let server = try await TestRedis()
    let origin = BasicFetcher<String, Data> { Data($0.utf8) }
    let redis = RedisStore(try RedisSettings(url: "redis+unix://\(server.socket)"))
    let shared = try SharedCacheLevel<String, Data>(
      redis, namespace: "photos", expiry: .after(.seconds(3_600)), valueCoding: .data)
    let memory = MemoryCacheLevel<String, Data>(capacity: 64 << 20)
    let photos = memory.compose(
      origin.sharedPool(shared, lease: .seconds(5)),
      coherence: Coherence(redis, of: shared, whileDeaf: .serve(for: .seconds(5))))
    #expect(try await photos.get("a") == Data("a".utf8))
    #expect(try await shared.get("a") == Data("a".utf8))
    let careful = shared.timeout(after: .seconds(50), writes: .seconds(50)).circuitBreaker().optional()
    let others = MemoryCacheLevel<String, Data>().compose(careful, coherence: Coherence(redis, of: shared)).compose(
      origin)
    #expect(try await others.get("b") == Data("b".utf8))
    #expect(try await photos.get("b") == Data("b".utf8))
  }

  @Test("a primary that becomes a replica is left for what its address leads to; what was a replica before is not left")
  func demoted() async throws {
    let (one, two) = (try await TestRedis(), try await TestRedis())
    let address = one.folder + "/address"
    let files = FileManager.default
    try files.createSymbolicLink(atPath: address, withDestinationPath: one.socket)
    let store = one.store {
      $0.place = .socket(address)
      $0.pauses = .milliseconds(1) ... .milliseconds(1)
    }
    let name = bytes("a")
    func write(_ text: String) async throws {
      _ = try await store.commit([.set(name, to: bytes(text), lifetime: nil)], if: [], reading: [])
    }
    try await write("1")
    try files.removeItem(atPath: address)
    try files.createSymbolicLink(atPath: address, withDestinationPath: two.socket)
    // It stays where it is as long as it may write there.
    try await write("2")
    let raw = try await RawRedis(one)
    _ = try await raw.ask("REPLICAOF", "127.0.0.1", "1")
    await #expect(throws: CacheError.self) { try await write("3") }
    try await turns { (try? await write("4")) != nil }
    #expect(try await two.store().read([name]) == [bytes("4")])

    let reader = one.store { $0.pauses = .milliseconds(1) ... .milliseconds(1) }
    #expect(try await reader.read([name]) == [bytes("2")])
    func connections() async throws -> String {
      let text = try await raw.ask("INFO", "stats").string ?? ""
      return try String(#require(text.firstMatch(of: #/total_connections_received:\d+/#)).0)
    }
    let before = try await connections()
    for _ in 0..<3 {
      await #expect(throws: CacheError.self) { _ = try await reader.commit([.remove(name)], if: [], reading: []) }
    }
    #expect(try await connections() == before)
  }

  @Test("P7 settings that are printed or dumped show no password", arguments: ["hunter2", "\u{301}hunter2"])
  func redaction(password: String) throws {
    let settings = try RedisSettings(url: "redis://ada:\(password)@localhost:7000/1")
    #expect(settings.user == "ada" && settings.password == password)
    let credentials = RedisSettings.Credentials(user: "ada", password: "hunter2")
    var dumped = ""
    dump(RedisStore(settings), to: &dumped)
    for text in [
      "\(settings)", String(reflecting: settings), "\(credentials)", String(reflecting: credentials), dumped,
    ] {
      #expect(text.contains("ada") && !text.contains("hunter2"), "\(text)")
    }
  }

  @Test("passwords, users, databases and sockets that are wrong are told as they are")
  func badInput() async throws {
    let redis = try await TestRedis("--requirepass", "secret")
    func error(_ change: (inout RedisSettings) -> Void) async -> CacheError? {
      do { _ = try await redis.store(change).read([[1]]) } catch { return error as? CacheError }
      return nil
    }
    let missing = await error { _ in }
    #expect(missing?.code == .refusedByServer && missing?.message.contains("NOAUTH") == true)
    #expect(missing?.message.contains("at redis+unix://\(redis.socket) the server refused") == true)
    let wrong = await error { $0.password = "wrong" }
    #expect(wrong?.code == .refusedByServer && wrong?.message.contains("WRONGPASS") == true)
    #expect(wrong?.message.contains("wrong\"") == false)
    let user = await error {
      $0.user = "nobody"
      $0.password = "secret"
    }
    #expect(user?.message.contains("WRONGPASS") == true)
    #expect(await error { $0.password = "secret" } == nil)
    let database = await error {
      $0.password = "secret"
      $0.database = 99
    }
    #expect(database?.code == .refusedByServer && database?.message.contains("DB index") == true)
    let place = await error { $0.place = .socket("/tmp/no such socket") }
    #expect(place?.code == .unreachable && place?.message.contains("/tmp/no such socket") == true)
  }

  @Test("those who listen to names that begin alike hear all that they asked for, in whatever order they came")
  func overlappingPrefixes() async throws {
    let redis = try await TestRedis()
    let (store, raw) = (redis.store(), try await RawRedis(redis))
    var feeds: [InvalidationFeed] = []
    var ears: [InvalidationFeed.Iterator] = []
    // The second is part of the first, and the third more than both.
    for prefix in ["a:r:", "a:r:x", "a:"] {
      feeds.append(store.changes(of: [bytes(prefix)]))
      ears.append(feeds[feeds.count - 1].makeAsyncIterator())
      #expect(await ears[ears.count - 1].next() == .everything(.connected))
    }
    #expect(store.listeningError == nil)
    for name in ["a:r:x1", "a:r:y", "a:s:"] { _ = try await raw.ask("SET", name, "1") }
    let heard = [["a:r:x1", "a:r:y"], ["a:r:x1"], ["a:r:x1", "a:r:y", "a:s:"]]
    for (place, names) in heard.enumerated() {
      var all: [[UInt8]] = []
      while all.count < names.count {
        // What was missed while the server was asked for more may be anything.
        if case .names(let told)? = await ears[place].next() { all += told }
      }
      #expect(all == names.map(bytes))
    }
    withExtendedLifetime(feeds) {}
  }

  @Test("a server that is full is asked once whether it lets others be told")
  func askedOnce() async throws {
    let redis = try await TestRedis("--maxmemory", "1", "--maxmemory-policy", "noeviction")
    let (store, raw) = (redis.store(), try await RawRedis(redis))
    for condition in [[], [SharedCondition.absent(bytes("a:r:k"))], []] {
      let error = await #expect(throws: CacheError.self) {
        _ = try await store.commit(
          [.set(bytes("a:r:k"), to: [1], lifetime: nil)], if: condition, reading: [])
      }
      #expect(error?.message.contains("OOM") == true)
    }
    let text = try await raw.ask("INFO", "commandstats").string ?? ""
    // That of the script as well.
    #expect(text.contains("cmdstat_publish:calls=2,"), "\(text)")
  }

  @Test(
    "credentials are asked for before each connection, also the one that listens, and may take as long as connecting")
  func rotatedPasswords() async throws {
    let redis = try await TestRedis("--requirepass", "word 0")
    let rotations = Tally()
    let current: @Sendable () async throws -> RedisSettings.Credentials = {
      .init(password: "word \(rotations.count)")
    }
    let store = redis.store {
      $0.password = "never right"
      $0.invalidations = .channel
      $0.pauses = .milliseconds(1) ... .milliseconds(1)
      $0.credentials = current
    }
    let feed = store.changes(of: [bytes("test:r:")])
    try await turns { store.hearsBy == .channel }
    let raw = try await RawRedis(redis)
    _ = try await raw.ask("AUTH", "word 0")
    _ = try await raw.ask("CONFIG", "SET", "requirepass", "word 1")
    rotations.add()
    for kind in ["normal", "pubsub"] { _ = try await raw.ask("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes") }
    try await turns { (try? await store.read([[1]])) != nil && store.hearsBy == .channel }
    feed.end()

    let none: @Sendable () async throws -> RedisSettings.Credentials = { throw CacheError(.simulated, "no vault") }
    let late: @Sendable () async throws -> RedisSettings.Credentials = {
      try await Gate().pass()
      return try await current()
    }
    for (credentials, limit, words) in [
      (none, Duration.seconds(60), "there are no credentials"), (late, .milliseconds(20), "within 20 ms"),
    ] {
      let store = redis.store {
        $0.connectLimit = limit
        $0.credentials = credentials
      }
      let error = await #expect(throws: CacheError.self) { _ = try await store.read([[1]]) }
      #expect(error?.code == .unreachable && error?.message.contains(words) == true, "\(String(describing: error))")
    }
  }

  @Test(
    "what a stranger puts in place of a stamp clears, and what is stored under it is found",
    arguments: ["", "x", "17 bytes long ..."])
  func foreignStamps(text: String) async throws {
    let redis = try await TestRedis()
    let level = try SharedCacheLevel<String, Data>(redis.store(), namespace: "test", valueCoding: .data)
    try await level.set(Data([0]), forKey: "old", tags: ["t"])
    let raw = try await RawRedis(redis)
    for name in ["test:s:", "test:t:t"] { _ = try await raw.ask("SET", name, text) }
    #expect(try await level.get("old") == nil)
    let other = try SharedCacheLevel<String, Data>(redis.store(), namespace: "test", valueCoding: .data)
    try await other.set(Data([1]), forKey: "a", tags: ["t"])
    #expect(try await level.get("a") == Data([1]))
    #expect(try await other.store(Data([2]), forKey: "b", terms: StoreTerms(), if: .absent))
    #expect(try await level.get("b") == Data([2]))
    try await level.removeAll(tagged: "t")
    #expect(try await other.get("a") == nil)
  }

  @Test("what is no bytes in place of a stamp, a tag or a record fails one write, which names and removes it")
  func foreignTypes() async throws {
    let redis = try await TestRedis()
    let level = try SharedCacheLevel<String, Data>(redis.store(), namespace: "test", valueCoding: .data)
    try await level.set(Data([0]), forKey: "old", tags: ["secret"])
    let raw = try await RawRedis(redis)
    for name in ["test:s:", "test:t:secret"] { #expect(try await raw.ask("DEL", name) == .number(1)) }
    _ = try await raw.ask("RPUSH", "test:s:", "x")
    _ = try await raw.ask("HSET", "test:t:secret", "x", "y")
    #expect(try await level.get("old") == nil)
    let error = await #expect(throws: CacheError.self) {
      try await level.set(Data([1]), forKey: "a", tags: ["secret"])
    }
    let message = error?.message ?? ""
    #expect(message.contains("a list under test:s:") && message.contains("a hash under test:t:"), "\(message)")
    #expect(!message.contains("secret"))
    #expect(try await level.get("a") == nil)
    try await level.set(Data([1]), forKey: "a", tags: ["secret"])
    #expect(try await level.get("a") == Data([1]))

    _ = try await raw.ask("SADD", "test:r:b", "x")
    #expect(try await level.get("b") == nil)
    let refusal = await #expect(throws: CacheError.self) {
      _ = try await level.store(Data([2]), forKey: "b", terms: StoreTerms(), if: .absent)
    }
    #expect(refusal?.message.contains("a set under test:r:") == true, "\(refusal as Any)")
    #expect(try await level.store(Data([2]), forKey: "b", terms: StoreTerms(), if: .absent))
    #expect(try await level.get("b") == Data([2]))
    #expect(try await level.get("a") == Data([1]))
  }

  @Test("a server that a script keeps busy says so, and serves again when the script has ended")
  func busy() async throws {
    let redis = try await TestRedis("--lua-time-limit", "1")
    let (store, raw, other) = (redis.store(), try await RawRedis(redis), try await RawRedis(redis))
    _ = try await store.commit([.set(bytes("a"), to: [1], lifetime: nil)], if: [], reading: [])
    let script = Task { try await other.ask("EVAL", "while true do end", "0") }
    var error: CacheError?
    try await turns {
      do { _ = try await store.read([bytes("a")]) } catch let refusal as CacheError { error = refusal }
      return error != nil
    }
    #expect(error?.code == .refusedByServer && error?.message.contains("SCRIPT KILL") == true, "\(error as Any)")
    for conditions in [[], [SharedCondition.absent(bytes("b"))]] {
      let error = await #expect(throws: CacheError.self) {
        _ = try await store.commit([.set(bytes("b"), to: [2], lifetime: nil)], if: conditions, reading: [])
      }
      #expect(error?.message.contains("SCRIPT KILL") == true, "\(error as Any)")
    }
    _ = try await raw.ask("SCRIPT", "KILL")
    _ = try await script.value
    #expect(try await store.read([bytes("a"), bytes("b")]) == [[1], nil])
  }

  @Test("a replica that has lost its primary and may not answer without it says so")
  func orphaned() async throws {
    let redis = try await TestRedis("--replicaof", "127.0.0.1", "1", "--replica-serve-stale-data", "no")
    let error = await #expect(throws: CacheError.self) { try await redis.store().read([bytes("a")]) }
    let message = error?.message ?? ""
    #expect(error?.code == .refusedByServer && message.contains("MASTERDOWN"), "\(message)")
    #expect(message.contains("address of the primary"), "\(message)")
  }

  @Test("scripts that the server is made to forget all the time are carried out all the same")
  func forgetful() async throws {
    let redis = try await TestRedis()
    let (store, raw) = (redis.store(), try await RawRedis(redis))
    let isDone = Mutex(false)
    async let flushes: Void = {
      while !isDone.withLock({ $0 }) { _ = try await raw.ask("SCRIPT", "FLUSH") }
    }()
    for number in 0..<200 {
      let name = bytes("\(number)")
      #expect(
        try await store.commit([.set(name, to: name, lifetime: nil)], if: [.absent(name)], reading: [name]) == [name])
    }
    isDone.withLock { $0 = true }
    try await flushes
  }

  @Test("a server that is full, and a replica that is only read, refuse writes and are read all the same")
  func refusesWrites() async throws {
    for options in [["--maxmemory", "1", "--maxmemory-policy", "noeviction"], ["--replicaof", "127.0.0.1", "1"]] {
      let redis = try await TestRedis(options)
      let level = try SharedCacheLevel<String, Data>(redis.store(), namespace: "test", valueCoding: .data)
      let error = await #expect(throws: CacheError.self) { try await level.set(Data([1]), forKey: "a") }
      #expect(error?.code == .refusedByServer, "\(String(describing: error))")
      #expect(level.unsettledCount == 1)
      #expect(try await level.lookup("b").missReason == .absent)
    }
  }

  @Test(
    "addresses are read, and what is wrong in them is named",
    arguments: [
      ("redis://localhost", RedisSettings.Place.host("localhost", port: 6_379), nil as String?, nil as String?, 0),
      ("redis://u:p%40ss@10.0.0.1:7000/3", .host("10.0.0.1", port: 7_000), "u", "p@ss", 3),
      ("redis://:pw@[::1]:6380", .host("::1", port: 6_380), nil, "pw", 0),
      ("redis+unix:///tmp/s", .socket("/tmp/s"), nil, nil, 0),
    ])
  func addresses(url: String, place: RedisSettings.Place, user: String?, password: String?, database: Int) throws {
    let settings = try RedisSettings(url: url)
    #expect(settings.place == place && settings.user == user && settings.password == password)
    #expect(settings.database == database)
    // What is shown is the same without user and password.
    let shown = Set(["redis://localhost:6379", "redis://10.0.0.1:7000/3", "redis://[::1]:6380", "redis+unix:///tmp/s"])
    #expect(shown.contains(settings.address))
    #expect(try RedisSettings(url: settings.address).place == place)
  }

  @Test(
    "an address that is none is refused without telling the password",
    arguments: [
      "localhost", "redissss://h", "rediss://", "redis://", "redis://u:secret@h:0", "redis://u:secret@h/x",
      "redis://u:secret%@h", "redis://u:secret%+f@h",
      "redis+unix://s", "redis://h:99999",
    ])
  func wrongAddresses(url: String) {
    let error = #expect(throws: CacheError.self) { try RedisSettings(url: url) }
    #expect(error?.code == .invalidSetting && error?.message.contains("secret") == false)
  }
}
#endif
