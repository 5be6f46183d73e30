import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct StorageMemoryTests {
  typealias User = StorageBench.User
  let bench = StorageBench()

  @Test("H1 never is no deadline, seconds count from the store, and a date is that date")
  func expiries() throws {
    let storage = try bench.inMemory()
    try storage.setObject(bench.ada, forKey: "never")
    try storage.setObject(bench.ada, forKey: "seconds", expiry: .seconds(1.5))
    let date = Date(timeIntervalSince1970: bench.clock.timeSinceEpoch / .seconds(1) + 90)
    try storage.setObject(bench.ada, forKey: "date", expiry: .date(date))
    #expect(try storage.entry(forKey: "never")?.expiry == .never)
    #expect(try storage.entry(forKey: "seconds")?.deadline == bench.clock.now.advanced(by: .milliseconds(1_500)))
    #expect(try storage.entry(forKey: "date")?.deadline == bench.clock.now.advanced(by: .seconds(90)))
    #expect(Expiry.seconds(.infinity).deadline(by: bench.clock) == CacheInstant(nanoseconds: .max))
    #expect(Expiry.seconds(.nan).deadline(by: bench.clock) == bench.clock.now)
  }

  @Test("H2 negative seconds are over at once")
  func negativeSeconds() throws {
    let storage = try bench.inMemory()
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(-1))
    #expect(try storage.object(forKey: "a") == nil)
    #expect(try storage.lookup(forKey: "a").missReason == .absent, "the first read has dropped it")
  }

  @Test("H3 a default lifetime counts from each store, not from the configuration")
  func defaultLifetime() throws {
    let storage = try bench.inMemory(User.self, MemoryConfig(expiry: .seconds(10)))
    bench.clock.advance(by: .seconds(100))
    try storage.setObject(bench.ada, forKey: "a")
    bench.clock.advance(by: .seconds(9))
    #expect(try storage.object(forKey: "a") == bench.ada)
    bench.clock.advance(by: .seconds(1))
    #expect(try storage.object(forKey: "a") == nil)
  }

  @Test("H4 a stored object comes back equal, and an absent key is a miss that says so")
  func readsBack() throws {
    let storage = try bench.inMemory()
    try storage.setObject(bench.ada, forKey: "ada")
    #expect(try storage.object(forKey: "ada") == bench.ada)
    #expect(try storage.requiredObject(forKey: "ada") == bench.ada)
    #expect(try storage.object(forKey: "grace") == nil)
    #expect(try storage.lookup(forKey: "grace").missReason == .absent)
    let error = #expect(throws: CacheError.self) { try storage.requiredObject(forKey: "grace") }
    #expect(error?.code == .valueNotInCache)
  }

  @Test("H5 H6 the entry carries object and expiry, by default the configured one, and reading changes neither")
  func entries() throws {
    let storage = try bench.inMemory(User.self, MemoryConfig(expiry: .seconds(60)))
    try storage.setObject(bench.ada, forKey: "a")
    try storage.setObject(bench.grace, forKey: "b", expiry: .seconds(5))
    let deadline = bench.clock.now.advanced(by: .seconds(60))
    bench.clock.advance(by: .seconds(3))
    for _ in 0..<2 {
      let entry = try #require(try storage.entry(forKey: "a"))
      #expect(entry.object == bench.ada)
      #expect(entry.expiry == .at(deadline))
      #expect(entry.level == "memory")
    }
    #expect(try storage.entry(forKey: "b")?.deadline == bench.clock.now.advanced(by: .seconds(2)))
  }

  @Test("H7 H47 removing one key, or all, makes them absent, and removing an absent key is harmless")
  func removes() throws {
    let storage = try bench.inMemory()
    for key in ["a", "b", "c"] { try storage.setObject(bench.ada, forKey: key) }
    try storage.removeObject(forKey: "a")
    try storage.removeObject(forKey: "never there")
    #expect(try storage.objectExists(forKey: "a") == false)
    #expect(try storage.objectExists(forKey: "b"))
    try storage.removeAll()
    #expect(try storage.allKeys == [])
  }

  @Test(
    "H8 H9 remove-if-expired spares what lives, and is-expired turns true with time",
    arguments: StorageBench.Tiers.allCases)
  func removesIfExpired(tiers: StorageBench.Tiers) throws {
    let storage = try bench.open(tiers)
    try storage.setObject(bench.ada, forKey: "short", expiry: .seconds(1))
    try storage.setObject(bench.ada, forKey: "long", expiry: .seconds(9))
    #expect(try storage.isExpiredObject(forKey: "short") == false)
    #expect(try storage.isExpiredObject(forKey: "absent"))
    bench.clock.advance(by: .seconds(1))
    #expect(try storage.isExpiredObject(forKey: "short"))
    for key in ["short", "long", "absent"] { try storage.removeObjectIfExpired(forKey: key) }
    #expect(storage.memoryUsage?.count ?? 1 == 1)
    #expect(storage.diskUsage?.count ?? 1 == 1)
    #expect(try storage.object(forKey: "long") == bench.ada)
  }

  @Test("H10 clearing expired objects removes only those")
  func clearsExpired() throws {
    let storage = try bench.inMemory()
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(1))
    try storage.setObject(bench.ada, forKey: "b", expiry: .seconds(3))
    try storage.setObject(bench.ada, forKey: "c")
    bench.clock.advance(by: .seconds(2))
    #expect(try storage.removeExpiredObjects() == 1)
    #expect(storage.memoryUsage?.count == 2)
    #expect(try Set(storage.allKeys) == ["b", "c"])
  }

  @Test("H11 H13 a count limit holds, the newest survives, and only keys that can be read are listed; 0 is no limit")
  func countLimit() throws {
    let limited = try bench.inMemory(Int.self, MemoryConfig(countLimit: 3))
    let unlimited = try bench.inMemory(Int.self, MemoryConfig(countLimit: 0))
    for number in 0..<100 {
      try limited.setObject(number, forKey: "\(number)")
      try unlimited.setObject(number, forKey: "\(number)")
    }
    #expect(try Set(limited.allKeys) == ["97", "98", "99"])
    #expect(try limited.object(forKey: "99") == 99)
    #expect(try unlimited.allKeys.count == 100)
    for key in try limited.allKeys { #expect(try limited.object(forKey: key) != nil) }
  }

  @Test("H12 a cost limit counts the bytes that the transformer makes, or what values say without one")
  func costLimit() throws {
    let storage = try bench.inMemory(String.self, MemoryConfig(totalCostLimit: 100))
    for key in ["a", "b", "c"] { try storage.setObject(String(repeating: "x", count: 38), forKey: key) }
    #expect(storage.memoryUsage?.cost == 80, "two texts of 38 with their quotes")
    #expect(try Set(storage.allKeys) == ["b", "c"])
    #expect(try storage.entry(forKey: "c")?.cost == 40)
    let plain = Storage<String, String>(
      memoryConfig: MemoryConfig(totalCostLimit: 100), sweepInterval: nil, clock: bench.clock)
    for key in ["a", "b", "c"] { try plain.setObject(String(repeating: "x", count: 38), forKey: key) }
    #expect(plain.memoryUsage?.cost == 76)
  }

  @Test("a value above the limit of a storage without a disk is refused in words; the old one stays, nobody is told")
  func tooLarge() throws {
    let storage = try bench.inMemory(String.self, MemoryConfig(totalCostLimit: 10))
    try storage.setObject("old", forKey: "a")
    let (all, keys) = (Witness<StorageChange<String>>(), Witness<KeyChange<String>>())
    storage.addStorageObserver(all) { $0.see($1) }
    storage.addObserver(keys, forKey: "a") { $0.see($1) }
    let error = #expect(throws: CacheError.self) { try storage.setObject("much too long", forKey: "a") }
    #expect(error?.code == .tooLarge)
    #expect(error?.message == "the value costs 15, more than the totalCostLimit of 10, which counts bytes")
    #expect(try storage.object(forKey: "a") == "old")
    #expect(all.seen == [] && keys.seen == [])
    try storage.setObject("12345678", forKey: "a")
    #expect(try storage.object(forKey: "a") == "12345678")
  }

  @Test("H14 a value without bytes that is read as another type is a mismatch, and stays")
  func typeMismatch() throws {
    struct Plain: Sendable, Equatable { var number = 1 }
    let storage = Storage<String, Plain>(memoryConfig: MemoryConfig(), sweepInterval: nil, clock: bench.clock)
    try storage.setObject(Plain(), forKey: "a")
    let error = #expect(throws: CacheError.self) { try storage.transform(to: Int.self).object(forKey: "a") }
    #expect(error?.code == .typeMismatch)
    #expect(try storage.object(forKey: "a") == Plain())
  }

  @Test("expired entries are swept out by themselves, for as long as the storage is there")
  func sweeps() async throws {
    let witness = Witness<StorageChange<String>>()
    var storage: Storage<String, Int>? = Storage(
      memoryConfig: MemoryConfig(), sweepInterval: .seconds(60), clock: bench.clock)
    try storage?.setObject(1, forKey: "a", expiry: .seconds(10))
    let changes = try #require(storage?.changes())
    storage?.addStorageObserver(witness) { $0.see($1) }
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(60))
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == .lost("a", from: .memory, cause: .expired))
    #expect(await iterator.next() == .removeExpired)
    await bench.clock.waitForSleepers()
    storage = nil
    #expect(await iterator.next() == nil)
  }
}
