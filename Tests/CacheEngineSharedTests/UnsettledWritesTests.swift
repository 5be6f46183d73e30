import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@testable import CacheEngineShared

/// What a success says of a failure depends on which of the two came first.
@Suite struct UnsettledWritesTests {
  /// A store that keeps nothing, and lets a test act while it is written to.
  private final class Store: SharedStore {
    let name = "store"
    let onCommit = Mutex<@Sendable ([SharedChange]) throws -> Void>({ _ in })

    func timeSinceEpoch() async throws -> Duration { .zero }

    func read(_ names: [[UInt8]]) async throws -> [[UInt8]?] { names.map { _ in nil } }

    func commit(
      _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
    ) async throws -> [[UInt8]?]? {
      let act = onCommit.withLock { $0 }
      try act(changes)
      return names.map { _ in nil }
    }
  }

  private let store = Store()
  private let id: [UInt8] = [1]

  private func unsettled() throws -> UnsettledWrites {
    UnsettledWrites(
      store, try SharedNamespace("test", level: "shared"), limit: 10, tagLife: .seconds(60), clock: ManualClock())
  }

  @Test("a write that began before another one failed does not settle that; one that began afterwards does")
  func successes() throws {
    let unsettled = try unsettled()
    let before = unsettled.moment
    unsettled.add(records: [id])
    unsettled.settle([id], asOf: before)
    #expect(unsettled.concerns(id))
    unsettled.settle([id], asOf: unsettled.moment)
    #expect(!unsettled.concerns(id))
    unsettled.stop()
  }

  @Test("what fails while the store is asked again stays in doubt")
  func failsMeanwhile() async throws {
    let unsettled = try unsettled()
    unsettled.add(records: [id])
    store.onCommit.withLock { $0 = { [id] _ in unsettled.add(records: [id]) } }
    #expect(try await unsettled.settleSome() == .some)
    #expect(unsettled.concerns(id))
    store.onCommit.withLock { $0 = { _ in } }
    unsettled.stop()
    #expect(try await unsettled.settleSome() == .all)
    #expect(!unsettled.concerns(id))
  }

  @Test("a name that cannot be set right keeps no others in doubt, and is tried more and more rarely")
  func oneFails() async throws {
    let clock = ManualClock()
    let namespace = try SharedNamespace("test", level: "shared")
    let unsettled = UnsettledWrites(store, namespace, limit: 1_000, tagLife: .seconds(60), clock: clock)
    let bad = SharedChange.remove(namespace.record(id))
    let fails = Mutex(true)
    let tries = Mutex(0)
    store.onCommit.withLock {
      $0 = { changes in
        guard changes.contains(bad) else { return }
        tries.withLock { $0 += 1 }
        if fails.withLock(\.self) { throw CacheError(.unreachable, "the server hung up") }
      }
    }
    func settleSome() async -> UnsettledWrites.Progress? {
      do { return try await unsettled.settleSome() } catch { return nil }
    }
    unsettled.add(records: [id] + (0..<300).map { [2, UInt8($0 % 256), UInt8($0 / 256)] })
    unsettled.stop()
    for _ in 0..<200 { _ = await settleSome() }
    #expect(unsettled.count == 1 && unsettled.concerns(id))
    // For an hour, every five seconds: after 5, 10, 20 ... 300 seconds.
    tries.withLock { $0 = 0 }
    for second in 0..<720 {
      clock.advance(by: .seconds(5))
      // Others do not wait for that.
      if second == 360 {
        unsettled.add(records: [[3]])
        unsettled.stop()
        for _ in 0..<2 where unsettled.count == 2 { _ = await settleSome() }
        #expect(unsettled.count == 1)
      }
      _ = await settleSome()
    }
    #expect((10...20).contains(tries.withLock(\.self)))
    #expect(await settleSome() == UnsettledWrites.Progress.none)
    fails.withLock { $0 = false }
    clock.advance(by: .seconds(300))
    #expect(await settleSome() == .all)
  }

  @Test("a name that is not set right because nothing can be is tried again as soon as the store may answer")
  func nothingAnswers() async throws {
    let unsettled = try unsettled()
    let isDown = Mutex(true)
    store.onCommit.withLock {
      $0 = { _ in if isDown.withLock(\.self) { throw CacheError(.unreachable, "the store is down") } }
    }
    unsettled.add(records: [id])
    unsettled.stop()
    for _ in 0..<100 { await #expect(throws: CacheError.self) { try await unsettled.settleSome() } }
    isDown.withLock { $0 = false }
    #expect(try await unsettled.settleSome() == .all)
  }

  /// A clock on which every wait is over at once.
  private final class HastyClock: CacheClock {
    private let time = Mutex(CacheInstant(nanoseconds: 0))
    var now: CacheInstant { time.withLock(\.self) }
    var timeSinceEpoch: Duration { .nanoseconds(now.nanoseconds) }
    var bootIdentifier: UInt64 { 1 }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
      try Task.checkCancellation()
      time.withLock { $0 = max($0, deadline) }
    }
  }

  @Test("after an outage, however long, many names are set right in seconds")
  func soonAgain() async throws {
    let clock = HastyClock()
    let unsettled = UnsettledWrites(
      store, try SharedNamespace("test", level: "shared"), limit: 10_000, tagLife: .seconds(60), clock: clock)
    let commits = Mutex(0)
    let end = Mutex(CacheInstant(nanoseconds: 0))
    store.onCommit.withLock {
      $0 = { _ in
        let number = commits.withLock { count in
          count += 1
          return count
        }
        guard number > 20 else { throw CacheError(.unreachable, "the server is away") }
        if number == 21 { end.withLock { $0 = clock.now } }
      }
    }
    unsettled.add(records: (0..<10_000).map { [UInt8($0 % 256), UInt8($0 / 256)] })
    try await turns { unsettled.count == 0 }
    // Forty batches at five seconds would be minutes.
    #expect(end.withLock { $0.duration(to: clock.now) } < .seconds(15))
  }

  /// A level over a simulated store, whose last write has failed.
  private func failed() async throws -> (level: SharedCacheLevel<String, Data>, client: SimulatedSharedClient) {
    let client = SimulatedSharedStore().client("here")
    let level = try SharedCacheLevel<String, Data>(
      client, namespace: "test", keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock())
    try await level.set(Data([0]), forKey: "a")
    client.onCall { if case .commit = $0 { .refused } else { .done } }
    await #expect(throws: CacheError.self) { try await level.set(Data([1]), forKey: "a") }
    return (level, client)
  }

  @Test("a write of a key whose removal is under way comes after that")
  func waits() async throws {
    let (level, client) = try await failed()
    let gate = Gate()
    client.onCall { call in
      if case .commit(let changes) = call, Self.removes(changes) { try await gate.pass() }
      return .done
    }
    level.unsettled.stop()
    let removal = Task { try await level.unsettled.settleSome() }
    await gate.arrivals(1)
    let write = Task { try await level.set(Data([2]), forKey: "a") }
    try await turns { level.unsettled.waitingCount == 1 }
    // Others do not wait.
    try await level.set(Data([3]), forKey: "b")
    gate.open()
    _ = try await removal.value
    try await write.value
    #expect(try await level.get("a") == Data([2]))
  }

  @Test("a key is not removed while it is written", arguments: [nil, StoreCondition.absent])
  func isWaitedFor(condition: StoreCondition?) async throws {
    let (level, client) = try await failed()
    let gate = Gate()
    client.onCall { call in
      if case .commit(let changes) = call, changes.contains(where: { if case .set = $0 { true } else { false } }) {
        try await gate.pass()
      }
      return .done
    }
    let write = Task {
      if let condition {
        _ = try await level.store(Data([2]), forKey: "a", terms: StoreTerms(), if: condition)
      } else {
        try await level.store(Data([2]), forKey: "a", terms: StoreTerms())
      }
    }
    await gate.arrivals(1)
    #expect(try await level.unsettled.settleSome() == UnsettledWrites.Progress.none)
    #expect(!client.calls.contains { if case .commit(let changes) = $0 { Self.removes(changes) } else { false } })
    gate.open()
    _ = try await write.value
    #expect(try await level.get("a") == Data([2]))
    #expect(level.unsettledCount == 0)
  }

  @Test("what is written after a clear or a removal by tag failed outlives the repair of that", arguments: [nil, "t"])
  func afterClear(tag: String?) async throws {
    let client = SimulatedSharedStore().client("here")
    let level = try SharedCacheLevel<String, Data>(
      client, namespace: "test", keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock())
    func set(_ byte: UInt8, _ key: String) async throws {
      try await level.store(Data([byte]), forKey: key, terms: StoreTerms(tags: ["t"]))
    }
    try await set(0, "old")
    client.onCall { if case .commit = $0 { .refused } else { .done } }
    await #expect(throws: CacheError.self) {
      if let tag { try await level.removeAll(tagged: tag) } else { try await level.clear() }
    }
    level.unsettled.stop()
    // What cannot be renewed is not written under either, and no key is in doubt for that.
    await #expect(throws: CacheError.self) { try await set(1, "a") }
    #expect(level.unsettledCount == 1)
    client.onCall(nil)
    try await set(1, "a")
    #expect(try await level.store(Data([2]), forKey: "b", terms: StoreTerms(tags: ["t"]), if: .absent))
    #expect(try await level.unsettled.settleSome() == .all)
    #expect(try await level.get("a") == Data([1]))
    #expect(try await level.get("b") == Data([2]))
    #expect(try await level.get("old") == nil)
  }

  @Test(
    "what others wrote after a clear or a removal by tag of which only the answer was lost stays",
    arguments: [nil, "t"])
  func clearedUnheard(tag: String?) async throws {
    let store = SimulatedSharedStore()
    let client = store.client("here")
    let levels = try [client, store.client("there")].map { client in
      try SharedCacheLevel<String, Data>(
        client, namespace: "test", keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock())
    }
    func set(_ key: String, at place: Int) async throws {
      try await levels[place].store(Data([1]), forKey: key, terms: StoreTerms(tags: ["t"]))
    }
    try await set("old", at: 0)
    client.onCall { if case .commit = $0 { .unanswered } else { .done } }
    await #expect(throws: CacheError.self) {
      if let tag { try await levels[0].removeAll(tagged: tag) } else { try await levels[0].clear() }
    }
    levels[0].unsettled.stop()
    client.onCall(nil)
    try await set("new", at: 1)
    #expect(try await levels[0].get("new") == nil)
    #expect(try await levels[0].unsettled.settleSome() == .all)
    for level in levels {
      #expect(try await level.get("new") == Data([1]))
      #expect(try await level.get("old") == nil)
    }
  }

  @Test("a write under a stamp whose renewal is under way comes after that")
  func waitsForStamp() async throws {
    let client = SimulatedSharedStore().client("here")
    let level = try SharedCacheLevel<String, Data>(
      client, namespace: "test", keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock())
    try await level.set(Data([0]), forKey: "a")
    client.onCall { if case .commit = $0 { .refused } else { .done } }
    await #expect(throws: CacheError.self) { try await level.clear() }
    level.unsettled.stop()
    let gate = Gate()
    client.onCall { call in
      if case .commit(let changes) = call, changes.contains(where: Self.renewsAll) { try await gate.pass() }
      return .done
    }
    let renewal = Task { try await level.unsettled.settleSome() }
    await gate.arrivals(1)
    let write = Task { try await level.set(Data([1]), forKey: "a") }
    try await turns { level.unsettled.waitingCount == 1 }
    gate.open()
    _ = try await renewal.value
    try await write.value
    #expect(try await level.get("a") == Data([1]))
  }

  private static func renewsAll(_ change: SharedChange) -> Bool {
    if case .set(Array("test:s:".utf8), to: _, lifetime: _) = change { true } else { false }
  }

  private static func removes(_ changes: [SharedChange]) -> Bool {
    !changes.isEmpty && changes.allSatisfy { if case .remove = $0 { true } else { false } }
  }
}
