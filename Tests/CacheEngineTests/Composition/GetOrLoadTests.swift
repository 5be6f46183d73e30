import CacheEngine
import CacheEngineTesting
import TestSupport
import Testing

/// A value that is there is not loaded; one that is not, or has expired, is loaded once, on whatever level.
@Suite struct GetOrLoadTests {
  private let clock = ManualClock()
  private let lasting = Expiry.after(.seconds(10))

  private func memory() -> MemoryCacheLevel<String, String> {
    MemoryCacheLevel(keepsExpired: .seconds(100), clock: clock)
  }

  private func check(
    _ level: some CacheLevel<String, String>, _ comment: Comment, isShown: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let seen = Calls<String?>()
    func load() async throws -> String {
      try await level.value(forKey: "a") { [lasting] old in
        seen.append(old?.validator)
        guard old?.validator == "v1" else { return .value("one", expiry: lasting, validator: "v1") }
        return .notModified(expiry: lasting)
      }
    }
    #expect(try await load() == "one", comment, sourceLocation: sourceLocation)
    #expect(try await load() == "one", comment, sourceLocation: sourceLocation)
    for _ in 0..<2 {
      clock.advance(by: .seconds(10))
      #expect(try await load() == "one", comment, sourceLocation: sourceLocation)
    }
    #expect(seen.all == (isShown ? [nil, "v1", "v1"] : [nil, nil, nil]), comment, sourceLocation: sourceLocation)
    // However many ask.
    try await level.remove("a")
    let gate = Gate()
    let loads = Calls<Int>()
    let callers = (0..<20).map { _ in
      Task {
        try await level.value(forKey: "a") { _ in
          loads.append(1)
          try await gate.pass()
          return .value("two", expiry: .after(.seconds(10)))
        }
      }
    }
    await gate.arrivals(1)
    gate.open()
    for caller in callers { #expect(try await caller.value == "two", comment, sourceLocation: sourceLocation) }
    #expect(loads.count == 1, comment, sourceLocation: sourceLocation)
  }

  @Test("what somebody stores between two looks for a value is taken, and none is loaded")
  func storedInBetween() async throws {
    let asked = Tally()
    let level = ScriptedLevel<String, String> { _ in asked.add() == 1 ? .miss(.absent) : .hit(Entry("there")) }
    let value = try await level.value(forKey: "a") { _ in .value("loaded") }
    #expect(value == "there" && asked.count == 2)
  }

  private let same = TwoWayTransformationBox<String, String>(
    transform: { String($0.dropFirst().dropLast()) }, inverseTransform: { "<\($0)>" })

  @Test("a value is loaded once and renewed by its validator, on every level and behind every operator")
  func everyLevel() async throws {
    let observer = RecordingObserver()
    let folder = DiskFolder()
    try await check(memory(), "memory")
    try await check(
      try DiskCacheLevel<String, String>(jsonIn: folder.path, keepsExpired: .seconds(100), clock: clock), "disk")
    try await check(memory().compose(memory()), "compose")
    try await check(
      memory().compose(memory()).compose(BasicFetcher<String, String> { _ in nil }), "a source that misses")
    try await check(memory().pooled(), "pooled")
    try await check(memory().compose(memory().pooled()).pooled(), "pools")
    try await check(memory().observed(as: "memory", by: observer, clock: clock), "observed")
    try await check(memory().compose(memory()).traced(by: observer, clock: clock), "traced")
    try await check(memory().compose(memory()).normalize(), "normalize")
    try await check(memory().compose(memory()).transformValues(same), "transformValues")
    try await check(memory().compose(memory()).transformKeys { (key: String) in "/\(key)" }, "transformKeys")
    try await check(memory().postProcess { $0 }, "postProcess", isShown: false)
    try await check(memory().conditioned { _ in true }, "conditioned")
    try await check(memory().capRequests(1), "capRequests")
    try await check(memory().timeout(after: .seconds(1), clock: clock), "timeout")
    try await check(memory().retry(clock: clock), "retry")
    try await check(memory().circuitBreaker(clock: clock), "circuitBreaker")
    try await check(memory().expiring(after: .seconds(100), clock: clock), "expiring")
    try await check(memory().maximumAge(.seconds(100), clock: clock), "maximumAge")
    try await check(switchLevels(memory(), memory()) { _ in .first }, "switchLevels")
  }

  @Test(
    "a list is loaded once however many ask for it, and of its keys those that were written meanwhile are left alone",
    arguments: [false, true])
  func lists(isHidden: Bool) async throws {
    let stack = memory().compose(memory())
    let level = isHidden ? stack.normalize().allBatch().normalize() : stack.allBatch().normalize()
    let gate = Gate()
    let loads = Calls<Int>()
    let callers = (0..<20).map { _ in
      Task.immediate {
        try await level.value(forKey: ["a", "b", "a"]) { _ in
          loads.append(1)
          try await gate.pass()
          return .value(["0", "1", "2"], expiry: .after(.seconds(10)))
        }
      }
    }
    await gate.arrivals(1)
    try await stack.set("written", forKey: "b")
    gate.open()
    for caller in callers { #expect(try await caller.value == ["0", "1", "2"]) }
    #expect(loads.count == 1)
    #expect(try await stack.get("a") == "2")
    #expect(try await stack.get("b") == "written")
  }

  @Test(
    "a set, a removal or a clear that comes while the value is loaded wins",
    arguments: ["set", "remove", "clear", "tagged"], ["compose", "pooled", "observed", "keys", "normalize"])
  func writeWins(_ write: String, _ shape: String) async throws {
    let bottom = memory()
    let stack = memory().compose(bottom)
    let level: BasicCache<String, String> =
      switch shape {
      case "pooled": stack.pooled().normalize()
      case "observed": stack.observed(as: "all", by: RecordingObserver(), clock: clock).normalize()
      case "keys": stack.transformKeys { (key: String) in key }.normalize()
      case "normalize": stack.normalize().normalize()
      default: stack.normalize()
      }
    try await checkWriteWins(write, level, over: bottom)
  }

  @Test(
    "a set, a removal or a clear while the value is loaded wins also if an operator stands around a hidden type",
    arguments: ["set", "remove", "clear", "tagged"],
    ["maximumAge", "retry", "traced", "observed", "keys", "pool inside"])
  func writeWinsAroundHidden(_ write: String, _ shape: String) async throws {
    let bottom = memory()
    let hidden = memory().compose(bottom).normalize()
    let level: BasicCache<String, String> =
      switch shape {
      case "maximumAge": hidden.maximumAge(.seconds(100), clock: clock).normalize()
      case "retry": hidden.retry(clock: clock).normalize()
      case "traced": hidden.traced(by: RecordingObserver(), clock: clock).normalize()
      case "observed": hidden.observed(as: "all", by: RecordingObserver(), clock: clock).normalize()
      case "keys": hidden.transformKeys { (key: String) in key }.normalize()
      default: hidden.pooled().normalize().retry(clock: clock).normalize()
      }
    try await checkWriteWins(write, level, over: bottom)
  }

  private func checkWriteWins(
    _ write: String, _ level: BasicCache<String, String>, over bottom: MemoryCacheLevel<String, String>
  ) async throws {
    for isKept in [false, true] {
      if isKept {
        try await level.store("old", forKey: "a", terms: StoreTerms(expiry: lasting, tags: ["red"]))
        clock.advance(by: .seconds(10))
      }
      let gate = Gate()
      let maker = Task {
        try await level.value(forKey: "a") { old in
          #expect((old?.value == "old") == isKept)
          try await gate.pass()
          return .value("made", tags: ["red"])
        }
      }
      await gate.arrivals(1)
      switch write {
      case "set": try await level.set("mine", forKey: "a")
      case "remove": try await level.remove("a")
      case "tagged": _ = try await level.removeAll(tagged: "red")
      default: try await level.clear()
      }
      gate.open()
      #expect(try await maker.value == "made")
      let left = write == "set" ? "mine" : nil
      #expect(try await level.lookupIncludingExpired("a").entry?.value == left)
      #expect(try await bottom.lookupIncludingExpired("a").entry?.value == left)
      try await level.clear()
    }
  }

  @Test("what a read finds that began before a load takes the place of nothing that this stored")
  func earlyRead() async throws {
    let (upper, lower, gate, reads) = (memory(), memory(), Gate(), Calls<String>())
    try await lower.set("old", forKey: "a")
    // It finds the old value once, and then fails.
    let flaky = BasicCache<String, String>(
      get: { key in
        let value = try await lower.get(key)
        reads.append(key)
        guard reads.count == 1 else { throw CacheError(.simulated, "down") }
        try await gate.pass()
        return value
      }, set: { try await lower.set($0, forKey: $1) }, remove: { try await lower.remove($0) },
      clear: { try await lower.clear() })
    let cache = upper.compose(flaky, observer: nil)
    let early = Task { try await cache.get("a") }
    await gate.arrivals(1)
    #expect(try await cache.value(forKey: "a") { _ in .value("made") } == "made")
    gate.open()
    #expect(try await early.value == "made")
    #expect(upper.peek("a") == "made" && lower.peek("a") == "made")
  }

  @Test(
    "of a level by itself a set is noticed, and that the expired entry has gone", arguments: ["set", "remove"],
    ["memory", "maximumAge", "four methods"])
  func alone(_ write: String, _ shape: String) async throws {
    let inside = memory()
    let level: any CacheLevel<String, String> =
      switch shape {
      case "maximumAge": inside.maximumAge(.seconds(100), clock: clock)
      case "four methods": OnlyFour(inside: inside)
      default: inside
      }
    try await checkAlone(level, write)
  }

  /// Cannot store on a condition.
  private struct OnlyFour: CacheLevel {
    let inside: MemoryCacheLevel<String, String>
    func get(_ key: String) async throws -> String? { try await inside.get(key) }
    func lookupIncludingExpired(_ key: String) async throws -> Lookup<String> {
      try await inside.lookupIncludingExpired(key)
    }
    func set(_ value: String, forKey key: String) async throws { try await inside.set(value, forKey: key) }
    func store(_ value: String, forKey key: String, terms: StoreTerms) async throws {
      try await inside.store(value, forKey: key, terms: terms)
    }
    func remove(_ key: String) async throws { try await inside.remove(key) }
    func clear() async throws { try await inside.clear() }
  }

  private func checkAlone(_ level: some CacheLevel<String, String>, _ write: String) async throws {
    try await level.set("old", forKey: "a", expiry: lasting)
    clock.advance(by: .seconds(10))
    let gate = Gate()
    let maker = Task {
      try await level.value(forKey: "a") { old in
        try await gate.pass()
        return old == nil ? .value("made") : .notModified()
      }
    }
    await gate.arrivals(1)
    if write == "set" { try await level.set("mine", forKey: "a") } else { try await level.remove("a") }
    gate.open()
    #expect(try await maker.value == "old")
    #expect(try await level.lookupIncludingExpired("a").entry?.value == (write == "set" ? "mine" : nil))
  }

  @Test("a load that fails loses nothing, reaches everyone who waits and is not kept")
  func failure() async throws {
    struct Broken: Error {}
    let level = memory().compose(memory())
    try await level.set("old", forKey: "a", expiry: lasting)
    clock.advance(by: .seconds(10))
    await #expect(throws: Broken.self) { try await level.value(forKey: "a") { _ in throw Broken() } }
    #expect(try await level.lookupIncludingExpired("a").entry?.value == "old")
    #expect(try await level.value(forKey: "a") { _ in .notModified() } == "old")
    let error = await #expect(throws: CacheError.self) { try await level.value(forKey: "b") { _ in .notModified() } }
    #expect(error?.code == .valueNotInCache)
  }

  @Test("two levels of one kind, and two keys, do not share their loads")
  func apart() async throws {
    let gate = Gate()
    let (one, other) = (memory(), memory())
    let turned = [one.transformKeys { (key: String) in "1\(key)" }, one.transformKeys { (key: String) in "2\(key)" }]
    var makers: [Task<String, any Error>] = []
    func make(_ level: some CacheLevel<String, String>, _ key: String, _ value: String) {
      makers.append(
        Task {
          try await level.value(forKey: key) { _ in
            try await gate.pass()
            return .value(value)
          }
        })
    }
    make(one, "a", "0")
    make(other, "a", "1")
    make(one, "b", "2")
    make(turned[0], "a", "3")
    make(turned[1], "a", "4")
    await gate.arrivals(5)
    gate.open()
    for (place, maker) in makers.enumerated() { #expect(try await maker.value == "\(place)") }
    #expect(try await one.get("1a") == "3")
    #expect(try await one.get("2a") == "4")
  }

  @Test("who waits leaves when it is cancelled, and the last one cancels the load")
  func cancelled() async throws {
    let level = memory()
    let gate = Gate()
    let maker = Task {
      try await level.value(forKey: "a") { _ in
        try await gate.pass()
        return .value("made")
      }
    }
    await gate.arrivals(1)
    maker.cancel()
    await #expect(throws: CancellationError.self) { try await maker.value }
    #expect(try await level.value(forKey: "a") { _ in .value("again") } == "again")
  }

  @Test("the first caller leaves, and the load goes on for the second, who alone is told of its failure")
  func firstLeaves() async throws {
    struct Broken: Error {}
    let level = memory().compose(memory())
    for fails in [false, true] {
      let (gate, loads) = (Gate(), Calls<Int>())
      @Sendable func ask() async throws -> String {
        try await level.value(forKey: "a\(fails)") { _ in
          loads.append(1)
          try await gate.pass()
          if fails { throw Broken() }
          return .value("made")
        }
      }
      let first = Task { try await ask() }
      await gate.arrivals(1)
      let second = Task { try await ask() }
      let third = Task { try await ask() }
      third.cancel()
      await #expect(throws: CancellationError.self) { try await third.value }
      // Whether it has joined yet cannot be told; it finds the load or makes one, and then there are two.
      first.cancel()
      await #expect(throws: CancellationError.self) { try await first.value }
      gate.open()
      if fails {
        await #expect(throws: Broken.self) { try await second.value }
      } else {
        #expect(try await second.value == "made")
      }
      #expect(try await level.get("a\(fails)") == (fails ? nil : "made"))
    }
  }

  @Test("a load through a pool that waits for one through the composition inside, which waits for it, is told so")
  func circularThroughPool() async throws {
    let composed = memory().compose(memory())
    let pool = composed.pooled()
    let error = await #expect(throws: CacheError.self) {
      try await pool.value(forKey: "a") { _ in
        let inner = try await composed.value(forKey: "b") { _ in
          .value(try await pool.value(forKey: "a") { _ in .value("never") })
        }
        return .value(inner)
      }
    }
    #expect(error?.code == .circular)
  }

  @Test("a hidden type and the operators around it share their loads: one that waits for itself there is told so")
  func circularAroundHidden() async throws {
    let hidden = memory().compose(memory()).normalize()
    let error = await #expect(throws: CacheError.self) {
      try await hidden.value(forKey: "a") { [clock] _ in
        .value(try await hidden.retry(clock: clock).value(forKey: "a") { _ in .value("never") })
      }
    }
    #expect(error?.code == .circular)
  }

  @Test("an operator that answers otherwise than the level inside shares no loads with it")
  func otherAnswers() async throws {
    let levels = (0..<3).map { _ in memory().compose(memory()) }
    let operators: [BasicCache<String, String>] = [
      levels[0].fallback { _, _ in "in its place" }.normalize(), levels[1].conditioned { _ in false }.normalize(),
      levels[2].maximumAge(.seconds(10), clock: clock).normalize(),
    ]
    for ((inside, around), value) in zip(zip(levels, operators), ["in its place", "loaded", "loaded"]) {
      // If it did, this would wait for itself.
      let made = try await inside.value(forKey: "a") { _ in
        .value(try await around.value(forKey: "a") { _ in .value("loaded") })
      }
      #expect(made == value)
    }
  }

  @Test("P2 a load that asks for what it loads is told so", .timeLimit(.minutes(10)))
  func circular() async throws {
    let (one, other) = (memory(), memory().compose(memory()))
    @Sendable func make(_ isFirst: Bool) async throws -> String {
      if isFirst { return try await one.value(forKey: "a") { _ in .value(try await make(false)) } }
      return try await other.value(forKey: "a") { _ in .value(try await make(true)) }
    }
    let error = await #expect(throws: CacheError.self) { try await make(true) }
    #expect(error?.code == .circular)
  }
}
