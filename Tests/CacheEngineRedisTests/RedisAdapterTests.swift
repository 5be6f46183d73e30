#if Redis
import CacheEngine
// Its connection stands for the client that an app has.
@testable import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import RedisAdapter
import TestRedis
import TestSupport
import Testing

extension RESPValue {
  fileprivate var adapted: RedisReply {
    switch self {
    case .null: .none
    case .bytes(let bytes): .bytes(bytes)
    case .text(let text): .bytes(Array(text.utf8))
    case .number(let number): .number(number)
    case .error(let text): .error(text)
    case .array(let values): .array(values.map(\.adapted))
    default: .error("unknown")
    }
  }
}

/// The example that shows how an app uses a client of its own.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct RedisAdapterTests {
  private struct Client: RedisCommands {
    let connection: RedisConnection

    init(_ redis: TestRedis) async throws {
      var settings = RedisSettings(.socket(redis.socket))
      settings.commandLimit = .seconds(30)
      connection = try await RedisConnection.connect(settings) { _ in
      } onClose: { _, _ in
      }
    }

    func send(_ words: [[UInt8]]) async throws -> RedisReply { try await connection.ask([words])[0].adapted }
  }

  /// Answers as it is told.
  private struct Liar: RedisCommands {
    var reply: RedisReply
    func send(_ words: [[UInt8]]) async throws -> RedisReply { reply }
  }

  @Test("1,000 commits by chance, of any bytes, have the same outcome through another client as in the simulated store")
  func sameAsSimulated() async throws {
    let redis = try await TestRedis()
    let adapted = AdaptedRedis(try await Client(redis))
    let simulated = SimulatedSharedStore().client("here")
    var generator = SeededGenerator(seed: 17)
    func bytes() -> [UInt8] {
      (0..<Int.random(in: 0...3, using: &generator)).map { _ in
        [0, 10, 13, 65, 255].randomElement(using: &generator) ?? 0
      }
    }
    func name() -> [UInt8] { Array("n:".utf8) + [UInt8.random(in: 0...4, using: &generator)] }
    var refused = 0
    for round in 0..<1_000 {
      let changes = (0..<Int.random(in: 0...3, using: &generator)).map { _ -> SharedChange in
        let life: Duration? = Bool.random(using: &generator) ? .seconds(1_000_000) : nil
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: return .set(name(), to: bytes(), lifetime: life)
        case 1: return .make(name(), as: bytes(), lifetime: life)
        default: return .remove(name())
        }
      }
      let conditions = (0..<Int.random(in: 0...2, using: &generator)).map { _ -> SharedCondition in
        Bool.random(using: &generator) ? .absent(name()) : .begins(name(), with: [65] + bytes().prefix(1))
      }
      let names = (0..<5).map { Array("n:".utf8) + [UInt8($0)] }
      let (one, other) = (
        try await adapted.commit(changes, if: conditions, reading: names),
        try await simulated.commit(changes, if: conditions, reading: names)
      )
      #expect(one == other, "round \(round): \(changes) if \(conditions)")
      if one == nil { refused += 1 }
      #expect(try await adapted.read(names) == simulated.read(names), "round \(round)")
    }
    #expect((100...900).contains(refused))
    #expect(try await adapted.read([]) == [])
  }

  @Test("an entry written through one client is read, cleared and loaded once through the other")
  func besideTheOther() async throws {
    let redis = try await TestRedis()
    let adapted = AdaptedRedis(try await Client(redis))
    let other = redis.store { $0.invalidations = .tracking }
    let (here, there) = (
      try SharedCacheLevel<String, Int>(adapted, namespace: "test", valueCoding: .json),
      try SharedCacheLevel<String, Int>(other, namespace: "test", valueCoding: .json)
    )
    try await here.set(1, forKey: "a")
    #expect(try await there.get("a") == 1)
    let copies = MemoryCacheLevel<String, Int>().compose(there, coherence: Coherence(other, of: there), observer: nil)
    try await turns { copies.coherence.deafSince == nil }
    #expect(try await copies.get("a") == 1)
    try await here.store(2, forKey: "a", terms: StoreTerms(tags: ["x"]))
    try await turns { copies.peek("a") == nil }
    #expect(try await copies.get("a") == 2)
    try await here.removeAll(tagged: "x")
    #expect(try await there.get("a") == nil)
    #expect(try await here.store(3, forKey: "a", terms: StoreTerms(), if: .absent))
    #expect(try await !there.store(4, forKey: "a", terms: StoreTerms(), if: .absent))
    let loads = Tally()
    let source = BasicFetcher<String, Int> { _ in loads.add() }
    async let one = source.sharedPool(here, observer: nil).get("cold")
    async let two = source.sharedPool(there, observer: nil).get("cold")
    #expect(try await [one, two] == [1, 1])
    let time = try await adapted.timeSinceEpoch()
    #expect(try await other.timeSinceEpoch() - time < .seconds(60))
    try await there.clear()
    #expect(try await here.get("a") == nil)
  }

  @Test(
    "what a client should not have replied is an error, and no entry",
    arguments: [
      RedisReply.error("NOAUTH"), .number(1), .array([]), .array([.number(1)]), .array([.array([])]), .bytes([1]),
    ])
  func strange(reply: RedisReply) async throws {
    let store = AdaptedRedis(Liar(reply: reply))
    let names = [Array("a".utf8)]
    await #expect(throws: CacheError.self) { try await store.read(names) }
    await #expect(throws: CacheError.self) { try await store.commit([], if: [], reading: names) }
    await #expect(throws: CacheError.self) { try await store.timeSinceEpoch() }
  }
}
#endif
