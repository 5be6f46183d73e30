#if Combine || canImport(Combine)
import CacheEngine
import CacheEngineCombine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite(.timeLimit(.minutes(10))) struct LevelPublisherTests {
  let level = ScriptedLevel<String, Int>()

  private func outcome<Output>(of publisher: LevelPublisher<Output>) async throws -> [String] {
    let subscriber = RecordingSubscriber<Output>()
    publisher.subscribe(subscriber)
    return try await subscriber.outcome()
  }

  @Test("C1 C2 a read asks the level's own get for its key, once, and delivers the value")
  func hit() async throws {
    try await level.set(1, forKey: "a")
    #expect(try await outcome(of: level.publisher(for: "a")) == ["value 1", "finished"])
    #expect(level.calls == [.set("a", .set), .get("a")])
  }

  @Test("C3 an error of the level is the failure")
  func fails() async throws {
    let broken = ScriptedLevel<String, Int>(onGet: { _ in throw CacheError(.simulated, "down") })
    #expect(try await outcome(of: broken.publisher(for: "a")) == ["failed down"])
    #expect(try await outcome(of: broken.lookupPublisher(for: "a")) == ["failed down"])
  }

  @Test("a miss fails with value-not-in-cache, a refused key with condition-not-satisfied")
  func misses() async throws {
    let codes = Mutex<[CacheError.Code]>([])
    for publisher in [level.publisher(for: "a"), level.conditioned { _ in false }.publisher(for: "a")] {
      let failure = publisher.catch { error in
        if let error = error as? CacheError { codes.withLock { $0.append(error.code) } }
        return Empty<Int, any Error>()
      }
      let subscriber = RecordingSubscriber<Int>()
      failure.subscribe(subscriber)
      #expect(try await subscriber.outcome() == ["finished"])
    }
    #expect(codes.withLock { $0 } == [.valueNotInCache, .conditionNotSatisfied])
  }

  @Test("a look-up delivers a miss as an answer, with its reason")
  func looksUp() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(60)), clock: clock)
    try await memory.set(1, forKey: "a")
    let answers = memory.lookupPublisher(for: "a").map { $0.missReason?.rawValue ?? "hit" }
    let before = RecordingSubscriber<String>()
    answers.subscribe(before)
    #expect(try await before.outcome() == ["value hit", "finished"])
    clock.advance(by: .seconds(60))
    let after = RecordingSubscriber<String>()
    answers.subscribe(after)
    #expect(try await after.outcome() == ["value expired", "finished"])
  }

  @Test("C5 a write hands on key and value, and its success or error is the outcome")
  func writes() async throws {
    #expect(try await outcome(of: level.setPublisher(7, forKey: "a")) == ["value ()", "finished"])
    #expect(level.stored("a")?.value == 7)
    #expect(level.calls == [.set("a", .set)])
    let full = ScriptedLevel<String, Int>(onSet: { _, _ in throw CacheError(.tooLarge, "too large") })
    #expect(try await outcome(of: full.setPublisher(7, forKey: "a")) == ["failed too large"])
  }

  @Test("a write with a lifetime of its own stores it, one without leaves it to the level")
  func writesWithExpiry() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(60)), clock: clock)
    _ = try await outcome(of: memory.setPublisher(1, forKey: "own", expiry: .after(.seconds(5))))
    _ = try await outcome(of: memory.setPublisher(1, forKey: "default"))
    #expect(try await memory.lookup("own").entry?.deadline == clock.now.advanced(by: .seconds(5)))
    #expect(try await memory.lookup("default").entry?.deadline == clock.now.advanced(by: .seconds(60)))
  }

  @Test("C7 a clear reaches the level once and nothing else is called")
  func clears() async throws {
    #expect(try await outcome(of: level.clearPublisher()) == ["value ()", "finished"])
    #expect(level.calls == [.clear])
  }

  @Test("C9 a removal reaches the level with its key")
  func removes() async throws {
    #expect(try await outcome(of: level.removePublisher("a")) == ["value ()", "finished"])
    #expect(level.calls == [.remove("a")])
  }

  @Test("C10 C11 a fetcher reports success for a write, a removal and a clear")
  func fetcher() async throws {
    let source = PublisherFetcher { (_: String) in Empty<Int, any Error>() }
    for publisher in [source.setPublisher(1, forKey: "a"), source.removePublisher("a"), source.clearPublisher()] {
      #expect(try await outcome(of: publisher) == ["value ()", "finished"])
    }
    #expect(try await source.get("a") == nil)
  }

  @Test("C12 a write is carried out although nobody reads its value, and only if somebody subscribes")
  func writesUnread() async throws {
    _ = level.setPublisher(1, forKey: "dropped")
    let subscriber = RecordingSubscriber<Never>()
    level.setPublisher(2, forKey: "kept").ignoreOutput().subscribe(subscriber)
    #expect(try await subscriber.outcome() == ["finished"])
    #expect(level.stored("kept")?.value == 2)
    #expect(level.stored("dropped") == nil)
  }

  @Test("every subscription asks anew, and what was stored since is found")
  func asksAnew() async throws {
    let publisher = level.publisher(for: "a")
    for value in 1...3 {
      try await level.set(value, forKey: "a")
      #expect(try await outcome(of: publisher) == ["value \(value)", "finished"])
    }
    #expect(level.count(of: .get("a")) == 3)
  }

  @Test("retry asks again after a failure, and no more once there is a value")
  func retries() async throws {
    let attempts = Tally()
    let flaky = ScriptedLevel<String, Int>(onGet: { _ in
      let attempt = attempts.add()
      guard attempt == 3 else { throw CacheError(.simulated, "down") }
      return .hit(Entry(attempt))
    })
    let subscriber = RecordingSubscriber<Int>()
    flaky.publisher(for: "a").retry(5).subscribe(subscriber)
    #expect(try await subscriber.outcome() == ["value 3", "finished"])
    #expect(flaky.count(of: .get("a")) == 3)
  }

  @Test("a trace begun before the subscription is that of the read")
  func inheritsTaskLocals() async throws {
    let seen = Mutex<[Int]>([])
    let reader = ScriptedLevel<String, Int>(onGet: { _ in
      seen.withLock { $0.append(TraceNumber.current) }
      return .hit(Entry(1))
    })
    try await TraceNumber.$current.withValue(42) { _ = try await outcome(of: reader.publisher(for: "a")) }
    #expect(seen.withLock { $0 } == [42])
  }
}

private enum TraceNumber {
  @TaskLocal static var current = 0
}
#endif
