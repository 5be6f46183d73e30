import CacheEngine
import CacheEngineTesting
import Testing

@Suite struct ValueTransformedLevelTests {
  struct NotANumber: Error {}

  struct Digits: TwoWayTransformer {
    func transform(_ input: String) async throws -> Int {
      guard let number = Int(input) else { throw NotANumber() }
      return number
    }
    func inverseTransform(_ output: Int) async throws -> String {
      guard output >= 0 else { throw NotANumber() }
      return String(output)
    }
  }

  let level = ScriptedLevel<String, String>()

  @Test("C53 a read gives the transformed value, with what else the entry tells")
  func reads() async throws {
    let clock = ManualClock()
    let deadline = clock.now.advanced(by: .seconds(5))
    let dated = ScriptedLevel<String, String> { _ in .hit(Entry("7", deadline: deadline, cost: 1, level: "dated")) }
    let entry = try await dated.transformValues(Digits()).lookup("a").entry
    #expect(entry?.value == 7)
    #expect(entry?.deadline == deadline)
    #expect(entry?.level == "dated")
    #expect(entry?.cost == nil)
    #expect(try await dated.transformValues(Digits()).get("a") == 7)
  }

  @Test("C53 misses, errors and cancellation pass through untouched")
  func passes() async throws {
    #expect(try await level.transformValues(Digits()).lookup("a").missReason == .absent)
    let broken = ScriptedLevel<String, String> { _ in throw CacheError(.simulated, "down") }
    await #expect(throws: CacheError.self) { try await broken.transformValues(Digits()).get("a") }
    let gate = Gate()
    let slow = ScriptedLevel<String, String> { _ in
      try await gate.pass()
      return .miss(.absent)
    }
    let reader = Task { try await slow.transformValues(Digits()).get("a") }
    await gate.arrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
  }

  @Test("C54 a value that cannot be transformed fails the read with the transformer's error")
  func failsForward() async throws {
    try await level.set("seven", forKey: "a")
    await #expect(throws: NotANumber.self) { try await level.transformValues(Digits()).get("a") }
    await #expect(throws: NotANumber.self) { try await level.transformValues(Digits()).lookup("a") }
  }

  @Test("C55 C56 a write stores the value turned back, or nothing if that fails")
  func writes() async throws {
    let cache = level.transformValues(Digits())
    try await cache.set(7, forKey: "a")
    #expect(level.stored("a")?.value == "7")
    await #expect(throws: NotANumber.self) { try await cache.set(-1, forKey: "b") }
    #expect(level.calls == [.set("a", .set)])
    let broken = ScriptedLevel<String, String>(onSet: { _, _ in throw CacheError(.simulated, "full") })
    await #expect(throws: CacheError.self) { try await broken.transformValues(Digits()).set(1, forKey: "a") }
  }

  @Test("C57 removals, clears and warnings are handed on unchanged")
  func handsOn() async throws {
    let cache = level.transformValues(Digits())
    try await cache.remove("a")
    try await cache.clear()
    await cache.onMemoryWarning()
    #expect(level.calls == [.remove("a"), .clear, .warn])
  }

  @Test("C58 a fetcher is transformed one way and stays read-only")
  func fetcher() async throws {
    let digits = OneWayTransformationBox<String, Int> { try await Digits().transform($0) }
    let fetcher = BasicFetcher<String, String>(name: "echo") { $0 }.transformValues(digits)
    #expect(try await fetcher.get("42") == 42)
    try await fetcher.set(1, forKey: "42")
    #expect(try await fetcher.get("42") == 42)
    await #expect(throws: NotANumber.self) { try await fetcher.get("x") }
  }

  @Test("a weight that is known of the value outside is not taken for that of the value inside")
  func costs() async throws {
    let memory = MemoryCacheLevel<String, String>()
    try await memory.transformValues(Digits()).store(1_000, forKey: "a", terms: StoreTerms(cost: 99))
    #expect(memory.usage.cost == 4)
    try await memory.conditionedValueTransformation(ConditionedTwoWayTransformationBox<String, String, Int>(Digits()))
      .store(1_000, forKey: "a", terms: StoreTerms(cost: 99))
    #expect(memory.usage.cost == 4)
  }

  // MARK: With keys

  private var keyed: some CacheLevel<String, Int> {
    level.conditionedValueTransformation(
      ConditionedTwoWayTransformationBox<String, String, Int>(
        conditionalTransform: { key, value in
          if key == "refused" { throw CacheError(.conditionNotSatisfied, "not this key") }
          return try await Digits().transform(value) + (key == "double" ? 1_000 : 0)
        },
        inverseConditionalTransform: { key, value in
          if key == "refused" { throw CacheError(.conditionNotSatisfied, "not this key") }
          return try await Digits().inverseTransform(value)
        }))
  }

  @Test("C65 a transformer that knows keys is given key and value, and a refused key fails although the level hit")
  func keyedReads() async throws {
    for key in ["single", "double", "refused"] { try await level.set("1", forKey: key) }
    #expect(try await keyed.get("single") == 1)
    #expect(try await keyed.get("double") == 1_001)
    let error = await #expect(throws: CacheError.self) { try await keyed.get("refused") }
    #expect(error?.code == .conditionNotSatisfied)
    #expect(try await keyed.lookup("other").missReason == .absent)
  }

  @Test("C66 C67 a write runs the inverse with its key, and a refused key writes nothing")
  func keyedWrites() async throws {
    try await keyed.set(5, forKey: "single")
    #expect(level.stored("single")?.value == "5")
    await #expect(throws: CacheError.self) { try await keyed.set(5, forKey: "refused") }
    await #expect(throws: NotANumber.self) { try await keyed.set(-5, forKey: "single") }
    #expect(level.calls == [.set("single", .set)])
  }

  @Test("C68 clears and warnings are handed on once")
  func keyedHandsOn() async throws {
    try await keyed.remove("refused")
    try await keyed.clear()
    await keyed.onMemoryWarning()
    #expect(level.calls == [.remove("refused"), .clear, .warn])
  }
}
