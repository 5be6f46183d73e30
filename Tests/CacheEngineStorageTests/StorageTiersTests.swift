import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct StorageTiersTests {
  typealias User = StorageBench.User
  let bench = StorageBench()

  @Test("H35 H36 storing writes both tiers, with the expiry given")
  func writesBoth() throws {
    let storage = try bench.open()
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(60))
    #expect(storage.memoryUsage?.count == 1)
    #expect(storage.diskUsage?.count == 1)
    #expect(try storage.entry(forKey: "a")?.level == "memory")
    try storage.removeInMemoryObject(forKey: "a")
    let entry = try #require(try storage.entry(forKey: "a"))
    #expect(entry.level == "disk")
    #expect(entry.object == bench.ada)
    #expect(entry.deadline == bench.clock.now.advanced(by: .seconds(60)))
    try storage.close()
  }

  @Test("H37 H38 what is found on the disk only is copied to memory, with the disk's expiry")
  func backFills() throws {
    let storage = try bench.open(User.self, memory: MemoryConfig(expiry: .seconds(600)))
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(60))
    try storage.removeInMemoryObject(forKey: "a")
    bench.clock.advance(by: .seconds(10))
    #expect(try storage.object(forKey: "a") == bench.ada)
    let entry = try #require(try storage.entry(forKey: "a"))
    #expect(entry.level == "memory")
    #expect(entry.deadline == bench.clock.now.advanced(by: .seconds(50)))
    try storage.close()
  }

  @Test("H39 removing removes from both tiers, and remove-all empties both")
  func removes() throws {
    let storage = try bench.open()
    for key in ["a", "b", "c"] { try storage.setObject(bench.ada, forKey: key) }
    try storage.removeObject(forKey: "a")
    #expect(storage.memoryUsage?.count == 2)
    #expect(storage.diskUsage?.count == 2)
    try storage.removeAll()
    #expect(storage.memoryUsage?.count == 0)
    #expect(storage.diskUsage?.count == 0)
    try storage.close()
  }

  @Test("H40 clearing expired objects affects both tiers, and keeps live ones")
  func clearsExpired() throws {
    let storage = try bench.open()
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(1))
    try storage.setObject(bench.ada, forKey: "b")
    bench.clock.advance(by: .seconds(1))
    #expect(try storage.removeExpiredObjects() == 2)
    #expect(storage.memoryUsage?.count == 1)
    #expect(storage.diskUsage?.count == 1)
    #expect(try storage.allKeys == ["b"])
    try storage.close()
  }

  @Test("H41 dropping the copy in memory leaves the disk, and the next get brings it back")
  func dropsMemory() async throws {
    let storage = try bench.open()
    for key in ["a", "b"] { try storage.setObject(bench.ada, forKey: key) }
    try storage.removeInMemoryObject(forKey: "a")
    #expect(storage.memoryUsage?.count == 1)
    #expect(try storage.object(forKey: "a") == bench.ada)
    #expect(storage.memoryUsage?.count == 2)
    await storage.onMemoryWarning()
    #expect(storage.memoryUsage?.count == 0)
    #expect(try storage.object(forKey: "b") == bench.ada)
    try await storage.async.close()
  }

  @Test("H42 without an expiry each tier applies its own default")
  func defaults() throws {
    var disk = bench.diskConfig
    disk.expiry = .seconds(100)
    let storage = try bench.open(User.self, disk: disk, memory: MemoryConfig(expiry: .seconds(10)))
    try storage.setObject(bench.ada, forKey: "a")
    #expect(try storage.entry(forKey: "a")?.deadline == bench.clock.now.advanced(by: .seconds(10)))
    try storage.removeInMemoryObject(forKey: "a")
    #expect(try storage.entry(forKey: "a")?.deadline == bench.clock.now.advanced(by: .seconds(100)))
    try storage.close()
  }

  @Test("a value that is being stored while everything is removed does not come back")
  func overtakenByRemoval() throws {
    let coding = ByteCoding<String>.utf8
    let interruption = Mutex<(@Sendable () -> Void)?>(nil)
    let isOver = DispatchSemaphore(value: 0)
    let storage = try Storage(
      diskConfig: bench.diskConfig,
      keyCoding: ByteCoding(
        name: coding.name,
        encode: { key in
          let interrupt = interruption.withLock { $0.take() }
          if let interrupt {
            Thread(block: interrupt).start()
            isOver.wait()
          }
          return try coding.encode(key)
        }, decode: coding.decode),
      transformer: TransformerFactory.forCodable(ofType: StorageBench.User.self), sweepInterval: nil, clock: bench.clock
    )
    try storage.setObject(bench.ada, forKey: "a")
    interruption.withLock { pending in
      pending = {
        try? storage.removeAll()
        isOver.signal()
      }
    }
    try storage.setObject(bench.grace, forKey: "a")
    #expect(interruption.withLock { $0 == nil })
    #expect(try storage.object(forKey: "a") == nil)
    #expect(try storage.allKeys == [])
    try storage.close()
  }

  @Test("H43 if encoding fails, the old value stays readable in every tier", arguments: StorageBench.Tiers.allCases)
  func encodingFails(tiers: StorageBench.Tiers) throws {
    let storage = try bench.open(tiers, Double.self)
    try storage.setObject(1.5, forKey: "a")
    // A storage in memory without a cost limit encodes nothing, and so nothing can fail.
    if tiers != .memory {
      let error = #expect(throws: CacheError.self) { try storage.setObject(.nan, forKey: "a") }
      #expect(error?.code == .encodingFailed)
    }
    #expect(try storage.object(forKey: "a") == 1.5)
    try storage.removeInMemoryObject(forKey: "a")
    #expect(try storage.object(forKey: "a") == (tiers == .memory ? nil : 1.5))
    try storage.close()
  }

  @Test("H43 H79 if the disk refuses a value, the old one stays readable in both tiers, and nobody is told")
  func diskFails() throws {
    let storage = try bench.open(
      Data.self, disk: DiskConfig(name: "store", maxSize: 1 << 20, directory: bench.folder.path))
    let witness = Witness<StorageChange<String>>()
    try storage.setObject(Data([1]), forKey: "a")
    storage.addStorageObserver(witness) { $0.see($1) }
    let keys = Witness<KeyChange<Data>>()
    storage.addObserver(keys, forKey: "a") { $0.see($1) }
    let error = #expect(throws: CacheError.self) { try storage.setObject(Data(count: 2 << 20), forKey: "a") }
    #expect(error?.code == .tooLarge)
    #expect(error?.level == "disk")
    #expect(try storage.object(forKey: "a") == Data([1]))
    try storage.removeInMemoryObject(forKey: "a")
    #expect(try storage.object(forKey: "a") == Data([1]))
    #expect(witness.seen == [.removeInMemory("a")])
    #expect(keys.seen == [])
    try storage.close()
  }

  @Test("H43 a composition that refuses partial stores keeps the upper value when the lower level fails")
  func partialStores() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    let broken = ScriptedLevel<String, Int>(onSet: { value, _ in
      if value > 1 { throw CacheError(.diskWriteFailed, "no room") }
    })
    let cache = memory.compose(broken, partialStores: .refused, observer: nil)
    try await cache.set(1, forKey: "a")
    let error = await #expect(throws: CacheError.self) { try await cache.set(2, forKey: "a") }
    #expect(error?.code == .diskWriteFailed)
    #expect(memory.peek("a") == 1)
    let allowing = memory.compose(broken, observer: nil)
    let partial = await #expect(throws: CacheError.self) { try await allowing.set(2, forKey: "a") }
    #expect(partial?.code == .partialFailure)
    #expect(memory.peek("a") == 2)
  }

  @Test("H44 an expired object is given only to who asks for stale ones", arguments: StorageBench.Tiers.allCases)
  func stale(tiers: StorageBench.Tiers) throws {
    var disk = bench.diskConfig
    disk.keepsExpired = .seconds(100)
    let memory = MemoryConfig(keepsExpired: .seconds(100))
    let storage =
      switch tiers {
      case .memory: try bench.inMemory(User.self, memory)
      case .disk: try bench.open(User.self, disk: disk, memory: nil)
      case .both: try bench.open(User.self, disk: disk, memory: memory)
      }
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(10))
    bench.clock.advance(by: .seconds(10))
    #expect(try storage.object(forKey: "a") == nil)
    #expect(try storage.lookup(forKey: "a").missReason == .expired)
    #expect(try storage.objectExists(forKey: "a") == false)
    #expect(try storage.allKeys == [])
    let entry = try #require(try storage.staleEntry(forKey: "a"))
    #expect(entry.object == bench.ada)
    #expect(entry.isStale)
    bench.clock.advance(by: .seconds(100))
    #expect(try storage.staleEntry(forKey: "a") == nil)
    try storage.close()
  }

  @Test("H45 an expired copy in memory does not hide a live one on the disk")
  func expiredCopy() throws {
    let storage = try bench.open(User.self, memory: MemoryConfig(expiry: .seconds(1)))
    try storage.setObject(bench.ada, forKey: "a")
    bench.clock.advance(by: .seconds(1))
    #expect(try storage.objectExists(forKey: "a"))
    #expect(try storage.object(forKey: "a") == bench.ada)
    try storage.close()
  }

  @Test("H46 exists is true for live keys only, and decodes nothing", arguments: StorageBench.Tiers.allCases)
  func exists(tiers: StorageBench.Tiers) throws {
    let storage = try bench.open(tiers)
    let decodings = Calls<Data>()
    let view = storage.transform(
      by: Transformer<User>(
        name: "counted", toData: { Data($0.name.utf8) },
        fromData: { bytes in
          decodings.append(bytes)
          return User(name: String(decoding: bytes, as: UTF8.self))
        }))
    try view.setObject(bench.ada, forKey: "a", expiry: .seconds(1))
    if tiers != .memory { try view.removeInMemoryObject(forKey: "a") }
    #expect(try view.objectExists(forKey: "a"))
    #expect(try view.objectExists(forKey: "b") == false)
    bench.clock.advance(by: .seconds(1))
    #expect(try view.objectExists(forKey: "a") == false)
    #expect(decodings.count == 0)
    try storage.close()
  }

  @Test("a value is decoded once, however often it is read")
  func decodesOnce() throws {
    let decodings = Calls<Data>()
    let storage = try Storage<String, String>(
      diskConfig: bench.diskConfig,
      transformer: Transformer(
        name: "counted", toData: { Data($0.utf8) },
        fromData: { bytes in
          decodings.append(bytes)
          return String(decoding: bytes, as: UTF8.self)
        }), sweepInterval: nil, clock: bench.clock)
    try storage.setObject("text", forKey: "a")
    try storage.removeInMemoryObject(forKey: "a")
    for _ in 0..<3 { #expect(try storage.object(forKey: "a") == "text") }
    #expect(decodings.count == 1)
    try storage.close()
  }

  @Test("a storage is a level: it is composed with a source, and what that gives is stored in both tiers")
  func isLevel() async throws {
    let storage = try bench.open()
    let source = ScriptedLevel<String, User> { key in .hit(Entry(User(name: key))) }
    let users = storage.compose(source)
    #expect(try await users.get("Ada") == bench.ada)
    #expect(try await users.get("Ada") == bench.ada)
    #expect(source.calls.count == 1)
    #expect(storage.diskUsage?.count == 1)
    try await users.remove("Ada")
    #expect(try storage.objectExists(forKey: "Ada") == false)
    try await users.set(bench.grace, forKey: "Grace")
    #expect(users.peek("Grace") == bench.grace)
    try await storage.clear()
    #expect(try storage.allKeys == [])
    try storage.close()
  }

  @Test("a storage keeps the contract of levels, whatever its tiers", arguments: StorageBench.Tiers.allCases)
  func contract(tiers: StorageBench.Tiers) async throws {
    let capabilities: LevelCapabilities = tiers == .memory ? .expiring : [.expiring, .durable]
    let contract = LevelContract("storage", values: [1, 2, 3], capabilities: capabilities) {
      let bench = StorageBench()
      return LevelUnderTest(try bench.open(tiers, Int.self), clock: bench.clock) { storage in
        try await storage.async.close()
        return try bench.open(tiers, Int.self)
      }
    }
    #expect(await contract.violations() == [])
  }

  @Test("what the disk keeps for a time, memory without a lifetime of its own keeps no longer")
  func diskLifetime() throws {
    var disk = bench.diskConfig
    disk.expiry = .seconds(60)
    let storage = try bench.open(Int.self, disk: disk, memory: MemoryConfig())
    try storage.setObject(1, forKey: "a")
    try storage.setObject(2, forKey: "long", expiry: .seconds(600))
    #expect(try storage.entry(forKey: "a")?.level == "memory")
    #expect(try storage.entry(forKey: "a")?.deadline == bench.clock.now.advanced(by: .seconds(60)))
    bench.clock.advance(by: .seconds(60))
    #expect(try storage.object(forKey: "a") == nil)
    #expect(try storage.object(forKey: "long") == 2)
    #expect(try storage.removeExpiredObjects() <= 2)
    #expect(storage.memoryUsage?.count == 1)
    try storage.close()
  }

  @Test("a live copy on the disk comes before one that has expired in memory, also when that is asked for")
  func staleAndLive() throws {
    let memory = MemoryConfig(expiry: .seconds(10), keepsExpired: .seconds(1_000))
    let storage = try bench.open(User.self, memory: memory)
    try storage.setObject(bench.ada, forKey: "a")
    bench.clock.advance(by: .seconds(10))
    let entry = try #require(try storage.staleEntry(forKey: "a"))
    #expect(!entry.isStale)
    #expect(entry.object == bench.ada)
    try storage.removeAll()
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(10))
    bench.clock.advance(by: .seconds(10))
    #expect(try storage.staleEntry(forKey: "a")?.isStale == true)
    try storage.close()
  }

  @Test("the memory that a storage on a disk has by itself is bounded, and a warning empties it")
  func standardMemory() async throws {
    #expect(MemoryConfig.standard.totalCostLimit == 50 << 20)
    #expect(MemoryConfig.standard.pressure is KernelPressureSource)
    let pressure = ManualPressureSource()
    var memory = MemoryConfig.standard
    memory.pressure = pressure
    let storage = try bench.open(Int.self, memory: memory)
    try storage.setObject(1, forKey: "a")
    #expect(storage.memoryUsage?.count == 1)
    let all = storage.changes()
    pressure.send()
    for await change in all where change == .lost("a", from: .memory, cause: .memoryWarning) { break }
    #expect(storage.memoryUsage?.count == 0)
    #expect(try storage.object(forKey: "a") == 1)
    try storage.close()
  }

  private struct Place: Codable, Hashable, Sendable {
    var number = 0.0
    var short: Float = 0
    var tags: Set<String> = []
    var counts: [Int: Set<Double>] = [:]
    var pairs: [Set<Int>: Double] = [:]
    var bytes = Data()
    var address = URL(string: "https://example.org")
    var date: Date?
    var next: [Place?] = []
  }

  @Test("keys that are equal are one key in both tiers: zeros of either sign, sets, dictionaries, forms of a text")
  func equalKeys() throws {
    let words = (0..<40).map { "word \($0)" } + ["caf\u{e9}"]
    let others = words.dropLast().reversed() + ["cafe\u{301}"]
    let numbers = (0..<40).map { $0 % 2 == 0 ? Set([$0]) : Set([$0, -$0, 7]) }
    let first = Place(
      number: 0, short: 0, tags: Set(words), counts: [1: [0.0, 2]],
      pairs: Dictionary(numbers.map { ($0, 0.0) }) { $1 }, bytes: Data([1]), date: Date(timeIntervalSince1970: 1.5),
      next: [nil, Place()])
    var sameTags = Set<String>(minimumCapacity: 1_000)
    for word in others { sameTags.insert(word) }
    var samePairs = [Set<Int>: Double](minimumCapacity: 1_000)
    for number in numbers.reversed() { samePairs[Set(Array(number).reversed())] = -0.0 }
    var second = first
    second.number = -0.0
    second.short = -0.0
    second.tags = sameTags
    second.counts = [1: [2, -0.0]]
    second.pairs = samePairs
    second.next = [nil, Place(number: -0.0)]
    #expect(first == second)
    let storage = try Storage<Place, Int>(
      diskConfig: bench.diskConfig, transformer: TransformerFactory.forCodable(), sweepInterval: nil, clock: bench.clock
    )
    try storage.setObject(1, forKey: first)
    try storage.setObject(2, forKey: second)
    #expect(storage.diskUsage?.count == 1)
    try storage.removeInMemoryObject(forKey: first)
    #expect(try storage.object(forKey: first) == 2)
    #expect(try storage.allKeys == [first])
    second.tags.remove("word 1")
    #expect(try storage.object(forKey: second) == nil)
    try storage.close()
  }

  @Test("keys are written as JSON writes them")
  func keyBytes() throws {
    struct Key: Codable, Hashable, Sendable {
      var b = "text with a “quote” / and \"another\""
      var a = [1.5, -2, 1e300]
      var c: [String: Int?] = ["z": 1, "a": nil]
      var d: UInt64 = .max
      var e = Data([0, 255])
      var f = URL(string: "https://example.org/a?b=c")
      var g: Date? = Date(timeIntervalSince1970: 1_234.5)
      var h: Float = 0.1
      var i = [true, false]
      var j = Decimal(string: "1.23456789012345678901")
      var k = UUID()
      var l: [Int] = []
    }
    let folder = bench.folder.path
    var config = bench.diskConfig
    config.name = "same"
    let key = Key()
    // Written under the coding that was the keys' before.
    let before = try Storage<Key, Int>(
      diskConfig: config, keyCoding: .json, transformer: TransformerFactory.forCodable(), sweepInterval: nil,
      clock: bench.clock)
    try before.setObject(1, forKey: key)
    try before.close()
    #expect(FileManager.default.fileExists(atPath: folder + "/same"))
    let after = try Storage<Key, Int>(
      diskConfig: config, transformer: TransformerFactory.forCodable(), sweepInterval: nil, clock: bench.clock)
    #expect(try after.object(forKey: key) == 1)
    try after.close()
  }
}
