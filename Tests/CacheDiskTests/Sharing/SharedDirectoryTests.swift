import CacheCore
import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CacheDisk

/// Several processes on one directory; a level that stands apart is to the others as one of another process.
@Suite(.timeLimit(.minutes(10))) struct SharedDirectoryTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()
  let clock = ManualClock()

  static func sharing(apart: Bool, silence: Duration = .seconds(30)) -> StoreSharing {
    var sharing = StoreSharing.acrossProcesses(silence: silence)
    sharing.isApart = apart
    return sharing
  }

  func open(
    apart: Bool = false, silence: Duration = .seconds(30), capacity: Int = 8 << 20, expiry: Expiry = .never,
    keepsExpired: Duration = .zero, calls: FileCalls = FileCalls(),
    removalListener: (@Sendable (Removal<String>) -> Void)? = nil
  ) throws -> Level {
    try Level(
      directory: folder.path, capacity: capacity, name: "shared", expiry: expiry, keepsExpired: keepsExpired,
      durability: .buffered, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
      removalListener: removalListener, calls: calls, sharing: Self.sharing(apart: apart, silence: silence))
  }

  /// One that owns the files, and one that asks it.
  func two() throws -> (owner: Level, guest: Level) {
    let owner = try open()
    let guest = try open(apart: true)
    #expect(owner.owner == .thisProcess)
    #expect(guest.owner == .process(getpid()))
    return (owner, guest)
  }

  private final class Flag: Sendable { let isSet = Mutex(false) }

  func value(_ number: Int, _ length: Int = 100) -> Data {
    Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
  }

  @Test("a long value goes both ways where the capacity has no limit")
  func unlimited() async throws {
    let owner = try open(capacity: .max)
    let guest = try open(apart: true, capacity: .max)
    let (sent, found) = (value(1, 100_000), value(2, 100_000))
    try await guest.set(sent, forKey: "a")
    #expect(try await owner.get("a") == sent)
    try await owner.set(found, forKey: "b")
    #expect(try await guest.get("b") == found)
  }

  @Test("P15 a level that asks another process keeps the contract, and so does the one that is asked")
  func contract() async {
    for isGuest in [true, false] {
      for expiry in [Expiry.never, .after(.seconds(3_600))] {
        let contract = LevelContract(
          "shared", values: (0..<3).map { Data("value \($0)".utf8) }, capabilities: [.expiring, .durable]
        ) {
          let (clock, folder) = (ManualClock(), DiskFolder())
          @Sendable func open(_ isApart: Bool) throws -> Level {
            try Level(
              directory: folder.path, capacity: 8 << 20, expiry: expiry, sharing: Self.sharing(apart: isApart),
              clock: clock)
          }
          let owner = try open(false)
          return LevelUnderTest(isGuest ? try open(true) : owner, clock: clock) { level in
            try await level.close()
            _ = owner
            return try open(isGuest)
          }
        }
        #expect(await contract.violations() == [])
      }
    }
  }

  @Test(
    "P15 what one stores the other finds, with all that is known of it, however long",
    arguments: [0, 100, 70_000, 600_000])
  func values(length: Int) async throws {
    let (owner, guest) = try two()
    clock.advance(by: .seconds(5))
    let terms = StoreTerms(expiry: .after(.seconds(60)), tags: ["x", "caf\u{e9}"])
    try await guest.store(value(1, length), forKey: "a", terms: terms)
    try await owner.store(value(2, length), forKey: "b", terms: terms)
    for level in [owner, guest] {
      for (key, number) in [("a", 1), ("b", 2)] {
        let entry = try #require(try await level.lookup(key).entry)
        #expect(entry.value == value(number, length))
        #expect(entry.tags == ["x", "caf\u{e9}"])
        #expect(entry.cost == length)
        #expect(entry.deadline == clock.now.advanced(by: .seconds(60)))
        #expect(entry.created == clock.now)
        #expect(try level.contains(key))
        #expect(try level.created(key) == clock.now)
      }
      #expect(try level.contains("c") == false)
      #expect(try await level.lookup("c").missReason == .absent)
      #expect(level.usage.count == 2)
    }
    #expect(owner.usage == guest.usage && owner.traffic == guest.traffic)
    clock.advance(by: .seconds(60))
    #expect(try await owner.lookup("a").missReason == .expired)
    #expect(try await guest.lookup("b").missReason == .expired)
  }

  @Test("P15 conditions, removals by key, prefix and tag, expiries and clears mean the same for who asks")
  func changes() async throws {
    let (owner, guest) = try two()
    #expect(try await guest.setIfAbsent(value(1), forKey: "a"))
    #expect(try await owner.setIfAbsent(value(2), forKey: "a") == false)
    #expect(try await guest.setIfAbsent(value(2), forKey: "a") == false)
    #expect(try await guest.replace(value(3), forKey: "a"))
    #expect(try await guest.replace(value(3), forKey: "none") == false)
    #expect(try await owner.get("a") == value(3))
    for number in 0..<10 {
      try await guest.store(
        value(number), forKey: "p/\(number)", terms: StoreTerms(tags: [number < 4 ? "few" : "many"]))
    }
    #expect(try await guest.removeAll(tagged: "few") == 4)
    #expect(try await guest.removeAll(withPrefix: "p/4") == 1)
    #expect(try await guest.removeAll { $0.hasSuffix("5") } == 1)
    try await guest.remove("p/6")
    try await guest.expire("p/7")
    #expect(try await owner.removeExpired() + guest.removeExpired() == 1)
    #expect(Set(try await owner.contents().map(\.key)) == ["a", "p/8", "p/9"])
    #expect(Set(try await guest.contents().map(\.key)) == ["a", "p/8", "p/9"])
    try await guest.clear()
    #expect(try await owner.contents().isEmpty)
    #expect(try await guest.get("a") == nil)
  }

  @Test("P15 all entries are listed page by page, and the store is examined, for who asks")
  func listing() async throws {
    let (owner, guest) = try two()
    for number in 0..<700 { try await owner.set(value(number, 20), forKey: "\(number)") }
    var keys: Set<String> = []
    for try await entry in guest.entries() {
      #expect(entry.size == 20 && entry.type == "data")
      keys.insert(entry.key)
    }
    #expect(keys.count == 700)
    #expect(try await guest.verify() == owner.verify())
    #expect(try await guest.verify().entries == 700)
    await #expect(throws: CacheError.self) { try await guest.rotate() }
  }

  @Test("P15 many tasks of many parts at once: each finds what it stored")
  func crowd() async throws {
    let levels = [try open()] + (try (0..<3).map { _ in try open(apart: true) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          let level = levels[task % levels.count]
          for number in 0..<200 {
            try await level.set(value(number, number % 40 == 0 ? 90_000 : 300), forKey: "\(task)/\(number % 7)")
            #expect(try await level.get("\(task)/\(number % 7)")?.count == (number % 40 == 0 ? 90_000 : 300))
          }
        }
      }
      try await group.waitForAll()
    }
    for level in levels { #expect(try await level.contents().count == 16 * 7) }
  }

  @Test("P15 two levels of one process have one part in the directory")
  func together() async throws {
    let (first, second) = (try open(), try open())
    #expect(first.elsewhere === second.elsewhere)
    try await first.set(value(1), forKey: "a")
    #expect(try await second.get("a") == value(1))
    try await first.close()
    #expect(try await second.get("a") == value(1))
    let error = await #expect(throws: CacheError.self) { try await first.get("a") }
    #expect(error?.code == .closed)
    try await second.close()
    #expect(!folder.names.contains("socket"))
    #expect(try await open().get("a") == value(1))
  }

  @Test("P15 when the owner leaves somebody else takes over, and nothing is lost, nor what is under way")
  func takeover() async throws {
    let owner = try open()
    let guests = try (0..<3).map { _ in try open(apart: true) }
    let isDone = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (place, guest) in guests.enumerated() {
        group.addTask {
          var number = 0
          repeat {
            try await guest.set(value(number), forKey: "\(place)")
            #expect(try await guest.get("\(place)") == value(number))
            number += 1
          } while !isDone.isSet.withLock { $0 }
        }
      }
      try await owner.set(value(7), forKey: "kept")
      try await owner.close()
      try await turns { guests.contains { $0.owner == .thisProcess } }
      let second = try #require(guests.firstIndex { $0.owner == .thisProcess })
      try await turns { guests.count { $0.owner == .process(getpid()) } == 2 }
      isDone.isSet.withLock { $0 = true }
      try await group.waitForAll()
      try await guests[second].close()
      for (place, guest) in guests.enumerated() where place != second {
        #expect(try await guest.get("kept") == value(7))
      }
    }
  }

  @Test("P15 a removal listener hears what leaves, wherever it leaves")
  func losses() async throws {
    let heard = Mutex<[[String]]>([[], []])
    let owner = try open { removal in heard.withLock { $0[0].append("\(removal.key) \(removal.cause)") } }
    let guest = try open(apart: true) { removal in heard.withLock { $0[1].append("\(removal.key) \(removal.cause)") } }
    try await owner.set(value(1), forKey: "a")
    try await guest.set(value(2), forKey: "b")
    // From here on both are heard, since their requests were.
    try await turns { (owner.elsewhere as? CommonStore)?.hearsLossesEverywhere(2) == true }
    try await owner.remove("b")
    try await guest.remove("a")
    try await turns { heard.withLock { $0.allSatisfy { $0 == ["b removed", "a removed"] } } }
  }

  @Test("P15 what is kept for stale reads is kept for the longest that anybody wants")
  func stale() async throws {
    let owner = try open(expiry: .after(.seconds(10)))
    let guest = try open(apart: true, expiry: .after(.seconds(10)), keepsExpired: .seconds(100))
    try await guest.set(value(1), forKey: "a")
    clock.advance(by: .seconds(20))
    #expect(try await owner.removeExpired() == 0)
    #expect(try await guest.lookupIncludingExpired("a").entry?.isStale == true)
    #expect(try await guest.lookup("a").missReason == .expired)
  }

  @Test("another capacity, clock, limit or an encrypted share is told when the directory is opened")
  func mismatches() async throws {
    let owner = try open()
    func refusal(_ body: () throws -> Level) -> CacheError? {
      do {
        _ = try body()
        return nil
      } catch { return error as? CacheError }
    }
    for apart in [false, true] {
      let refused = refusal { try open(apart: apart, capacity: 9 << 20) }
      #expect(refused?.code == .invalidSetting)
      #expect(refused?.message.contains("9437184") == true)
    }
    #expect(refusal { try open(silence: .seconds(9)) }?.code == .invalidSetting)
    #expect(
      refusal {
        try Level(directory: folder.path, capacity: 8 << 20, sharing: Self.sharing(apart: true), clock: SystemClock())
      }?.code == .invalidSetting)
    // One that has the directory for itself does not go together with one that shares it.
    #expect(refusal { try Level(directory: folder.path, capacity: 8 << 20, clock: clock) }?.code == .invalidSetting)
    try await owner.close()
    let alone = try Level(directory: folder.path, capacity: 8 << 20, clock: clock)
    #expect(refusal { try open() }?.code == .invalidSetting)
    try await alone.close()
  }

  @Test("the socket belongs to the owner alone, and a path of any length does")
  func socket() async throws {
    let deep = DiskFolder()
    let path = deep.path + "/" + String(repeating: "d", count: 150)
    func open(_ apart: Bool) throws -> Level {
      try Level(directory: path, capacity: 8 << 20, sharing: Self.sharing(apart: apart), clock: clock)
    }
    let (owner, guest) = (try open(false), try open(true))
    try await guest.set(value(1), forKey: "a")
    #expect(try await owner.get("a") == value(1))
    var status = stat()
    #expect(unsafe stat(path + "/socket", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(try await owner.verify().strays == [])
    #expect(SharedDirectory.owner(of: path) == getpid())
    // Where the system has no short names for directories a link leads there.
    let directory = try StoreDirectory(path, access: .readWrite, calls: FileCalls())
    let reached = SharedSocket.throughLink(directory) { cstoreConnect($0) }
    #expect(reached >= 0)
    close(reached)
  }

  @Test("a file of somebody else under the socket's name is left alone")
  func foreignSocket() throws {
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try folder.write(Data("mine".utf8), to: "socket")
    let error = #expect(throws: CacheError.self) { try open() }
    #expect(error?.code == .unusableStore)
    #expect(try folder.bytes(of: "socket") == Data("mine".utf8))
  }

  @Test("an owner whose disk is full says so to who asked, and the value before stays")
  func fullDisk() async throws {
    let isFull = Mutex(false)
    var calls = FileCalls()
    let write = unsafe calls.write
    unsafe calls.write = { descriptor, bytes, offset in
      if isFull.withLock({ $0 }) {
        errno = ENOSPC
        return -1
      }
      return unsafe write(descriptor, bytes, offset)
    }
    let owner = try open(calls: calls)
    let guest = try open(apart: true)
    try await guest.set(value(1), forKey: "a")
    isFull.withLock { $0 = true }
    let error = await #expect(throws: CacheError.self) { try await guest.set(value(2), forKey: "a") }
    #expect(error?.code == .diskWriteFailed)
    #expect(error?.message.contains("No space left") == true)
    #expect(try await guest.get("a") == value(1))
    isFull.withLock { $0 = false }
    try await guest.set(value(3), forKey: "a")
    #expect(try await owner.get("a") == value(3))
  }

  @Test(
    "P17 an owner that cannot let in those who come answers those who are there as quickly as ever",
    arguments: [EMFILE, ECONNRESET])
  func noRoomForMore(code: Int32) async throws {
    let state = Mutex((attempts: 0, isOut: false))
    var calls = FileCalls()
    let real = calls
    calls.accept = { listener in
      let isOut = state.withLock { state in
        state.attempts += 1
        return state.isOut
      }
      guard isOut else { return real.accept(listener) }
      errno = code
      return -1
    }
    let owner = try open(calls: calls)
    let guest = try open(apart: true)
    try await guest.set(value(1), forKey: "a")
    state.withLock { ($0.isOut, $0.attempts) = (true, 0) }
    let directory = try StoreDirectory(folder.path, access: .readWrite, calls: real)
    let outside = FrameSocket(SharedSocket.connect(in: directory), wake: {})
    try await turns { state.withLock { $0.attempts } > 0 }
    // Whoever is asked once more before each answer to those who are there is asked between any two of them. Not until that ends: an
    // owner that waits before each answer would take ten minutes for as many as are quick.
    var isQuick = false
    for _ in 0..<500 where !isQuick {
      let before = state.withLock { $0.attempts }
      for _ in 0..<3 { try #require(try await guest.get("a") == value(1)) }
      isQuick = state.withLock { $0.attempts } == before
    }
    #expect(isQuick)
    state.withLock { $0.isOut = false }
    let third = try open(apart: true)
    #expect(try await third.get("a") == value(1))
    outside.breakOff()
    for level in [third, guest, owner] { try await level.close() }
  }

  @Test("a directory that is removed under its owner is shared again where it stands anew")
  func standsAgain() async throws {
    let (owner, guest) = try two()
    try await guest.set(value(1), forKey: "a")
    try FileManager.default.removeItem(atPath: folder.path)
    try await guest.set(value(2), forKey: "b")
    #expect(try await owner.get("b") == value(2))
    #expect(try await guest.get("a") == nil)
    try await turns { SharedDirectory.owner(of: folder.path) == getpid() }
    let third = try open(apart: true)
    #expect(try await third.get("b") == value(2))
  }

  // MARK: Coherence

  @Test("what one process changes the memory of another forgets; its own stays", arguments: [false, true])
  func coherence(guestWrites: Bool) async throws {
    let (owner, guest) = try two()
    let (writing, reading) = guestWrites ? (guest, owner) : (owner, guest)
    let here = MemoryCacheLevel<String, Data>(clock: clock).compose(reading, coherence: Coherence(reading))
    let there = MemoryCacheLevel<String, Data>(clock: clock).compose(writing, coherence: Coherence(writing))
    for cache in [here, there] {
      try await turns { cache.coherence.deafSince == nil && cache.coherence.everything > 0 }
    }
    for key in ["a", "b", "c"] { try await there.store(value(1), forKey: key, terms: StoreTerms(tags: ["t\(key)"])) }
    try await turns { here.coherence.keys >= 3 }
    for key in ["a", "b", "c"] {
      #expect(try await here.get(key) == value(1))
      #expect(here.peek(key) != nil && there.peek(key) != nil)
    }
    try await there.set(value(2), forKey: "a")
    try await turns { here.peek("a") == nil }
    #expect(there.peek("a") == value(2))
    #expect(try await here.get("a") == value(2))
    try await there.removeAll(tagged: "tb")
    try await turns { here.peek("b") == nil }
    #expect(here.peek("c") != nil)
    try await there.remove("c")
    try await turns { here.peek("c") == nil }
    #expect(try await here.get("c") == nil)
    try await there.set(value(3), forKey: "p/1")
    #expect(try await here.get("p/1") == value(3))
    #expect(try await there.removeAll(withPrefix: "p/") == 2)
    try await turns { here.peek("p/1") == nil }
    #expect(try await here.get("a") != nil)
    try await there.clear()
    try await turns { here.peek("a") == nil }
    #expect(try await here.get("a") == nil)
  }

  @Test("while the owner is gone nothing is heard; when another has taken over everything is in doubt once")
  func deaf() async throws {
    let (owner, guest) = try two()
    let cache = MemoryCacheLevel<String, Data>(clock: clock).compose(guest, coherence: Coherence(guest))
    try await turns { cache.coherence.everything == 1 }
    try await cache.set(value(1), forKey: "a")
    #expect(cache.peek("a") != nil)
    let told = Mutex<[String]>([])
    let stop = guest.hear { change in
      switch change {
      case .connected: told.withLock { $0.append("connected") }
      case .lost: told.withLock { $0.append("lost") }
      case .everything, .key, .tag: break
      }
    }
    try await owner.close()
    try await turns { cache.coherence.everything == 2 && cache.coherence.deafSince == nil }
    try await turns { told.withLock(\.count) == 3 }
    #expect(told.withLock(\.self) == ["connected", "lost", "connected"])
    stop()
    #expect(guest.owner == .thisProcess)
    #expect(try await cache.get("a") == value(1))
  }

  @Test("others hear of a removal of everything that failed on its way", arguments: [false, true])
  func failedClear(isShared: Bool) async throws {
    let isStuck = Mutex(false)
    let real = FileCalls()
    var calls = real
    calls.unlink = { directory, name in
      guard name.hasPrefix("log-"), isStuck.withLock({ $0 }) else { return real.unlink(directory, name) }
      errno = EPERM
      return -1
    }
    func open() throws -> Level {
      try Level(
        directory: folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
        durability: .buffered, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
        removalListener: nil, calls: calls, sharing: isShared ? Self.sharing(apart: false) : .exclusive)
    }
    let (disk, other) = (try open(), try open())
    let cache = MemoryCacheLevel<String, Data>(clock: clock).compose(other, coherence: Coherence(other))
    try await turns { cache.coherence.deafSince == nil }
    try await cache.set(value(1), forKey: "a")
    isStuck.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await disk.clear() }
    #expect(try await other.get("a") == nil)
    try await turns { cache.peek("a") == nil }
    isStuck.withLock { $0 = false }
  }

  @Test("a level that shares its directory with no other process hears everything, and what others of its own change")
  func alone() async throws {
    let disk = try Level(directory: folder.path, capacity: 8 << 20, clock: clock)
    let cache = MemoryCacheLevel<String, Data>(clock: clock).compose(disk, coherence: Coherence(disk))
    try await turns { cache.coherence.deafSince == nil }
    try await cache.set(value(1), forKey: "a")
    #expect(cache.peek("a") == value(1))
    let other = try Level(directory: folder.path, capacity: 8 << 20, clock: clock)
    try await other.set(value(2), forKey: "a")
    try await turns { cache.peek("a") == nil }
    #expect(try await cache.get("a") == value(2))
  }
}

/// The code of the article about one directory, compiled and run.
@Suite struct OneDirectoryArticleTests {
  @Test("the code of the article shares a directory and hears of changes")
  func article() async throws {
    let folder = DiskFolder()
    let path = folder.path
    // Article
    let disk = try DiskCacheLevel<String, Data>(directory: path, sharing: .acrossProcesses)
    let memory = MemoryCacheLevel<String, Data>(capacity: 64 << 20)
    let photos = memory.compose(disk, coherence: Coherence(disk))
    // end
    try await photos.set(Data([1]), forKey: "a")
    #expect(try await photos.get("a") == Data([1]))
    try await disk.close()
  }
}
