import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

/// A source at the bottom of a stack is shown what has expired above.
@Suite struct RenewingTests {
  /// A source with versions: it takes the validator for it, and says so if nothing has changed.
  private final class Source: Sendable {
    struct State {
      var version = 1
      var failure: CacheError?
      var gate: Gate?
      var asked: [String?] = []
    }
    let state = Mutex(State())

    var asked: [String?] { state.withLock { $0.asked } }

    func fetcher(_ clock: ManualClock) -> BasicFetcher<String, String> {
      BasicFetcher(
        name: "source", clock: clock,
        renewing: { key, old in
          let (now, gate) = self.state.withLock { state in
            state.asked.append(old?.validator)
            return (state, state.gate)
          }
          try await gate?.pass()
          if let failure = now.failure { throw failure }
          if old?.validator == "v\(now.version)" { return .notModified(expiry: .after(.seconds(20))) }
          return .value("\(key)\(now.version)", expiry: .after(.seconds(10)), validator: "v\(now.version)")
        })
    }
  }

  private let clock = ManualClock()
  private let source = Source()

  private func memory() -> MemoryCacheLevel<String, String> {
    MemoryCacheLevel(keepsExpired: .seconds(100), clock: clock)
  }

  private func check(
    _ stack: some CacheLevel<String, String>, asks: Bool = true, _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let before = source.asked.count
    #expect(try await stack.get("a") == "a1", comment, sourceLocation: sourceLocation)
    clock.advance(by: .seconds(10))
    #expect(try await stack.get("a") == "a1", comment, sourceLocation: sourceLocation)
    // What is not modified lives for twenty seconds.
    clock.advance(by: .seconds(11))
    #expect(try await stack.get("a") == "a1", comment, sourceLocation: sourceLocation)
    let expected: [String?] = asks ? [nil, "v1"] : [nil, nil, nil]
    #expect(Array(source.asked[before...]) == expected, comment, sourceLocation: sourceLocation)
  }

  @Test("a composition shows its source what has expired, and takes its word that nothing has changed")
  func stack() async throws {
    let stack = memory().compose(source.fetcher(clock), clock: clock)
    try await check(stack, "one level")
    clock.advance(by: .seconds(20))
    source.state.withLock { $0.version = 2 }
    #expect(try await stack.get("a") == "a2")
    #expect(try await stack.lookup("a").entry?.validator == "v2")
  }

  @Test("of two entries that have expired, a source is shown the younger one", arguments: [-5, 5])
  func younger(_ seconds: Int) async throws {
    let memory = memory()
    let stack = memory.compose(source.fetcher(clock), clock: clock)
    _ = try await stack.get("a")
    clock.advance(by: .seconds(10))
    let created = try #require(try await memory.lookupIncludingExpired("a").entry?.created)
    var offered = Entry("a0", deadline: clock.now, created: created.advanced(by: .seconds(seconds)))
    offered.validator = "v0"
    _ = try await stack.lookup("a", renewing: offered)
    #expect(source.asked == [nil, seconds > 0 ? "v0" : "v1"])
  }

  @Test("a source is shown what has expired through every operator that leaves values as they are")
  func operators() async throws {
    let fetcher = source.fetcher(clock)
    let plus = TwoWayTransformationBox<String, String>(
      transform: { "<\($0)>" }, inverseTransform: { String($0.dropFirst().dropLast()) })
    try await check(memory().compose(memory()).compose(fetcher), "two levels above")
    try await check(memory().compose(memory().compose(fetcher)), "two compositions")
    try await check(memory().compose(fetcher.pooled()), "pooled")
    try await check(memory().compose(fetcher.normalizeFetcher()), "normalizeFetcher")
    try await check(memory().compose(fetcher.pooled().normalize()), "normalize")
    try await check(memory().compose(fetcher.capRequests(1)), "capRequests")
    try await check(memory().compose(fetcher.timeout(after: .seconds(1), clock: clock)), "timeout")
    try await check(memory().compose(fetcher.retry(clock: clock)), "retry")
    try await check(memory().compose(fetcher.circuitBreaker(clock: clock)), "circuitBreaker")
    try await check(memory().compose(fetcher.negativeCaching(for: .seconds(1), clock: clock)), "negativeCaching")
    try await check(memory().compose(fetcher.fallback { _, _ in nil }), "fallback")
    try await check(memory().compose(fetcher.optional()), "optional")
    try await check(memory().compose(fetcher.conditioned { _ in true }), "conditioned")
    try await check(memory().compose(fetcher.expiring(after: .seconds(500), clock: clock)), "expiring")
    try await check(memory().compose(fetcher.maximumAge(.seconds(500), clock: clock)), "maximumAge")
    try await check(memory().compose(fetcher.transformKeys { (key: String) in key }), "transformKeys")
    try await check(memory().compose(switchLevels(fetcher, fetcher) { _ in .second }), "switchLevels")
    try await check(memory().compose(switchLevels(fetcher, memory()) { _ in .first }), "a lane that does not renew")
    let observer = RecordingObserver()
    try await check(memory().compose(fetcher.observed(as: "source", by: observer, clock: clock)), "observed")
    try await check(memory().compose(fetcher.traced(by: observer, clock: clock)), "traced")
    let renewing = memory().compose(fetcher.retry(clock: clock).pooled().capRequests(2).pooled())
    try await check(renewing.observed(as: "all", by: observer, clock: clock), "several")
    #expect(fetcher.conditioned { _ in true }.renews && !BasicFetcher<String, String> { _ in nil }.renews)
    // Turned back for the source, and turned again afterwards.
    let inner = memory().compose(fetcher)
    let turned = memory().compose(inner.transformValues(plus))
    #expect(try await turned.get("a") == "<a1>")
    clock.advance(by: .seconds(10))
    #expect(try await turned.get("a") == "<a1>")
    #expect(source.asked.last == "v1")
    let keyed = ConditionedTwoWayTransformationBox<String, String, String>(plus)
    let conditioned = memory().compose(fetcher.conditionedValueTransformation(keyed))
    #expect(try await conditioned.get("a") == "<a1>")
    clock.advance(by: .seconds(10))
    #expect(try await conditioned.get("a") == "<a1>")
    #expect(source.asked.suffix(2) == [nil, "v1"])
  }

  @Test("what changes values on their way hands nothing on, so that nothing is changed twice")
  func changedValues() async throws {
    let processed = memory().compose(source.fetcher(clock).postProcess { "\($0)!" })
    for _ in 0..<3 {
      #expect(try await processed.get("a") == "a1!")
      clock.advance(by: .seconds(10))
    }
    #expect(source.asked == [nil, nil, nil])
    // Nor is it shown what was changed above it.
    let above = memory().postProcess { "\($0)!" }.compose(source.fetcher(clock))
    for _ in 0..<3 {
      #expect(try await above.get("a") == "a1")
      #expect(try await above.get("a") == "a1!")
      clock.advance(by: .seconds(10))
    }
    // Nor what a level further up has kept of that.
    let top = memory()
    let stacked = top.compose(above)
    #expect(try await stacked.get("a") == "a1")
    try await top.clear()
    #expect(try await stacked.get("a") == "a1!")
    clock.advance(by: .seconds(10))
    #expect(try await stacked.get("a") == "a1")
    #expect(source.asked.compactMap(\.self).isEmpty)
  }

  @Test("a value that cannot be turned back for the source is fetched again")
  func turnsOneWay() async throws {
    let oneWay = TwoWayTransformationBox<String, String>(
      transform: { "<\($0)>" }, inverseTransform: { _ in throw CacheError(.simulated, "one way") })
    let fetcher = source.fetcher(clock)
    let plain = memory().compose(EmptyLevel<String, String>().compose(fetcher).transformValues(oneWay))
    let keyed = memory().compose(
      fetcher.conditionedValueTransformation(ConditionedTwoWayTransformationBox<String, String, String>(oneWay)))
    for stack in [plain.normalize(), keyed.normalize()] {
      for _ in 0..<2 {
        #expect(try await stack.get("a") == "<a1>")
        clock.advance(by: .seconds(10))
      }
    }
    #expect(source.asked == [nil, nil, nil, nil])
  }

  @Test("while the source fails the expired value stays, is served if that is wanted, and is asked about afterwards")
  func failure() async throws {
    let stack = memory().staleIfError(source.fetcher(clock).pooled(), for: .seconds(50), observer: nil, clock: clock)
    #expect(try await stack.get("a") == "a1")
    clock.advance(by: .seconds(10))
    source.state.withLock { $0.failure = CacheError(.simulated, "down") }
    for _ in 0..<3 { #expect(try await stack.lookup("a").entry?.isStale == true) }
    source.state.withLock { $0.failure = nil }
    #expect(try await stack.lookup("a").entry?.isStale == false)
    #expect(source.asked == [nil, "v1", "v1", "v1", "v1"])
  }

  @Test("a value that is read anew in the background, ahead of its deadline or after it, is asked about")
  func background() async throws {
    let observer = RecordingObserver()
    let stack = memory().compose(
      source.fetcher(clock), revalidating: RevalidationPolicy(whileRevalidate: .seconds(50), ahead: .seconds(2)),
      observer: observer, clock: clock)
    #expect(try await stack.get("a") == "a1")
    clock.advance(by: .seconds(9))
    #expect(try await stack.get("a") == "a1")
    await observer.event { if case .operated(.refreshEnded) = $0.kind { true } else { false } }
    #expect(source.asked == [nil, "v1"])
    #expect(try await stack.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(20)))
  }

  @Test("a removal while a value is renewed wins, and so does a set", arguments: ["remove", "set", "clear"])
  func writeWins(_ write: String) async throws {
    let (memory, gate) = (memory(), Gate())
    let stack = memory.compose(source.fetcher(clock).pooled(), clock: clock)
    #expect(try await stack.get("a") == "a1")
    clock.advance(by: .seconds(10))
    source.state.withLock { $0.gate = gate }
    let reader = Task { try await stack.get("a") }
    await gate.arrivals(1)
    switch write {
    case "remove": try await stack.remove("a")
    case "set": try await stack.set("mine", forKey: "a")
    default: try await stack.clear()
    }
    gate.open()
    #expect(try await reader.value == (write == "set" ? "mine" : "a1"))
    #expect(try await memory.lookupIncludingExpired("a").entry?.value == (write == "set" ? "mine" : nil))
  }

  @Test("two who read what has expired make one request")
  func once() async throws {
    let gate = Gate()
    let observer = RecordingObserver()
    let stack = memory().compose(source.fetcher(clock).pooled(observer: observer), clock: clock)
    #expect(try await stack.get("a") == "a1")
    clock.advance(by: .seconds(10))
    source.state.withLock { $0.gate = gate }
    let readers = (0..<50).map { _ in Task { try await stack.get("a") } }
    await observer.event { if case .flightJoined(callers: 50) = $0.kind { true } else { false } }
    gate.open()
    for reader in readers { #expect(try await reader.value == "a1") }
    #expect(source.asked == [nil, "v1"])
  }

  @Test("a source that says of nothing that it has not changed is told so")
  func nothingToKeep() async throws {
    let source = BasicFetcher<String, Int>(clock: clock, renewing: { _, _ in .notModified() })
    let error = await #expect(throws: CacheError.self) { try await source.get("a") }
    #expect(error?.code == .valueNotInCache)
  }

  @Test("what is not told anew of a value that still holds stays as it was")
  func terms() async throws {
    let source = BasicFetcher<String, Int>(
      clock: clock,
      renewing: { _, old in
        guard old != nil else {
          return .value(1, expiry: .after(.seconds(10)), cost: 3, tags: ["red"], validator: "x")
        }
        return .notModified(expiry: .after(.seconds(10)))
      })
    let memory = MemoryCacheLevel<String, Int>(keepsExpired: .seconds(100), clock: clock)
    let stack = memory.compose(source, clock: clock)
    for _ in 0..<3 {
      let entry = try #require(try await stack.lookup("a").entry)
      #expect(entry.validator == "x" && entry.tags.contains("red"))
      clock.advance(by: .seconds(10))
    }
    #expect(try await stack.removeAll(tagged: "red") == 1)
    var entry = Entry(1)
    entry.tags = ["b"]
    entry.validator = "1"
    entry.validator = "2"
    #expect(entry.validator == "2" && entry.tags.count == 2)
    // To `String`, an accent would belong to what stands before it in the tag.
    entry.validator = "\u{301}3"
    #expect(entry.validator?.unicodeScalars.elementsEqual("\u{301}3".unicodeScalars) == true && entry.tags.count == 2)
    entry.validator = nil
    #expect(entry.tags == ["b"])
  }
}
