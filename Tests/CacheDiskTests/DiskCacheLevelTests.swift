import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DiskCacheLevelTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()
  let clock = ManualClock()

  private func open(capacity: Int = 8 << 20, expiry: Expiry = .never, access: StoreAccess = .readWrite) throws -> Level
  {
    try Level(directory: folder.path, capacity: capacity, expiry: expiry, access: access, clock: clock)
  }

  private func value(_ seed: Int, _ count: Int = 500) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) })
  }

  @Test("C131 C132 C133 a set is read back, another key misses, and a second set overwrites")
  func basics() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    #expect(try await level.get("a") == value(1))
    #expect(try await level.lookup("b").missReason == .absent)
    try await level.set(value(2), forKey: "a")
    #expect(try await level.get("a") == value(2))
    #expect(level.usage.count == 1)
    try await level.close()
  }

  @Test(
    "C139 H25 values and deadlines survive reopening, with the checkpoint and without it", arguments: [true, false])
  func reopens(hasCheckpoint: Bool) async throws {
    let first = try open()
    try await first.set(value(1), forKey: "a", expiry: .after(.seconds(60)))
    try await first.set(value(2), forKey: "b")
    try await first.set(value(3), forKey: "gone")
    try await first.remove("gone")
    try await first.close()
    if !hasCheckpoint { try folder.remove("index") }
    clock.advance(by: .seconds(59))
    let second = try open()
    #expect(try await second.get("a") == value(1))
    #expect(try await second.get("b") == value(2))
    #expect(try await second.get("gone") == nil)
    #expect(try await second.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(1)))
    clock.advance(by: .seconds(1))
    #expect(try await second.lookup("a").missReason == .expired)
    try await second.close()
  }

  @Test("P8 across a restart the wall clock decides, and a creation in its future means expired")
  func restarts() async throws {
    let first = try open()
    try await first.set(value(1), forKey: "a", expiry: .after(.seconds(100)))
    try await first.close()
    clock.reboot()
    clock.stepWallClock(by: .seconds(40))
    let second = try open()
    #expect(try await second.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(60)))
    try await second.close()
    clock.reboot()
    clock.stepWallClock(by: .seconds(-3_600))
    let third = try open()
    #expect(try await third.lookup("a").missReason == .expired)
    try await third.close()
  }

  @Test("P8 within one boot a step of the wall clock changes no lifetime", arguments: [-86_400, 86_400])
  func wallClockSteps(seconds: Int) async throws {
    let first = try open()
    try await first.set(value(1), forKey: "a", expiry: .after(.seconds(100)))
    try await first.close()
    clock.stepWallClock(by: .seconds(seconds))
    clock.advance(by: .seconds(99))
    let second = try open()
    #expect(try await second.get("a") == value(1))
    clock.advance(by: .seconds(1))
    #expect(try await second.get("a") == nil)
    try await second.close()
  }

  @Test("C136 C137 removals and clears last over a reopening that finds no checkpoint")
  func removals() async throws {
    let level = try open()
    for number in 0..<50 { try await level.set(value(number), forKey: "\(number)") }
    try await level.remove("7")
    try await level.remove("never there")
    let crashed = try folder.copy()
    let other = try Level(directory: crashed.path, capacity: 8 << 20, clock: clock)
    #expect(try await other.get("7") == nil)
    #expect(other.usage.count == 49)
    try await other.close()
    try await level.clear()
    #expect(level.usage.count == 0)
    try await level.set(value(1), forKey: "after")
    let cleared = try folder.copy()
    let third = try Level(directory: cleared.path, capacity: 8 << 20, clock: clock)
    #expect(try await third.contents().map(\.key) == ["after"])
    try await third.close()
    try await level.close()
  }

  @Test("C138 a memory warning loses nothing")
  func warning() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    await level.onMemoryWarning()
    #expect(try await level.get("a") == value(1))
    try await level.close()
  }

  @Test(
    "C143 P18 any key works, and different keys never answer for each other",
    arguments: [
      "", " ", "\0", "a\0b", "../../etc/passwd", "/", ".", "a/b/c", "con", "日本語", "🏳️‍🌈",
      LongText(repeating: "x", count: 70_000),
      "a\nb", "%2e%2e", "lock", "index",
    ])
  func hostileKeys(argument: LongText) async throws {
    let key = argument.text
    let level = try open()
    try await level.set(value(1), forKey: key)
    try await level.set(value(2), forKey: key + "'")
    #expect(try await level.get(key) == value(1))
    #expect(try await level.contents().contains { $0.key == key })
    try await level.close()
  }

  @Test("P18 keys that are equal strings are one key, whatever their code points")
  func canonicalKeys() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "caf\u{e9}")
    #expect(try await level.get("cafe\u{301}") == value(1))
    try await level.set(value(2), forKey: "CAF\u{c9}")
    #expect(level.usage.count == 2)
    try await level.close()
  }

  @Test(
    "values of any length come back whole, the long ones from files of their own",
    arguments: [0, 1, 7, 8, 4_096, 70_000, 300_000, 2_000_000])
  func lengths(count: Int) async throws {
    let level = try open(capacity: 16 << 20)
    try await level.set(value(3, count), forKey: "v")
    try await level.set(value(4, 10), forKey: "w")
    #expect(try await level.get("v") == value(3, count))
    try await level.close()
    let again = try open(capacity: 16 << 20)
    #expect(try await again.get("v") == value(3, count))
    try await again.set(value(5, 10), forKey: "v")
    #expect(!folder.names.contains { $0.hasPrefix("val-") })
    try await again.close()
  }

  @Test("P5 H26 C134 everything in the directory stays within the capacity, at every moment")
  func staysWithinCapacity() async throws {
    let capacity = 4 << 20
    let level = try open(capacity: capacity)
    var generator = SeededGenerator(seed: 5)
    var most = 0
    for step in 0..<2_000 {
      let count =
        Int.random(in: 0..<20, using: &generator) == 0 ? 200_000 : Int.random(in: 10...6_000, using: &generator)
      try await level.set(
        Data(repeating: UInt8(truncatingIfNeeded: step), count: count),
        forKey: "\(Int.random(in: 0..<2_000, using: &generator))")
      most = max(most, level.usage.cost)
      if step % 50 == 0 { #expect(folder.allocatedBytes <= capacity) }
    }
    #expect(most <= capacity)
    #expect(level.usage.cost >= folder.allocatedBytes - 8_192)
    try await level.close()
    #expect(folder.allocatedBytes <= capacity)
  }

  @Test("C135 the least recently used leaves first; both get and set count as use")
  func evictsByUse() async throws {
    let level = try open(capacity: 1 << 20)
    try await level.set(value(0, 2_000), forKey: "kept")
    var step = 0
    while try await level.get("first") != nil || step == 0 {
      if step == 0 { try await level.set(value(1, 2_000), forKey: "first") }
      // "first" is read as well, so the fillers before it go first; then it is not read for a while.
      for _ in 0..<50 {
        step += 1
        try await level.set(value(step, 2_000), forKey: "\(step)")
        _ = try await level.get("kept")
      }
      if step > 1_000 { break }
    }
    #expect(try await level.get("kept") == value(0, 2_000))
    #expect(try await level.get("1") == nil)
    #expect(try await level.get("\(step)") == value(step, 2_000))
    try await level.close()
  }

  @Test("P5 an entry heavier than the capacity is refused before anything leaves")
  func tooLarge() async throws {
    let level = try open(capacity: 1 << 20)
    try await level.set(value(1), forKey: "a")
    let error = await #expect(throws: CacheError.self) { try await level.set(value(2, 2 << 20), forKey: "b") }
    #expect(error?.code == .tooLarge)
    #expect(error?.level == "disk")
    let key = String(repeating: "k", count: 2 << 20)
    let long = await #expect(throws: CacheError.self) { try await level.set(value(2), forKey: key) }
    #expect(long?.message.contains("a key of \(2 << 20) bytes") == true)
    #expect(try await level.get("a") == value(1))
    try await level.close()
  }

  @Test("C142 opening a directory that is too large trims it")
  func trims() async throws {
    let level = try open(capacity: 8 << 20)
    for number in 0..<2_000 { try await level.set(value(number, 3_000), forKey: "\(number)") }
    try await level.close()
    let smaller = try open(capacity: 2 << 20)
    #expect(folder.allocatedBytes <= 2 << 20)
    #expect(try await smaller.get("1999") == value(1_999, 3_000))
    try await smaller.close()
  }

  @Test("H44 an expired entry is never returned; expire and removeExpired report it as expired")
  func expires() async throws {
    let causes = Mutex<[String]>([])
    let level = try Level(
      directory: folder.path, capacity: 4 << 20, clock: clock,
      removalListener: { removal in causes.withLock { $0.append("\(removal.key) \(removal.cause)") } })
    try await level.set(value(1), forKey: "a", expiry: .after(.seconds(10)))
    try await level.set(value(2), forKey: "b", expiry: .after(.seconds(10)))
    try await level.set(value(3), forKey: "c")
    try await level.expire("c")
    #expect(try await level.lookup("c").missReason == .expired)
    clock.advance(by: .seconds(10))
    #expect(try await level.lookup("a").missReason == .expired)
    #expect(try await level.removeExpired() == 1)
    #expect(level.usage.count == 0)
    #expect(causes.withLock { $0 } == ["c expired", "a expired", "b expired"])
    try await level.close()
  }

  @Test("an entry that was expired by hand stays so after a restart")
  func expiredForGood() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try await level.expire("a")
    let crashed = try folder.copy()
    let other = try Level(directory: crashed.path, capacity: 8 << 20, clock: clock)
    #expect(try await other.get("a") == nil)
    try await other.close()
    try await level.close()
  }

  @Test("to end what has expired already keeps it no longer")
  func endedAfterExpiry() async throws {
    let level = try Level(directory: folder.path, capacity: 8 << 20, keepsExpired: .seconds(60), clock: clock)
    try await level.set(value(1), forKey: "a", expiry: .after(.seconds(10)))
    clock.advance(by: .seconds(50))
    try await level.expire("a")
    #expect(try await level.lookupIncludingExpired("a").entry?.isStale == true)
    clock.advance(by: .seconds(20))
    #expect(try await level.lookupIncludingExpired("a").entry == nil)
    try await level.close()
  }

  @Test("a value is held until its deadline and no longer, for those who store on a condition as well")
  func conditionAtDeadline() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a", expiry: .after(.seconds(10)))
    clock.advance(by: .seconds(10))
    #expect(try await level.store(value(2), forKey: "a", terms: StoreTerms(), if: .present) == false)
    #expect(try await level.store(value(2), forKey: "a", terms: StoreTerms(), if: .absent))
    try await level.close()
  }

  @Test("C144 bytes that were stored as another type are an error, and stay")
  func otherType() async throws {
    let numbers = try DiskCacheLevel<String, [Int]>(jsonIn: folder.path, capacity: 4 << 20, clock: clock)
    let level = try open(capacity: 4 << 20)
    try await numbers.set([1, 2, 3], forKey: "a")
    let error = await #expect(throws: CacheError.self) { try await level.get("a") }
    #expect(error?.code == .invalidCachedData)
    #expect(try await numbers.get("a") == [1, 2, 3])
    try await level.close()
    #expect(try await numbers.get("a") == [1, 2, 3])
    try await numbers.close()
  }

  @Test("all levels on one directory in a process share one store, which ends with the last of them")
  func shares() async throws {
    let first = try open()
    let second = try open()
    try await first.set(value(1), forKey: "a")
    #expect(try await second.get("a") == value(1))
    try await first.close()
    #expect(try await second.get("a") == value(1))
    let error = await #expect(throws: CacheError.self) { try await first.get("a") }
    #expect(error?.code == .closed)
    try await second.close()
    try await second.close()
  }

  @Test("P15 a directory that another program writes to is in use, and may be looked into")
  func inUse() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    // Another open file description has the lock of another process.
    let crashed = try folder.copy()
    let descriptor = unsafe Glibc.open(crashed.path + "/lock", O_RDWR)
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    let error = #expect(throws: CacheError.self) { try Level(directory: crashed.path, capacity: 8 << 20, clock: clock) }
    #expect(error?.code == .inUse)
    let looking = try Level(directory: crashed.path, capacity: 8 << 20, access: .readOnly, clock: clock)
    #expect(try await looking.get("a") == value(1))
    let refused = await #expect(throws: CacheError.self) { try await looking.set(value(2), forKey: "a") }
    #expect(refused?.code == .readOnly)
    Glibc.close(descriptor)
    try await level.close()
  }

  @Test("P14 files and directory belong to the owner alone, and a directory that others can write is refused")
  func isPrivate() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    var status = stat()
    #expect(unsafe stat(folder.path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    for name in folder.names {
      #expect(unsafe stat(folder.path + "/" + name, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
    try await level.close()
    #expect(unsafe chmod(folder.path, 0o777) == 0)
    let error = #expect(throws: CacheError.self) { try open() }
    #expect(error?.code == .unusableStore)
  }

  @Test("P14 no symbolic link inside is followed, and what is not ours is not touched")
  func symbolicLinks() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try await level.close()
    let victim = DiskFolder()
    try FileManager.default.createDirectory(atPath: victim.path, withIntermediateDirectories: true)
    try victim.write(Data("precious".utf8), to: "victim")
    let segment = try #require(folder.segments.first)
    try folder.remove(segment)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/" + segment, withDestinationPath: victim.path + "/victim")
    try folder.write(Data("mine".utf8), to: "notes.txt")
    let again = try open()
    #expect(try await again.get("a") == nil)
    try await again.set(value(2), forKey: "b")
    try await again.close()
    #expect(try victim.bytes(of: "victim") == Data("precious".utf8))
    #expect(try folder.bytes(of: "notes.txt") == Data("mine".utf8))
  }

  @Test("seeded operations with reopenings and crashes agree with a dictionary", arguments: 0..<6)
  func agreesWithModel(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    var model: [String: Data] = [:]
    var level = try open(capacity: 32 << 20)
    var crashed: [DiskFolder] = []
    for step in 0..<600 {
      let key = "key \(Int.random(in: 0..<30, using: &generator))"
      switch Int.random(in: 0..<40, using: &generator) {
      case 0..<16: #expect(try await level.get(key) == model[key])
      case 16..<30:
        let data = value(step, Int.random(in: 0..<3_000, using: &generator))
        try await level.set(data, forKey: key)
        model[key] = data
      case 30..<36:
        try await level.remove(key)
        model[key] = nil
      case 36:
        try await level.clear()
        model = [:]
      case 37:
        try await level.close()
        level = try open(capacity: 32 << 20)
      default:
        let copy = try folder.copy()
        let other = try Level(directory: copy.path, capacity: 32 << 20, clock: clock)
        for (key, data) in model { #expect(try await other.get(key) == data) }
        #expect(other.usage.count == model.count)
        try await other.close()
        crashed.append(copy)
      }
    }
    #expect(level.usage.count == model.count)
    try await level.close()
  }

  @Test("reclaiming keeps what lives, and nothing old comes back", arguments: 0..<3)
  func reclaims(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let level = try open(capacity: 2 << 20)
    var newest: [String: Data] = [:]
    for step in 0..<5_000 {
      let key = "\(Int.random(in: 0..<300, using: &generator))"
      if Int.random(in: 0..<10, using: &generator) == 0 {
        try await level.remove(key)
        newest[key] = nil
      } else {
        let data = value(step, Int.random(in: 100..<2_000, using: &generator))
        try await level.set(data, forKey: key)
        newest[key] = data
      }
      if step % 500 == 499 {
        let copy = try folder.copy()
        let other = try Level(directory: copy.path, capacity: 2 << 20, clock: clock)
        for number in 0..<300 {
          // Evicted is allowed, outdated is not.
          if let data = try await other.get("\(number)") { #expect(data == newest["\(number)"]) }
        }
        try await other.close()
      }
    }
    for (key, data) in newest { if let found = try await level.get(key) { #expect(found == data) } }
    try await level.close()
  }

  @Test("H82 mixed operations from many tasks lose nothing that is not removed")
  func concurrent() async throws {
    let level = try open(capacity: 32 << 20)
    await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for step in 0..<200 {
            try await level.set(value(worker + step), forKey: "\(worker)")
            #expect(try await level.get("\(worker)") == value(worker + step))
            if step % 20 == 0 { try await level.set(value(step, 100_000), forKey: "long \(worker)") }
          }
        }
      }
    }
    #expect(level.usage.count == 16)
    try await level.close()
  }
}
