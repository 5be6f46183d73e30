#if Redis
import CacheEngine
import CacheEngineShared
import CacheEngineRedis
import CacheEngineTesting
import Foundation
import Synchronization
import TestRedis
import TestSupport
import Testing

/// What is promised of processes that share a server, each on a connection of its own.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct RedisPromisesTests {
  typealias Shared = SharedCacheLevel<String, Int>
  typealias Memory = MemoryCacheLevel<String, Int>

  /// How changes are heard, and why.
  enum Way: CaseIterable {
    case tracking
    /// The user may not ask the server for them.
    case refused
    /// The server knows nothing of version 6, as a proxy may not.
    case old
    case chosen

    var options: [String] {
      switch self {
      case .tracking, .chosen: []
      case .refused: user("default on nopass ~* &* +@all -client|tracking")
      case .old: ["--rename-command", "HELLO", ""]
      }
    }

    func change(_ settings: inout RedisSettings) { if self == .chosen { settings.invalidations = .channel } }
  }

  struct Process {
    let store: RedisStore
    let shared: Shared
    let cache: CoherentLevel<Memory, Shared>

    init(_ redis: TestRedis, _ change: (inout RedisSettings) -> Void = { _ in }) async throws {
      store = redis.store(change)
      shared = try Shared(store, namespace: "test", valueCoding: .json)
      let coherence = Coherence(store, of: shared, whileDeaf: .serve(for: .seconds(5)))
      cache = Memory().compose(shared, coherence: coherence, observer: nil)
      try await hears()
    }

    func hears() async throws { try await turns { cache.coherence.deafSince == nil } }
  }

  private func processes(_ count: Int, _ redis: TestRedis, _ way: Way) async throws -> [Process] {
    var all: [Process] = []
    for _ in 0..<count { all.append(try await Process(redis) { way.change(&$0) }) }
    for process in all {
      // The store knows it a moment after the level has been told.
      try await turns { process.store.hearsBy != nil }
      #expect(process.store.hearsBy == (way == .tracking ? .tracking : .channel))
    }
    return all
  }

  /// Waits until everyone has heard of all that was written before.
  ///
  /// That a copy is gone says nothing: a clear that was heard late takes it as well.
  private func settle(_ processes: [Process], by writer: Process, round: Int) async throws {
    // Of one cycle the server tells names in their order, and this one is the last.
    let (name, heard) = ("zz\(round)", Tally())
    for process in processes {
      process.cache.tell { key in
        guard key as? String == name else { return true }
        heard.add()
        return false
      }
    }
    try await writer.shared.set(-round, forKey: name)
    try await turns { heard.count == processes.count }
  }

  @Test(
    "G1 G2 whatever four processes write and read at once, nobody serves from above what is not below",
    arguments: Way.allCases)
  func noResurrection(way: Way) async throws {
    let redis = try await TestRedis(way.options)
    let all = try await processes(4, redis, way)
    let barrier = try await Process(redis) { way.change(&$0) }
    let next = Tally()
    for round in 1...40 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for process in all {
          for _ in 0..<8 {
            group.addTask {
              for _ in 0..<12 {
                let key = "k\(Int.random(in: 0..<20))"
                switch Int.random(in: 0..<10) {
                case 0...2:
                  let value = next.add()
                  try await process.cache.set(value, forKey: key)
                case 3: try await process.cache.remove(key)
                default: _ = try await process.cache.get(key)
                }
              }
            }
          }
        }
        if round % 10 == 0 { group.addTask { try await all[0].cache.clear() } }
        try await group.waitForAll()
      }
      try await settle(all, by: barrier, round: round)
      for number in 0..<20 {
        let key = "k\(number)"
        let below = try await barrier.shared.get(key)
        for (place, process) in all.enumerated() {
          if let above = process.cache.peek(key) {
            #expect(above == below, "round \(round), process \(place), \(key)")
          }
        }
      }
    }
  }

  @Test(
    "G2 a connection that is killed makes its process deaf, and it forgets everything when it hears again",
    arguments: [(Way.tracking, "normal"), (.refused, "normal"), (.refused, "pubsub"), (.old, "pubsub")])
  func killedConnection(way: Way, kind: String) async throws {
    let redis = try await TestRedis(way.options)
    let (here, there) = (try await Process(redis), try await Process(redis))
    try await here.cache.set(1, forKey: "a")
    let heard = here.cache.coherence.everything
    let raw = try await RawRedis(redis)
    _ = try await raw.ask("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
    try await turns {
      do { try await there.shared.set(2, forKey: "a") } catch { return false }
      return true
    }
    try await turns { here.cache.coherence.everything > heard && here.cache.coherence.deafSince == nil }
    // What failed once was perhaps removed after it was written, so there may be nothing; the old value there is not.
    #expect(try await here.cache.get("a") != 1)
  }

  @Test("G2 a server that is emptied, and entries that are evicted or expire, are forgotten above")
  func flushedAndEvicted() async throws {
    let redis = try await TestRedis("--maxmemory-policy", "allkeys-lru")
    let here = try await Process(redis)
    let raw = try await RawRedis(redis)
    try await here.cache.set(1, forKey: "a")
    _ = try await raw.ask("FLUSHALL")
    try await turns { here.cache.peek("a") == nil }
    #expect(try await here.cache.get("a") == nil)
    try await here.cache.set(2, forKey: "b")
    _ = try await raw.ask("DEL", "test:s:")
    try await turns { here.cache.peek("b") == nil }
    #expect(try await here.cache.get("b") == nil)
    try await here.cache.set(3, forKey: "c")
    _ = try await raw.ask("PEXPIRE", "test:r:c", "1")
    try await turns {
      _ = try await raw.ask("GET", "test:r:c")
      return here.cache.peek("c") == nil
    }
  }

  @Test("G3 P12 of 100,000 commands from 64 tasks, with cancels and lost connections, each gets its own reply or none")
  func ownReplies() async throws {
    let redis = try await TestRedis()
    let store = redis.store { $0.pauses = .milliseconds(1)...Duration.milliseconds(2) }
    let raw = try await RawRedis(redis)
    let (answered, failed, cancelled) = (Tally(), Tally(), Tally())
    for number in 0..<1_000 {
      _ = try await store.commit(
        [.set([UInt8(number / 256), UInt8(number % 256)], to: Array("v\(number)".utf8), lifetime: nil)], if: [],
        reading: [])
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<64 {
        group.addTask {
          for step in 0..<1_563 {
            let number = Int.random(in: 0..<1_000)
            let name = [UInt8(number / 256), UInt8(number % 256)]
            let ask = { @Sendable () async throws -> Bool in
              let reply =
                step % 2 == 0
                ? try await store.read([name]) : try await store.commit([], if: [], reading: [name]) ?? []
              return reply == [Array("v\(number)".utf8)]
            }
            if worker == 0, step % 15 == 7 {
              _ = try await raw.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            }
            do {
              if step % 20 == 3 {
                let task = Task { try await ask() }
                task.cancel()
                if try await !task.value { Issue.record("the reply of another command") }
              } else if try await !ask() {
                Issue.record("the reply of another command")
              }
              answered.add()
            } catch is CancellationError {
              cancelled.add()
            } catch {
              failed.add()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(answered.count + failed.count + cancelled.count == 64 * 1_563)
    #expect(answered.count > 10_000 && cancelled.count > 0 && failed.count > 0)
  }

  @Test(
    "G4 a server that is stopped, or gone, holds nobody up; writes succeed here and are counted",
    arguments: [true, false], [Way.tracking, .refused])
  func hung(isStopped: Bool, way: Way) async throws {
    let redis = try await TestRedis(way.options)
    let store = redis.store { $0.commandLimit = .seconds(1) }
    let shared = try Shared(store, namespace: "test", valueCoding: .json)
    let statistics = CacheStatistics()
    let lower = shared.circuitBreaker(observer: statistics).optional(observer: statistics)
    let cache = Memory().compose(
      lower, coherence: Coherence(store, of: shared, whileDeaf: .serve(for: .seconds(3_600))), observer: nil)
    let origin = BasicFetcher<String, Int> { _ in 7 }
    let whole = cache.compose(origin, observer: nil)
    try await turns { cache.coherence.deafSince == nil }
    try await whole.set(1, forKey: "a")
    if isStopped { redis.stop() } else { redis.kill() }
    for number in 0..<20 {
      #expect(try await whole.get("cold\(number)") == 7)
      try await whole.set(number, forKey: "w\(number)")
      #expect(try await whole.get("w\(number)") == number)
    }
    #expect(try await whole.get("a") == 1)
    #expect(shared.unsettledCount > 0)
    try await turns { cache.coherence.deafSince != nil }
    if isStopped { redis.resume() } else { try await redis.start() }
    try await turns { shared.unsettledCount == 0 && cache.coherence.deafSince == nil }
    // What could not be written is gone, not old.
    #expect(try await shared.get("w3") == nil)
  }

  @Test(
    "G5 what failed while the server was away is never answered as it was before, nor put over what others wrote",
    arguments: [Way.tracking, .refused])
  func recovery(way: Way) async throws {
    let redis = try await TestRedis(way.options)
    let here = try await Process(redis) { $0.commandLimit = .seconds(1) }
    let there = try await Process(redis) { $0.commandLimit = .seconds(30) }
    for key in ["a", "b"] { try await here.cache.set(1, forKey: key) }
    redis.stop()
    for key in ["a", "b"] { await #expect(throws: CacheError.self) { try await here.cache.set(2, forKey: key) } }
    redis.resume()
    try await there.cache.set(3, forKey: "b")
    try await turns { here.shared.unsettledCount == 0 }
    try await here.hears()
    for process in [here, there] {
      // The write that was given up may be carried out late; the value before it is gone for good.
      let (a, b) = (try await process.shared.get("a"), try await process.shared.get("b"))
      #expect(a != 1 && b != 1)
    }
  }

  @Test(
    "G6 however many processes and callers miss a key, one load; if its process is gone, a second after the lease")
  func leases() async throws {
    let redis = try await TestRedis()
    let (gate, loads) = (Gate(), Tally())
    let origin = BasicFetcher<String, Int> { key in
      loads.add()
      try await gate.pass()
      return 7
    }
    let pools = try (0..<4).map { _ in
      origin.sharedPool(try Shared(redis.store(), namespace: "test", valueCoding: .json), lease: .seconds(600))
    }
    async let values = withThrowingTaskGroup(of: Int?.self) { group in
      for pool in pools { for _ in 0..<25 { group.addTask { try await pool.get("cold") } } }
      return try await group.reduce(into: [Int?]()) { $0.append($1) }
    }
    await gate.arrivals(1)
    gate.open()
    #expect(try await values == Array(repeating: 7, count: 100))
    #expect(loads.count == 1)

    let (stuck, dead) = (Gate(), redis.store())
    let gone = BasicFetcher<String, Int> { _ in
      try await stuck.pass()
      return 1
    }.sharedPool(try Shared(dead, namespace: "test", valueCoding: .json), lease: .milliseconds(300), observer: nil)
    let lost = Task { try await gone.get("other") }
    await stuck.arrivals(1)
    dead.close()
    #expect(try await pools[0].get("other") == 7)
    #expect(loads.count == 2)
    stuck.open()
    _ = try await lost.value
    #expect(try await pools[1].get("other") == 7)
    #expect(loads.count == 2)
  }

  @Test(
    "G7 clears and removals by tag hold for every process, also after the server has lost the stamps",
    arguments: Way.allCases)
  func clears(way: Way) async throws {
    let redis = try await TestRedis(way.options)
    let all = try await processes(2, redis, way)
    let (here, there) = (all[0], all[1])
    let raw = try await RawRedis(redis)
    for evicted in [nil, "test:s:", "test:t:x"] {
      try await here.cache.set(1, forKey: "a", tags: ["x"])
      try await here.cache.set(2, forKey: "b")
      #expect(try await there.cache.get("a") == 1)
      #expect(try await there.cache.get("b") == 2)
      try await here.cache.removeAll(tagged: "x")
      if let evicted { _ = try await raw.ask("DEL", evicted) }
      try await turns { there.cache.peek("a") == nil }
      for process in [here, there] { #expect(try await process.cache.get("a") == nil) }
      try await there.cache.set(3, forKey: "c", tags: ["x"])
      #expect(try await here.shared.get("a") == nil)
      try await there.cache.clear()
      if let evicted { _ = try await raw.ask("DEL", evicted) }
      try await turns { here.cache.peek("b") == nil && here.cache.peek("c") == nil }
      for key in ["a", "b", "c"] { #expect(try await here.cache.get(key) == nil) }
    }
  }

  @Test(
    "G8 a load that began before its key was written, removed, cleared or removed by tag does not fill it in",
    arguments: 0..<5)
  func noStaleFill(change: Int) async throws {
    let redis = try await TestRedis()
    let there = try Shared(redis.store(), namespace: "test", valueCoding: .json)
    let here = try Shared(redis.store(), namespace: "test", valueCoding: .json)
    try await there.set(0, forKey: "other", tags: ["x"])
    let gate = Gate()
    let pool = ScriptedLevel<String, Int> { _ in
      try await gate.pass()
      var entry = Entry(1)
      entry.tags = ["x"]
      return .hit(entry)
    }.sharedPool(here, observer: nil)
    let reader = Task { try await pool.get("a") }
    await gate.arrivals(1)
    switch change {
    case 0: try await there.set(2, forKey: "a")
    case 1: try await there.remove("a")
    case 2: try await there.clear()
    case 3: try await there.removeAll(tagged: "x")
    default: break
    }
    gate.open()
    #expect(try await reader.value == 1)
    #expect(try await there.get("a") == [2, nil, nil, nil, 1][change])
  }
}

/// The option for a user with rights.
func user(_ rights: String) -> [String] { ["--user"] + rights.split(separator: " ").map(String.init) }

/// Commands by hand.
struct RawRedis {
  private let connection: RawConnection

  init(_ redis: TestRedis) async throws { connection = try await RawConnection(redis.socket) }

  func ask(_ words: String...) async throws -> RESPValue { try await connection.ask(words) }
}
#endif
