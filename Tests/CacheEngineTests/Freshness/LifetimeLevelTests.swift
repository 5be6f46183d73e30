import CacheEngine
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@Suite struct LifetimeLevelTests {
  let clock = ManualClock()

  @Test("what is set without a lifetime gets this one; what asks for one keeps it")
  func lifetimes() async throws {
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    let cache = memory.expiring(after: .seconds(10), clock: clock)
    try await cache.set(1, forKey: "default")
    try await cache.set(2, forKey: "long", expiry: .after(.seconds(60)))
    try await cache.set(3, forKey: "for good", expiry: .never)
    clock.advance(by: .seconds(10))
    #expect(try await cache.lookup("default").missReason == .expired)
    #expect(try await cache.get("long") == 2)
    #expect(cache.peek("for good") == 3)
  }

  @Test("what is copied up is as old as what it was copied from", arguments: [false, true])
  func backFillAge(toDisk: Bool) async throws {
    let below = MemoryCacheLevel<String, Data>(name: "below", clock: clock)
    let folder = DiskFolder()
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path, clock: clock)
    let upper = toDisk ? disk.normalize() : MemoryCacheLevel(clock: clock).normalize()
    let stored = clock.now
    try await below.set(Data([1]), forKey: "a", expiry: .after(.seconds(60)))
    clock.advance(by: .seconds(10))
    _ = try await upper.compose(below).get("a")
    let copy = try await upper.lookup("a").entry
    #expect(copy?.created == stored)
    #expect(copy?.deadline == stored.advanced(by: .seconds(60)))
    #expect(try await upper.maximumAge(.seconds(10), clock: clock).get("a") == nil)
    try await disk.close()
    guard toDisk else { return }
    clock.advance(by: .seconds(5))
    clock.reboot()
    let reopened = try DiskCacheLevel<String, Data>(directory: folder.path, clock: clock)
    let entry = try await reopened.lookup("a").entry
    #expect(entry?.created?.duration(to: clock.now) == .seconds(15))
    #expect(entry?.deadline == clock.now.advanced(by: .seconds(45)))
    try await reopened.close()
  }

  @Test("what is copied up keeps its deadline, and lives at most as long as the level says")
  func backFill() async throws {
    let below = MemoryCacheLevel<String, Int>(name: "below", clock: clock)
    try await below.set(1, forKey: "soon", expiry: .after(.seconds(3)))
    try await below.set(2, forKey: "late", expiry: .after(.seconds(60)))
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    let cache = memory.expiring(after: .seconds(10), clock: clock).compose(below)
    _ = try await (cache.get("soon"), cache.get("late"))
    let deadlines = try await memory.contents().reduce(into: [:]) { $0[$1.key] = $1.deadline }
    #expect(deadlines["soon"] == clock.now.advanced(by: .seconds(3)))
    #expect(deadlines["late"] == clock.now.advanced(by: .seconds(10)))
    // So does one inside another.
    let inside = MemoryCacheLevel<String, Int>(clock: clock)
    let nested = inside.expiring(after: .seconds(5), clock: clock).expiring(after: .seconds(10), clock: clock)
    _ = try await nested.compose(below).get("late")
    #expect(try await inside.lookup("late").entry?.deadline == clock.now.advanced(by: .seconds(5)))
  }

  @Test("a maximum age holds when entries are read, also for those stored before")
  func maximumAge() async throws {
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    try await memory.set(1, forKey: "a")
    let young = memory.maximumAge(.seconds(10), clock: clock)
    clock.advance(by: .seconds(9))
    #expect(try await young.get("a") == 1)
    #expect(try await young.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(1)))
    clock.advance(by: .seconds(1))
    #expect(try await young.lookup("a").missReason == .expired)
    #expect(try await young.lookupIncludingExpired("a").entry?.isStale == true)
    #expect(try await memory.get("a") == 1)
    #expect(try await memory.maximumAge(.seconds(60), clock: clock).get("a") == 1)
  }

  @Test("a deadline before the maximum age stays, and an entry of unknown age counts")
  func otherAges() async throws {
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    try await memory.set(1, forKey: "a", expiry: .after(.seconds(2)))
    let deadline = try await memory.maximumAge(.seconds(10), clock: clock).lookup("a").entry?.deadline
    #expect(deadline == clock.now.advanced(by: .seconds(2)))
    let fetcher = BasicFetcher<String, Int> { $0.count }
    #expect(try await fetcher.maximumAge(.zero, clock: clock).get("four") == 4)
  }

  @Test("what was stored at a time to come, by another clock, lives from now on no longer than the maximum age")
  func timeToCome() async throws {
    let memory = MemoryCacheLevel<String, Int>(clock: clock)
    let created = clock.now.advanced(by: .seconds(3_600))
    try await memory.store(1, forKey: "a", terms: .backFill(deadline: nil, created: created))
    let young = memory.maximumAge(.seconds(10), clock: clock)
    #expect(try await young.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(10)))
    #expect(try await memory.maximumAge(.zero, clock: clock).lookup("a").missReason == .expired)
  }

  @Test("what is set to live for ever does, also where the level inside has a lifetime of its own")
  func forEver() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(60)), clock: clock)
    let level = memory.expiring(after: .seconds(10), clock: clock)
    try await level.set(1, forKey: "a", expiry: .never)
    clock.advance(by: .seconds(100))
    #expect(try await level.get("a") == 1)
  }

  @Test("a stale value that is given by leave of an operator inside counts by its age alone")
  func staleInside() async throws {
    let clock = ManualClock()
    let memory = MemoryCacheLevel<String, Int>(
      expiry: .after(.seconds(10)), keepsExpired: .seconds(100), clock: clock)
    let down = ScriptedLevel<String, Int> { _ in throw CacheError(.simulated, "down") }
    let cache = memory.staleIfError(down, for: .seconds(100), clock: clock).maximumAge(.seconds(60), clock: clock)
    try await memory.set(1, forKey: "a")
    clock.advance(by: .seconds(59))
    let entry = try await cache.lookup("a").entry
    #expect(entry?.value == 1)
    #expect(entry?.isStale == true)
    clock.advance(by: .seconds(1))
    #expect(try await cache.lookup("a").missReason == .expired)
  }

  @Test("to let an entry expire that has expired already does not keep it for longer", arguments: [false, true])
  func expireTwice(onDisk: Bool) async throws {
    let (clock, folder) = (ManualClock(), DiskFolder())
    let level: any StorageLevel<String, Data> =
      onDisk
      ? try DiskCacheLevel<String, Data>(
        directory: folder.path, expiry: .after(.seconds(10)), keepsExpired: .seconds(100), clock: clock)
      : MemoryCacheLevel<String, Data>(expiry: .after(.seconds(10)), keepsExpired: .seconds(100), clock: clock)
    try await level.set(Data("one".utf8), forKey: "a")
    let deadline = clock.now.advanced(by: .seconds(10))
    clock.advance(by: .seconds(109))
    try await level.expire("a")
    #expect(try await level.lookupIncludingExpired("a").entry?.deadline == deadline)
    clock.advance(by: .seconds(1))
    #expect(try await level.lookupIncludingExpired("a").entry == nil)
    try await level.set(Data("two".utf8), forKey: "a")
    try await level.expire("a")
    #expect(try await level.lookup("a").missReason == .expired)
    #expect(try await level.lookupIncludingExpired("a").entry?.deadline == clock.now)
  }
}
