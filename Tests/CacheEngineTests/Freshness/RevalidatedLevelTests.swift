import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CacheCore

@Suite struct RevalidatedLevelTests {
  private let clock = ManualClock()
  private let source = ChangingSource()
  private let observer = RecordingObserver()

  private func memory() -> MemoryCacheLevel<String, Int> {
    MemoryCacheLevel(expiry: .after(.seconds(10)), keepsExpired: .seconds(100), clock: clock)
  }

  /// The levels whose stale values were served.
  private var staleEvents: [String?] {
    observer.events.compactMap { event in
      if case .operated(.servedStale) = event.kind { .some(event.level) } else { nil }
    }
  }

  private func refreshed(_ count: Int = 1) async {
    let seen = Mutex(0)
    await observer.event { event in
      if case .operated(.refreshEnded) = event.kind { seen.withLock { $0 += 1 } }
      return seen.withLock { $0 } >= count
    }
  }

  private let down = Result<Int?, CacheError>.failure(CacheError(.simulated, "down"))

  @Test("a stale value is delivered at once while it is read anew, once for all its readers")
  func whileRevalidate() async throws {
    let cache = memory().staleWhileRevalidate(source.level, for: .seconds(30), observer: observer, clock: clock)
    #expect(try await cache.get("a") == 1)
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    for _ in 0..<5 {
      let entry = try await cache.lookup("a").entry
      #expect(entry?.value == 1)
      #expect(entry?.isStale == true)
    }
    await gate.arrivals(1)
    #expect(cache.refreshCount == 1)
    gate.open()
    await refreshed()
    let fresh = try await cache.lookup("a").entry
    #expect(fresh?.value == 2)
    #expect(fresh?.isStale == false)
    #expect(source.asked == 2)
    #expect(cache.refreshCount == 0)
  }

  @Test("a value that is stale for too long is waited for")
  func tooStale() async throws {
    let cache = memory().staleWhileRevalidate(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    source.answers(.success(2))
    clock.advance(by: .seconds(40))
    #expect(try await cache.get("a") == 2)
  }

  @Test("a refresh that fails is told, keeps the stale value, and is tried again by the next reader")
  func failingRefresh() async throws {
    let cache = memory().staleWhileRevalidate(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    source.answers(down)
    #expect(try await cache.get("a") == 1)
    await observer.event {
      if case .operated(.refreshEnded(_, let error)) = $0.kind { error?.contains("down") == true } else { false }
    }
    source.answers(.success(3))
    for _ in 0..<1_000 { #expect(try await cache.get("a") == 1) }
    #expect(source.asked == 2)
    clock.advance(by: .seconds(1))
    #expect(try await cache.get("a") == 1)
    await refreshed(2)
    #expect(try await cache.get("a") == 3)
  }

  @Test(
    "a refresh that is refused, or gets something in the value's place, is not tried again at once either",
    arguments: [false, true])
  func refusedRefresh(isReplaced: Bool) async throws {
    let isOpen = Mutex(true)
    let refusing = source.level.conditioned { _ in isOpen.withLock { $0 } }
    let below = isReplaced ? refusing.fallback { _, _ in 0 }.normalize() : refusing.normalize()
    let cache = memory().staleWhileRevalidate(below, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    isOpen.withLock { $0 = false }
    #expect(try await cache.get("a") == 1)
    await refreshed()
    for _ in 0..<100 { #expect(try await cache.get("a") == 1) }
    // One that has not told yet that it began is under way.
    #expect(cache.refreshCount == 0)
    #expect(observer.events.count { if case .operated(.refreshBegan) = $0.kind { true } else { false } } == 1)
  }

  @Test("what the source has said is gone is not served when it fails afterwards")
  func goneAndDown() async throws {
    let memory = memory()
    let cache = memory.staleIfError(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    source.answers(.success(nil))
    #expect(try await cache.get("a") == nil)
    source.answers(down)
    await #expect(throws: CacheError.self) { try await cache.get("a") }
    #expect(memory.usage.count == 0)
  }

  @Test("what the source has said is gone, asked in the background, is served no longer", arguments: [false, true])
  func goneInBackground(ahead: Bool) async throws {
    let cache = memory().compose(
      source.level, revalidating: RevalidationPolicy(whileRevalidate: .seconds(30), ahead: .seconds(3)),
      observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(ahead ? 8 : 10))
    source.answers(.success(nil))
    #expect(try await cache.get("a") == 1)
    await refreshed()
    #expect(try await cache.get("a") == nil)
    #expect(try await cache.lookupIncludingExpired("a").entry == nil)
  }

  @Test(
    "a value that is set while a read finds a stale one is not replaced by what the source has",
    arguments: ["miss", "stale value"])
  func setBeforeRefresh(found: String) async throws {
    let memory = memory()
    let write = Mutex<(@Sendable () async throws -> Void)?>(nil)
    let above = HookedReads(base: memory) { if $0 == found { try await write.withLock { $0.take() }?() } }
    let cache = above.staleWhileRevalidate(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    write.withLock { $0 = { try await cache.set(100, forKey: "a") } }
    #expect(try await cache.get("a") == (found == "miss" ? 100 : 1))
    try await turns { cache.refreshCount == 0 }
    #expect(memory.peek("a") == 100)
    #expect(source.asked == 1)
  }

  /// A level that does something when it has missed, or found a stale value.
  private struct HookedReads<Base: CacheLevel>: LevelDecorator {
    let base: Base
    let then: @Sendable (_ found: String) async throws -> Void

    func get(_ key: Base.Key) async throws -> Base.Value? { try await lookup(key).entry?.value }
    func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> {
      let answer = try await base.lookup(key)
      if answer.entry == nil { try await then("miss") }
      return answer
    }
    func lookupIncludingExpired(_ key: Base.Key) async throws -> Lookup<Base.Value> {
      let answer = try await base.lookupIncludingExpired(key)
      if answer.entry?.isStale == true { try await then("stale value") }
      return answer
    }
    func set(_ value: Base.Value, forKey key: Base.Key) async throws {
      try await store(value, forKey: key, terms: StoreTerms())
    }
    func store(_ value: Base.Value, forKey key: Base.Key, terms: StoreTerms) async throws {
      try await base.store(value, forKey: key, terms: terms)
    }
  }

  @Test("a value that is set while the source says that there is none stays")
  func setWhileGone() async throws {
    let memory = memory()
    let cache = memory.staleWhileRevalidate(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(nil), gate: gate)
    _ = try await cache.get("a")
    await gate.arrivals(1)
    try await cache.set(100, forKey: "a")
    gate.open()
    await refreshed()
    #expect(try await memory.get("a") == 100)
  }

  @Test("what another read has found meanwhile stays where the source said before that there is none")
  func foundMeanwhile() async throws {
    let memory = memory()
    let cache = memory.staleIfError(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(nil), gate: gate)
    let early = Task { try await cache.get("a") }
    await gate.arrivals(1)
    source.answers(.success(2))
    #expect(try await cache.get("a") == 2)
    gate.open()
    _ = try await early.value
    #expect(memory.peek("a") == 2)
  }

  @Test("a source that was not asked, or whose own copy has expired, says nothing of what is gone")
  func notGone() async throws {
    let reasons: [MissReason] = [
      .refused, .expired, .damaged, .authenticationFailed, .newer, .unsettled, .unanswered, .remembered, .nothingToAsk,
    ]
    for reason in reasons {
      let memory = memory()
      try await memory.set(1, forKey: "a")
      clock.advance(by: .seconds(10))
      let silent = ScriptedLevel<String, Int> { _ in .miss(reason) }
      let cache = memory.staleIfError(silent, for: .seconds(30), observer: observer, clock: clock)
      #expect(try await cache.get("a") == nil)
      #expect(try await memory.lookupIncludingExpired("a").entry?.value == 1, "\(reason)")
    }
  }

  @Test("a refresh never goes over a value that was set while it travelled")
  func refreshLosesToSet() async throws {
    let cache = memory().staleWhileRevalidate(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    _ = try await cache.get("a")
    await gate.arrivals(1)
    try await cache.set(100, forKey: "a")
    gate.open()
    await refreshed()
    #expect(try await cache.get("a") == 100)
  }

  @Test("a stale value stands in when the source fails, for as long as the policy says")
  func ifError() async throws {
    let cache = memory().staleIfError(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    source.answers(down)
    let entry = try await cache.lookup("a").entry
    #expect(entry?.value == 1)
    #expect(entry?.isStale == true)
    #expect(observer.events.contains { if case .operated(.fellBack) = $0.kind { true } else { false } })
    #expect(staleEvents == ["memory"])
    clock.advance(by: .seconds(30))
    await #expect(throws: CacheError.self) { try await cache.get("a") }
  }

  @Test("no stale value stands in for a miss, for another key, or for a cancelled read")
  func ifErrorOnlyForErrors() async throws {
    let cache = memory().staleIfError(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    source.answers(.success(nil))
    #expect(try await cache.get("a") == nil)
    source.answers(down)
    await #expect(throws: CacheError.self) { try await cache.get("b") }
    let gate = Gate()
    source.answers(.success(2), gate: gate)
    let reader = Task { try await cache.get("a") }
    await gate.arrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
  }

  @Test("a value close to its deadline is read anew ahead of time")
  func ahead() async throws {
    let cache = memory().refreshAhead(source.level, within: .seconds(3), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(6))
    _ = try await cache.get("a")
    #expect(source.asked == 1)
    source.answers(.success(2))
    clock.advance(by: .seconds(1))
    #expect(try await cache.get("a") == 1)
    await refreshed()
    #expect(try await cache.get("a") == 2)
    clock.advance(by: .seconds(9))
    #expect(try await cache.lookup("a").entry?.value == 2)
  }

  @Test("a level that keeps nothing expired has nothing stale to give")
  func nothingKept() async throws {
    let cache = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(10)), clock: clock)
      .staleIfError(source.level, for: .seconds(30), observer: observer, clock: clock)
    _ = try await cache.get("a")
    clock.advance(by: .seconds(10))
    source.answers(down)
    await #expect(throws: CacheError.self) { try await cache.get("a") }
  }

  @Test("a stale value is found under a composition, a pool, a transform, a normalised level and an observer")
  func throughOperators() async throws {
    let below = memory()
    try await below.set(7, forKey: "a")
    clock.advance(by: .seconds(10))
    let stack = MemoryCacheLevel<String, Int>(name: "above", clock: clock)
      .compose(below.observed(as: "below", by: observer, clock: clock).pooled())
      .postProcess { $0 * 2 }.conditioned { _ in true }
      .transformKeys { (key: String) in String(key.prefix(1)) }
      .normalize()
    #expect(try await stack.get("abc") == nil)
    let entry = try await stack.lookupIncludingExpired("abc").entry
    #expect(entry?.value == 14)
    #expect(entry?.isStale == true)
    #expect(entry?.level == "below")
    #expect(staleEvents.isEmpty)
  }

  @Test("a value that has expired above does not hide a live one below, nor one that was stored later")
  func liveBelow() async throws {
    let (above, below) = (memory(), memory())
    let stack = above.compose(below, observer: nil)
    try await below.set(1, forKey: "a")
    #expect(try await stack.get("a") == 1)
    clock.advance(by: .seconds(9))
    try await below.set(2, forKey: "a")
    clock.advance(by: .seconds(1))
    let live = try await stack.lookupIncludingExpired("a").entry
    #expect(live?.value == 2)
    #expect(live?.isStale == false)
    clock.advance(by: .seconds(9))
    let later = try await stack.lookupIncludingExpired("a").entry
    #expect(later?.value == 2)
    #expect(later?.isStale == true)
    try await below.remove("a")
    #expect(try await stack.lookupIncludingExpired("a").entry?.value == 1)
    let failing = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "down") }
    #expect(try await above.compose(failing, observer: nil).lookupIncludingExpired("a").entry?.value == 1)
    let placeholder = below.fallback { _, _ in 5 }
    #expect(try await above.compose(placeholder).lookupIncludingExpired("a").entry?.value == 1)
  }

  @Test("expired entries stay for as long as the level keeps them, count as expired, and then are gone")
  func keeps() async throws {
    let level = memory()
    try await level.set(1, forKey: "a")
    clock.advance(by: .seconds(109))
    #expect(try await level.lookup("a").missReason == .expired)
    #expect(level.peek("a") == nil)
    #expect(try await level.removeExpired() == 0)
    #expect(try await level.lookupIncludingExpired("a").entry?.isStale == true)
    clock.advance(by: .seconds(1))
    #expect(try await level.lookupIncludingExpired("a").missReason == .expired)
    #expect(level.usage.count == 0)
  }

  @Test("a key that does not equal itself is not read anew, and leaves nothing behind")
  func unequalToItself() async throws {
    let soon = clock.now.advanced(by: .seconds(1))
    let upper = ScriptedLevel<Double, Int> { _ in .hit(Entry(1, deadline: soon)) }
    let cache = upper.refreshAhead(ScriptedLevel(), within: .seconds(10), observer: nil, clock: clock)
    #expect(try await cache.get(.nan) == 1)
    #expect(cache.refreshCount == 0)
  }

  @Test("only so many keys pause: with one more, all of them may be read again at once")
  func pauses() async throws {
    var refreshes = Refreshes<Int, Int>()
    let task = Task<Lookup<Int>?, any Error> { nil }
    func begins(_ key: Int) -> Bool { refreshes.task(of: key, at: clock.now, heedsPause: true) { task } != nil }
    let end = clock.now.advanced(by: .seconds(1))
    for key in 0..<Refreshes<Int, Int>.room { refreshes.end(key, pausingUntil: end, at: clock.now) }
    #expect(!begins(0))
    refreshes.end(-1, pausingUntil: end, at: clock.now)
    #expect(!begins(-1) && begins(0) && begins(1))
  }

  @Test("a disk keeps expired entries as well, and drops them when their time is over")
  func keepsOnDisk() async throws {
    let folder = DiskFolder()
    let disk = try DiskCacheLevel<String, Data>(
      directory: folder.path, capacity: 4 << 20, expiry: .after(.seconds(10)), keepsExpired: .seconds(100), clock: clock
    )
    try await disk.set(Data("one".utf8), forKey: "a")
    try await disk.set(Data("two".utf8), forKey: "b")
    clock.advance(by: .seconds(10))
    #expect(try await disk.lookup("a").missReason == .expired)
    let entry = try await disk.lookupIncludingExpired("a").entry
    #expect(entry?.value == Data("one".utf8))
    #expect(entry?.isStale == true)
    #expect(try await disk.removeExpired() == 0)
    clock.advance(by: .seconds(100))
    #expect(try await disk.lookupIncludingExpired("a").missReason == .expired)
    #expect(try await disk.removeExpired() == 1)
    #expect(disk.usage.count == 0)
    try await disk.close()
  }

  @Test("a refresh through a pool asks the source, although other keys are written meanwhile")
  func aheadThroughAPool() async throws {
    let write = Mutex<(@Sendable () async throws -> Void)?>(nil)
    let upper = HookedLook(base: memory()) { try await write.withLock { $0 }?() }
    let cache = upper.refreshAhead(source.level.pooled(), within: .seconds(3), observer: observer, clock: clock)
    #expect(try await cache.get("a") == 1)
    source.answers(.success(2))
    write.withLock { $0 = { try await cache.set(9, forKey: "other") } }
    clock.advance(by: .seconds(8))
    #expect(try await cache.get("a") == 1)
    await refreshed()
    write.withLock { $0 = nil }
    #expect(try await cache.get("a") == 2)
    #expect(source.asked == 2)
  }
}

/// A level that does something before it is asked for what has expired as well.
private struct HookedLook<Base: CacheLevel>: LevelDecorator {
  let base: Base
  let onLook: @Sendable () async throws -> Void

  func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> { try await base.lookup(key) }
  func lookupIncludingExpired(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await onLook()
    return try await base.lookupIncludingExpired(key)
  }
}
