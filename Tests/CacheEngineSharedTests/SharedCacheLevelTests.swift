import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct SharedCacheLevelTests {
  typealias Level = SharedCacheLevel<String, Data>

  let clock: ManualClock
  let store: SimulatedSharedStore

  init() {
    clock = ManualClock()
    store = SimulatedSharedStore(clock: clock)
  }

  func level(
    _ client: SimulatedSharedClient, keepsExpired: Duration = .zero, encryption: SharedEncryption? = nil
  ) throws -> Level {
    try Level(
      client, namespace: "test", keepsExpired: keepsExpired, encryption: encryption, valueCoding: .data,
      clock: clock)
  }

  // MARK: Stale values

  @Test("what it is told to forget it keeps as a stale value, which stands in where nothing else is to be had")
  func keepsStale() async throws {
    let faults = FaultInjector(clock: clock)
    let shared = try level(store.client("here"), keepsExpired: .seconds(60))
    let below = ScriptedLevel<String, Data> { _ in throw CacheError(.simulated, "down") }
    let cache = shared.injectingFaults(faults).staleIfError(below, for: .seconds(60), observer: nil, clock: clock)
    try await shared.set(Data([1]), forKey: "a")
    faults.fault = Fault(isDown: true)
    await #expect(throws: CacheError.self) { try await cache.invalidate("a") }
    faults.fault = .none
    #expect(try await shared.get("a") == Data([1]))
    try await cache.invalidate("a")
    #expect(try await shared.get("a") == nil)
    let entry = try await cache.lookup("a").entry
    #expect(entry?.value == Data([1]) && entry?.isStale == true)
    // Nobody knows the keys of all.
    try await cache.invalidateAll()
    #expect(try await shared.lookupIncludingExpired("a").entry == nil)
  }

  // MARK: Contract

  private func expectContract<L: CacheLevel>(
    _ name: String, _ capabilities: LevelCapabilities, make: @escaping @Sendable () async throws -> LevelUnderTest<L>
  ) async where L.Key == String, L.Value == Data {
    let values = (0..<3).map { Data("value \($0)".utf8) }
    let contract = LevelContract(name, values: values, capabilities: capabilities, make: make)
    let violations = await contract.violations()
    #expect(violations == [], "\(violations.map(String.init(describing:)).joined(separator: "; "))")
  }

  @Test("a shared level keeps the contract, over another process too", arguments: [false, true])
  func contract(isSealed: Bool) async {
    for expiry in [Expiry.never, .after(.seconds(3_600))] {
      await expectContract("shared", [.expiring, .durable]) {
        let clock = ManualClock()
        let store = SimulatedSharedStore(clock: clock)
        @Sendable func level(_ name: String) throws -> Level {
          try Level(
            store.client(name), namespace: "test", expiry: expiry,
            encryption: isSealed ? SharedEncryption(TestCipher(), secret: TestCipher.secret) : nil, valueCoding: .data,
            clock: clock)
        }
        return LevelUnderTest(try level("here"), clock: clock) { _ in try level("there") }
      }
    }
  }

  @Test("memory above a shared level that listens keeps the contract, and so does a pool with leases")
  func composedContract() async {
    await expectContract("memory+shared", [.expiring, .durable]) {
      let clock = ManualClock()
      let store = SimulatedSharedStore(clock: clock)
      @Sendable func level(_ name: String) throws -> CoherentLevel<MemoryCacheLevel<String, Data>, Level> {
        let client = store.client(name)
        let shared = try Level(client, namespace: "test", valueCoding: .data, clock: clock)
        return MemoryCacheLevel<String, Data>(clock: clock).compose(
          shared, coherence: Coherence(client, of: shared), clock: clock)
      }
      let here = try level("here")
      try await turns { here.coherence.deafSince == nil }
      return LevelUnderTest(here, clock: clock) { _ in try level("there") }
    }
    await expectContract("shared pool", []) {
      let shared = try Level(SimulatedSharedStore().client("here"), namespace: "test", valueCoding: .data)
      return LevelUnderTest(EmptyLevel<String, Data>().sharedPool(shared))
    }
  }

  // MARK: Lifetimes

  @Test("lifetimes go by the store's clock, whatever the processes' clocks say")
  func clocks() async throws {
    let (early, late) = (
      ManualClock(now: CacheInstant(nanoseconds: 1), timeSinceEpoch: .seconds(1_767_225_600 - 3_600)),
      ManualClock(now: CacheInstant(nanoseconds: 5_000), timeSinceEpoch: .seconds(1_767_225_600 + 3_600))
    )
    let writer = try Level(store.client("early"), namespace: "test", valueCoding: .data, clock: early)
    let reader = try Level(store.client("late"), namespace: "test", valueCoding: .data, clock: late)
    try await writer.set(Data([1]), forKey: "a", expiry: .after(.seconds(60)))
    #expect(try await reader.lookup("a").entry?.deadline == late.now.advanced(by: .seconds(60)))
    #expect(try await reader.lookup("a").entry?.created == late.now)
    for clock in [clock, early, late] { clock.advance(by: .seconds(59)) }
    #expect(try await reader.get("a") == Data([1]))
    for clock in [clock, early, late] { clock.advance(by: .seconds(1)) }
    #expect(try await reader.lookup("a").missReason == .expired)
    #expect(try await writer.lookup("a").missReason == .expired)
  }

  @Test("expired values are kept for those who ask, and nothing stays for ever")
  func keepsExpired() async throws {
    let level = try level(store.client("here"), keepsExpired: .seconds(30))
    try await level.set(Data([1]), forKey: "a", expiry: .after(.seconds(60)))
    try await level.set(Data([2]), forKey: "b")
    #expect(store.life(of: Array("test:r:a".utf8)) == .seconds(91))
    #expect(store.life(of: Array("test:r:b".utf8)) == .seconds(30 * 86_400 + 31))
    try await level.set(Data([3]), forKey: "c", expiry: .after(.seconds(365 * 86_400)))
    #expect(store.life(of: Array("test:r:c".utf8)) == .seconds(30 * 86_400 + 31))
    clock.advance(by: .seconds(60))
    #expect(try await level.get("a") == nil)
    #expect(try await level.lookupIncludingExpired("a").entry?.isStale == true)
    clock.advance(by: .seconds(30))
    #expect(try await level.lookupIncludingExpired("a").entry == nil)
    try await level.expire("b")
    #expect(try await level.lookup("b").missReason == .expired)
    #expect(try await level.lookupIncludingExpired("b").entry?.value == Data([2]))
  }

  // MARK: Removal of many

  @Test("a clear is one write, which holds for all processes, and what it leaves behind has an end")
  func clears() async throws {
    let client = store.client("here")
    let (here, there) = (try level(client), try level(store.client("there")))
    for key in 0..<50 { try await there.set(Data([1]), forKey: "\(key)") }
    let before = client.calls.count
    try await here.clear()
    #expect(client.calls.count == before + 1)
    for key in 0..<50 { #expect(try await there.get("\(key)") == nil) }
    // The writer's idea of the stamp is out of date now; what it writes holds all the same.
    try await there.set(Data([2]), forKey: "1")
    #expect(try await here.get("1") == Data([2]))
    for name in store.contents.keys where name.starts(with: Array("test:r:".utf8)) {
      let life = try #require(store.life(of: name))
      #expect(life <= .seconds(30 * 86_400 + 1))
    }
  }

  @Test("a removal by tag is one write as well, and leaves what has not the tag")
  func removesTagged() async throws {
    let client = store.client("here")
    let (here, there) = (try level(client), try level(store.client("there")))
    try await there.set(Data([1]), forKey: "a", tags: ["x", "ünï"])
    try await there.set(Data([2]), forKey: "b", tags: ["y"])
    try await there.set(Data([3]), forKey: "c")
    #expect(try await here.lookup("a").entry?.tags == ["x", "ünï"])
    let before = client.calls.count
    try await here.removeAll(tagged: "x")
    #expect(client.calls.count == before + 1)
    #expect(try await there.batchGetSome(["a", "b", "c"]).map(\.key) == ["b", "c"])
    try await there.set(Data([4]), forKey: "a", tags: ["x"])
    #expect(try await here.get("a") == Data([4]))
  }

  @Test("a stamp that the store lost counts as a new one, for ever", arguments: ["test:s:", "test:t:x"])
  func lostStamps(stamp: String) async throws {
    let (here, there) = (try level(store.client("here")), try level(store.client("there")))
    try await here.set(Data([1]), forKey: "old", tags: ["x"])
    try await here.clear()
    try await here.set(Data([1]), forKey: "a", tags: ["x"])
    store.plant(Array(stamp.utf8), nil)
    #expect(try await there.get("a") == nil)
    // Who still knows the stamp that is gone does not bring it back.
    try await here.set(Data([2]), forKey: "b", tags: ["x"])
    for level in [here, there] {
      #expect(try await level.get("b") == Data([2]))
      #expect(try await level.get("a") == nil)
      #expect(try await level.get("old") == nil)
    }
  }

  // MARK: Conditions

  @Test("of many processes that set a key if it is absent one succeeds")
  func setsIfAbsent() async throws {
    let levels = try (0..<8).map { try level(store.client("\($0)")) }
    let won = try await withThrowingTaskGroup(of: Bool.self) { group in
      for (number, level) in levels.enumerated() {
        group.addTask { try await level.setIfAbsent(Data([UInt8(number)]), forKey: "a") }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(won == 1)
    #expect(try await levels[0].replace(Data([9]), forKey: "a"))
    #expect(try await levels[1].get("a") == Data([9]))
    #expect(try await !levels[0].replace(Data([9]), forKey: "b"))
    try await levels[2].clear()
    #expect(try await levels[0].setIfAbsent(Data([10]), forKey: "a", expiry: .after(.seconds(1))))
    clock.advance(by: .seconds(1))
    #expect(try await levels[1].setIfAbsent(Data([11]), forKey: "a"))
  }

  @Test("a condition is judged at the moment of the store, not when it was read")
  func comesBetween() async throws {
    let client = store.client("here")
    let (here, there) = (try level(client), try level(store.client("there")))
    try await here.set(Data([0]), forKey: "warm")
    let isFirst = Mutex(true)
    client.onCall { call in
      guard case .commit = call,
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      else { return .done }
      try await there.set(Data([2]), forKey: "a")
      return .done
    }
    #expect(try await !here.setIfAbsent(Data([1]), forKey: "a"))
    #expect(try await there.get("a") == Data([2]))
  }

  @Test("what is stored on a condition outlives a clear, or a removal by tag, that came first", arguments: [nil, "x"])
  func removalComesBetween(tag: String?) async throws {
    let client = store.client("here")
    let (here, there) = (try level(client), try level(store.client("there")))
    try await here.set(Data([0]), forKey: "warm", tags: ["x"])
    let isFirst = Mutex(true)
    client.onCall { call in
      guard case .commit = call,
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      else { return .done }
      if let tag { try await there.removeAll(tagged: tag) } else { try await there.clear() }
      return .done
    }
    #expect(try await here.store(Data([1]), forKey: "a", terms: StoreTerms(tags: ["x"]), if: .absent))
    #expect(try await there.get("a") == Data([1]))
    #expect(try await there.get("warm") == nil)
  }

  // MARK: Writes that fail

  @Test(
    "a write that failed leaves its key a miss here until the store is set right; nobody's newer value is replaced",
    arguments: [SimulatedSharedClient.Fate.refused, .unanswered])
  func unsettled(fate: SimulatedSharedClient.Fate) async throws {
    let client = store.client("here")
    let (here, there) = (try level(client), try level(store.client("there")))
    try await here.set(Data([1]), forKey: "a")
    client.onCall { call in if case .commit = call { fate } else { .done } }
    await #expect(throws: CacheError.self) { try await here.set(Data([2]), forKey: "a") }
    #expect(here.unsettledCount == 1)
    #expect(try await here.lookup("a").missReason == .unsettled)
    #expect(try await here.lookupIncludingExpired("a").entry == nil)
    try await there.set(Data([3]), forKey: "a")
    #expect(try await here.lookup("a").missReason == .unsettled)
    client.onCall(nil)
    try await recover(here)
    #expect(try await here.lookup("a").missReason == .absent)
    #expect(try await there.get("a") == nil)
    try await there.set(Data([4]), forKey: "a")
    #expect(try await here.get("a") == Data([4]))
  }

  @Test(
    "a store on a condition of which nobody knows what became leaves its key a miss here until the store is set right",
    arguments: [SimulatedSharedClient.Fate.refused, .unanswered])
  func unsettledOnCondition(fate: SimulatedSharedClient.Fate) async throws {
    let client = store.client("here")
    let here = try level(client)
    try await here.set(Data([1]), forKey: "a")
    client.onCall { call in if case .commit = call { fate } else { .done } }
    await #expect(throws: CacheError.self) { try await here.replace(Data([2]), forKey: "a") }
    #expect(here.unsettledCount == 1)
    #expect(try await here.lookup("a").missReason == .unsettled)
    client.onCall(nil)
    try await recover(here)
    #expect(try await here.lookup("a").missReason == .absent)
  }

  /// Lets the clock go on until everything is settled.
  private func recover(_ level: Level) async throws {
    try await turns {
      clock.advance(by: .milliseconds(50))
      return level.unsettledCount == 0
    }
  }

  @Test("a later write of the key settles it at once; one that is cancelled under way ends all the same, and is known")
  func settles() async throws {
    let client = store.client("here")
    let here = try level(client)
    try await here.set(Data([0]), forKey: "b")
    client.onCall { _ in .refused }
    await #expect(throws: CacheError.self) { try await here.set(Data([1]), forKey: "a") }
    await #expect(throws: CacheError.self) { try await here.remove("b") }
    #expect(here.unsettledCount == 2)
    client.onCall(nil)
    try await here.set(Data([2]), forKey: "a")
    #expect(try await here.get("a") == Data([2]))
    #expect(try await here.lookup("b").missReason == .unsettled)
    let gate = Gate()
    client.onCall { _ in
      try await gate.pass()
      return .done
    }
    let writer = Task { try await here.set(Data([3]), forKey: "a") }
    await gate.arrivals(1)
    writer.cancel()
    gate.open()
    try await writer.value
    #expect(try await here.get("a") == Data([3]))
    try await here.remove(["b"])
    #expect(here.unsettledCount == 0)
    #expect(try await here.lookup("b").missReason == .absent)
  }

  @Test("more failed writes than are remembered, and a clear that failed, leave everything a miss until it is cleared")
  func unsettledMany() async throws {
    let client = store.client("here")
    let there = try level(store.client("there"))
    let small = try Level(
      client, namespace: "test", unsettledWrites: 2, keyCoding: .utf8, valueCoding: .data, clock: clock)
    for overflows in [true, false] {
      try await there.set(Data([1]), forKey: "other")
      #expect(try await small.get("other") == Data([1]))
      client.onCall { call in if case .commit = call { .refused } else { .done } }
      if overflows {
        for key in ["a", "b", "c"] {
          await #expect(throws: CacheError.self) { try await small.set(Data([1]), forKey: key) }
        }
      } else {
        await #expect(throws: CacheError.self) { try await small.clear() }
      }
      #expect(small.unsettledCount == 1)
      #expect(try await small.lookup("other").missReason == .unsettled)
      client.onCall(nil)
      try await recover(small)
      #expect(try await small.lookup("other").missReason == .absent)
      #expect(try await there.get("other") == nil)
    }
  }

  @Test("a removal by tag that failed leaves what has the tag a miss, and nothing else")
  func unsettledTag() async throws {
    let client = store.client("here")
    let here = try level(client)
    try await here.set(Data([1]), forKey: "a", tags: ["x"])
    try await here.set(Data([2]), forKey: "b")
    client.onCall { call in if case .commit = call { .refused } else { .done } }
    await #expect(throws: CacheError.self) { try await here.removeAll(tagged: "x") }
    #expect(try await here.lookup("a").missReason == .unsettled)
    #expect(try await here.get("b") == Data([2]))
    client.onCall(nil)
    try await recover(here)
    #expect(try await here.lookup("a").missReason == .absent)
  }

  @Test("a value that is settled while it is read is not answered as it was before")
  func settledWhileRead() async throws {
    let client = store.client("here")
    let here = try level(client)
    try await here.set(Data([1]), forKey: "a")
    let gate = Gate()
    client.onCall { call in if case .commit = call { .refused } else { .done } }
    await #expect(throws: CacheError.self) { try await here.set(Data([2]), forKey: "a") }
    client.onCall { call in
      if case .read = call { try await gate.pass() }
      return .done
    }
    let reader = Task { try await here.lookup("a").missReason }
    await gate.arrivals(1)
    try await here.set(Data([3]), forKey: "a")
    gate.open()
    #expect(try await reader.value == .unsettled)
    #expect(try await here.get("a") == Data([3]))
  }

  // MARK: Bulk

  @Test("many keys are read and written with one question each")
  func bulk() async throws {
    let client = store.client("here")
    let here = try level(client)
    try await here.set([("a", Data([1])), ("b", Data([2])), ("a", Data([3]))])
    #expect(
      try await here.lookup(["b", "x", "a", "b"]).map { try $0.result.get().entry?.value } == [
        Data([2]), nil, Data([3]), Data([2]),
      ])
    // The time, the stamp that was not known yet, one write and one read.
    #expect(client.calls.count == 4)
    try await here.remove(["a", "b"])
    #expect(client.calls.count == 5)
    #expect(try await here.batchGetSome(["a", "b"]).isEmpty)
  }

  @Test("of many keys one that cannot be turned into bytes fails alone, by the name of the level")
  func bulkWithoutBytes() async throws {
    let coding = ByteCoding<String>(
      name: "short",
      encode: { key in
        guard key.count < 5 else { throw CacheError(.encodingFailed, "too long") }
        return Data(key.utf8)
      }, decode: { String(decoding: $0, as: UTF8.self) })
    let here = try Level(
      store.client("here"), namespace: "test", keyCoding: coding, valueCoding: .data, clock: clock)
    try await here.set([("a", Data([1])), ("b", Data([2]))])
    let answers = try await here.lookup(["b", "too long", "a", "too long"])
    #expect(answers.map { (try? $0.result.get())?.entry?.value } == [Data([2]), nil, Data([1]), nil])
    let error = #expect(throws: CacheError.self) { try answers[1].result.get() }
    #expect(error?.code == .encodingFailed && error?.level == here.name)
    #expect(try await here.batchGetSome(["too long", "a"]).map(\.key) == ["a"])
  }

  // MARK: Encryption

  @Test("with encryption the store learns no key, tag or value, and what it makes up is not believed")
  func encrypted() async throws {
    let encryption = SharedEncryption(TestCipher(), secret: TestCipher.secret)
    let here = try level(store.client("here"), encryption: encryption)
    try await here.set(Data("the value".utf8), forKey: "the key", tags: ["the tag"])
    try await here.set(Data("another".utf8), forKey: "other")
    for (name, bytes) in store.contents {
      for text in ["the key", "the tag", "the value", "data"] {
        #expect(!Data(name + bytes).contains(text.utf8), "\(text)")
      }
    }
    #expect(try await here.lookup("the key").entry?.tags == ["the tag"])
    let records = store.contents.filter { $0.key.starts(with: Array("test:r:".utf8)) }
    let names = Array(records.keys)
    let plain = try level(store.client("there"))
    try await plain.set(Data([1]), forKey: "plain")
    let error = await #expect(throws: CacheError.self) { try await readRaw(names[0], of: plain) }
    #expect(error?.code == .wrongKey)
    // A record in another's place, and one that is not sealed.
    store.plant(names[0], records[names[1]])
    store.plant(names[1], store.contents[Array("test:r:plain".utf8)])
    for key in ["the key", "other"] {
      let reason = try await here.lookup(key).missReason
      #expect(reason == .damaged || reason == .authenticationFailed, "\(key)")
    }
    try await here.removeAll(tagged: "the tag")
  }

  /// Reads what stands under a name as a level without encryption would, under the key that has that name.
  private func readRaw(_ name: [UInt8], of level: Level) async throws {
    let raw = try SharedCacheLevel<Data, Data>(
      store.client("raw"), namespace: "test", keyCoding: .data, valueCoding: .data, clock: clock)
    _ = try await raw.get(Data(name.dropFirst("test:r:".utf8.count)))
  }

  // MARK: Bad input

  @Test(
    "a namespace that could be mistaken is refused",
    arguments: ["", "a:b", "a b", "a\n", "{a}", "ä", String(repeating: "a", count: 129)])
  func namespaces(text: String) {
    let error = #expect(throws: CacheError.self) {
      try Level(store.client("here"), namespace: text, valueCoding: .data)
    }
    #expect(error?.code == .invalidSetting)
  }

  @Test("a value that is too large is refused, and the one before stays")
  func tooLarge() async throws {
    let small = try Level(
      store.client("here"), namespace: "test", largestValue: 3, keyCoding: .utf8, valueCoding: .data, clock: clock)
    try await small.set(Data([1, 2, 3]), forKey: "a")
    let error = await #expect(throws: CacheError.self) { try await small.set(Data([1, 2, 3, 4]), forKey: "a") }
    #expect(error?.code == .tooLarge)
    #expect(try await small.get("a") == Data([1, 2, 3]))
    #expect(small.unsettledCount == 0)
  }

  @Test(
    "over an entry whose tag has a stranger's stamp values are stored on a condition, and the tag removes them",
    arguments: ["", "x", "17 bytes long ..."], [true, false])
  func foreignTags(stamp: String, keepsTag: Bool) async throws {
    let level = try level(store.client("here"))
    store.plant(Array("test:t:t".utf8), Array(stamp.utf8))
    try await level.set(Data([1]), forKey: "a", tags: ["t"])
    #expect(try await level.get("a") == Data([1]))
    let terms = StoreTerms(tags: keepsTag ? ["t"] : ["other"])
    #expect(try await level.store(Data([2]), forKey: "a", terms: terms, if: .present))
    #expect(try await level.get("a") == Data([2]))
    try await level.removeAll(tagged: "t")
    #expect(try await level.get("a") == (keepsTag ? nil : Data([2])))
    // A tag that is removed in between ends the entry that the condition saw.
    try await level.set(Data([3]), forKey: "b", tags: ["t"])
    try await level.removeAll(tagged: "t")
    #expect(try await level.store(Data([4]), forKey: "b", terms: StoreTerms(), if: .present) == false)
  }
}

/// Hides and authenticates well enough to see whether it is used.
struct TestCipher: StoreCipher {
  static let secret = Array(repeating: UInt8(7), count: 32)

  var sealingKey: String { "k" }
  var openingKeys: Set<String> { ["k"] }

  private func sum(_ bytes: [UInt8], _ binding: [UInt8]) -> UInt64 {
    (bytes + [0xff] + binding).reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  func seal(_ bytes: [UInt8], binding: [UInt8]) throws -> [UInt8] {
    let sum = sum(bytes, binding)
    return (0..<8).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) } + bytes.map { $0 ^ 0xa5 }
  }

  func open(_ sealed: [UInt8], binding: [UInt8]) throws -> [UInt8] {
    guard sealed.count >= 8 else { throw CacheError(.simulated, "short") }
    let bytes = sealed.dropFirst(8).map { $0 ^ 0xa5 }
    guard try seal(bytes, binding: binding) == sealed else { throw CacheError(.simulated, "changed") }
    return bytes
  }

  func key(of sealed: [UInt8]) -> String? { sealed.count >= 8 ? "k" : nil }

  func name(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] {
    let (first, second) = (sum(bytes, secret), sum(secret, bytes))
    return (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? first : second) >> (($0 % 8) * 8)) }
  }
}
