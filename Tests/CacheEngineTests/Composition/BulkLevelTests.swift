import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct BulkLevelTests {
  typealias Memory = MemoryCacheLevel<String, Int>

  let memory = Memory()
  let table = Table()

  private func values(_ answers: [BulkAnswer<String, Int>]) -> [Int?] {
    answers.map { (try? $0.result.get())?.entry?.value }
  }

  @Test("a batch is one question to a level that can answer it, and each answer names its key")
  func oneQuestion() async throws {
    try await table.allBatch().set([1, 2], forKey: ["a", "b"])
    #expect(table.questions == [["a", "b"]])
    #expect(try await table.allBatch().get(["b", "a", "b"]) == [2, 1, 2])
    let some = try await table.batchGetSome(["b", "x", "bad", "a", "b"])
    #expect(some.map(\.key) == ["b", "a", "b"] && some.map(\.value) == [2, 1, 2])
    #expect(table.questions.dropFirst() == [["b", "a"], ["b", "x", "bad", "a"]])
    try await table.allBatch().remove(["a", "b"])
    #expect(table.questions.count == 4)
    #expect(try await table.allBatch().lookup(["a"]).missReason == .absent)
    await #expect(throws: CacheError.self) { try await table.allBatch().get(["bad"]) }
  }

  @Test("what many values are said to weigh together is no value's weight", arguments: [false, true])
  func weights(isLoaded: Bool) async throws {
    guard isLoaded else {
      try await table.allBatch().store([1, 2], forKey: ["a", "b"], terms: StoreTerms(cost: 1_000))
      #expect(table.costs == [nil])
      return
    }
    // Of a load that is noted, each part is stored by itself.
    let lists = memory.compose(Memory()).allBatch()
    _ = try await lists.value(forKey: ["a", "b"]) { _ in .value([1, 2], cost: 1_000) }
    #expect(memory.usage.count == 2 && memory.usage.cost < 1_000)
  }

  @Test("a composition asks below once, and only for what is missing above; what comes is copied up")
  func composed() async throws {
    let cache = memory.compose(table.optional())
    try await table.set([("a", 1), ("b", 2), ("c", 3)])
    try await memory.set(1, forKey: "a")
    let answers = try await cache.lookup(["c", "a", "b", "c", "x", "bad"])
    #expect(answers.map(\.key) == ["c", "a", "b", "c", "x", "bad"])
    #expect(values(answers) == [3, 1, 2, 3, nil, nil])
    #expect(table.questions.last == ["c", "b", "x", "bad"])
    #expect(throws: CacheError.self) { try answers.last?.result.get() }
    #expect(memory.peek("b") == 2 && memory.peek("c") == 3)
    #expect(values(try await cache.lookup(["a", "b"])) == [1, 2])
    #expect(table.questions.count == 2)
    #expect(try await cache.normalize().allBatch().get(["c", "a"]) == [3, 1])
    try await cache.set([("d", 4), ("d", 5)])
    #expect(memory.peek("d") == 5)
    try await cache.remove(["d", "a"])
    #expect(memory.peek("d") == nil && memory.peek("a") == nil)
    #expect(values(try await table.lookup(["d", "a"])) == [nil, nil])
  }

  @Test("what is written while many keys are read is not covered by what the read found", arguments: [true, false])
  func overtaken(writes: Bool) async throws {
    try await table.set([("a", 1), ("b", 2)])
    let cache = memory.compose(table)
    let gate = Gate()
    table.onAnswer = { try await gate.pass() }
    let reader = Task { try await cache.lookup(["a", "b"]) }
    await gate.arrivals(1)
    table.onAnswer = {}
    if writes { try await cache.set(10, forKey: "a") } else { try await cache.invalidate("a") }
    gate.open()
    #expect(values(try await reader.value) == (writes ? [10, 2] : [1, 2]))
    #expect(memory.peek("a") == (writes ? 10 : nil))
    #expect(memory.peek("b") == 2)
  }

  @Test("an upper level that fails is passed over; a lower one that cannot answer fails the question")
  func failures() async throws {
    let broken = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "broken") }
    try await table.set([("a", 1)])
    let passed = broken.compose(table, observer: nil)
    #expect(values(try await passed.lookup(["a"])) == [1])
    // Where nobody is asked below, the failure above is the answer, as for a key by itself.
    table.missReason = .nothingToAsk
    let answers = try await passed.lookup(["x", "a"])
    #expect(throws: CacheError(.simulated, "broken")) { try answers[0].result.get() }
    #expect(values(answers) == [nil, 1])
    table.onAnswer = { throw CacheError(.simulated, "down") }
    await #expect(throws: CacheError.self) { try await memory.compose(table).lookup(["a"]) }
    #expect(try await memory.compose(table).batchGetSome(["a"]).isEmpty)
    try await memory.set(1, forKey: "a")
    #expect(values(try await memory.compose(table).lookup(["a"])) == [1])
  }

  @Test("a reader that is cancelled is told so, whatever its question fails with then")
  func cancelled() async throws {
    let (table, gate) = (table, Gate())
    table.onAnswer = {
      gate.open()
      await untilCancelled()
      throw CacheError(.simulated, "broken off")
    }
    let reader = Task { try await table.batchGetSome(["a"]).count }
    try await gate.pass()
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
  }

  @Test("what the source has said is gone is kept no longer, also where it was asked for many keys")
  func gone() async throws {
    let clock = ManualClock()
    let memory = Memory(expiry: .after(.seconds(10)), keepsExpired: .seconds(100), clock: clock)
    try await memory.set(1, forKey: "a")
    clock.advance(by: .seconds(10))
    #expect(values(try await memory.staleIfError(table, for: .seconds(30), clock: clock).base.lookup(["a"])) == [nil])
    #expect(memory.usage.count == 0)
  }

  @Test("where the question below fails, what was found above is answered all the same, unless the reader is cancelled")
  func failsBelowHits() async throws {
    let cache = memory.compose(table)
    try await memory.set(1, forKey: "a")
    table.onAnswer = { throw CacheError(.simulated, "down") }
    let answers = try await cache.lookup(["b", "a", "b"])
    #expect(values(answers) == [nil, 1, nil])
    #expect(throws: CacheError.self) { try answers.first?.result.get() }
    #expect(try await cache.batchGetSome(["a", "b"]).map(\.key) == ["a"])
    await #expect(throws: CacheError.self) { try await cache.allBatch().get(["a", "b"]) }
    table.onAnswer = { throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await cache.lookup(["a", "b"]) }
  }

  @Test("a level that is asked key by key is asked for 64 at once at most")
  func bounded() async throws {
    let gate = Gate()
    let most = Mutex((now: 0, most: 0))
    let slow = ScriptedLevel<Int, Int> { key in
      most.withLock { count in
        count.now += 1
        count.most = max(count.most, count.now)
      }
      defer { most.withLock { $0.now -= 1 } }
      try await gate.pass()
      return .hit(Entry(key))
    }
    async let all = slow.allBatch().get(Array(0..<200))
    await gate.arrivals(64)
    gate.open()
    #expect(try await all == Array(0..<200))
    #expect(most.withLock { $0.most } <= 64)
  }
}

/// A level that answers many keys at once and notes what it was asked.
final class Table: BulkLevel {
  private struct State {
    var values: [String: Int] = [:]
    var questions: [[String]] = []
    var costs: [Int?] = []
    var missReason = MissReason.absent
    var onAnswer: @Sendable () async throws -> Void = {}
  }

  private let state = Mutex(State())

  var questions: [[String]] { state.withLock { $0.questions } }
  var costs: [Int?] { state.withLock { $0.costs } }
  var missReason: MissReason {
    get { state.withLock { $0.missReason } }
    set { state.withLock { $0.missReason = newValue } }
  }
  var onAnswer: @Sendable () async throws -> Void {
    get { state.withLock { $0.onAnswer } }
    set { state.withLock { $0.onAnswer = newValue } }
  }

  func lookup(_ keys: [String]) async throws -> [BulkAnswer<String, Int>] {
    var different: [String] = []
    for key in keys where !different.contains(key) { different.append(key) }
    let values = state.withLock { state in
      state.questions.append(different)
      return state.values
    }
    try await onAnswer()
    return keys.map { key in
      if key == "bad" { return BulkAnswer(key: key, result: .failure(CacheError(.invalidCachedData, "bad"))) }
      return BulkAnswer(key: key, result: .success(values[key].map { .hit(Entry($0)) } ?? .miss(missReason)))
    }
  }

  func store(_ entries: [(key: String, value: Int)], terms: StoreTerms) async throws {
    state.withLock { state in
      state.questions.append(entries.map(\.key))
      state.costs.append(terms.cost)
      for (key, value) in entries { state.values[key] = value }
    }
  }

  func remove(_ keys: [String]) async throws {
    state.withLock { state in
      state.questions.append(keys)
      for key in keys { state.values[key] = nil }
    }
  }

  func get(_ key: String) async throws -> Int? { state.withLock { $0.values[key] } }
  func set(_ value: Int, forKey key: String) async throws { state.withLock { $0.values[key] = value } }
  func remove(_ key: String) async throws { state.withLock { $0.values[key] = nil } }
  func clear() async throws { state.withLock { $0.values = [:] } }
}
