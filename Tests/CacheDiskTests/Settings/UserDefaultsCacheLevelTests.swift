import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

@Suite(.timeLimit(.minutes(10))) struct UserDefaultsCacheLevelTests {
  private struct Theme: Codable, Equatable {
    var name: String
    var size = 12
  }

  private let folder = DiskFolder()
  private let clock = ManualClock()
  private let dark = Theme(name: "dark")
  private let light = Theme(name: "light")

  private func open(_ domain: String = "themes", expiry: Expiry = .never) throws -> UserDefaultsCacheLevel<
    String, Theme
  > {
    try UserDefaultsCacheLevel(domain: domain, directory: folder.path, expiry: expiry, clock: clock)
  }

  @Test("C145 miss, set, get and overwrite behave as in memory")
  func basics() async throws {
    let level = try open()
    #expect(try await level.lookup("a").missReason == .absent)
    try await level.set(dark, forKey: "a")
    #expect(try await level.get("a") == dark)
    try await level.set(light, forKey: "a")
    let entry = try #require(try await level.lookup("a").entry)
    #expect(entry.value == light)
    #expect(entry.level == "settings")
    #expect(entry.cost == 26)
    #expect(level.usage == LevelUsage(count: 1, cost: 26))
  }

  @Test("C145 values survive a new instance of the same name")
  func survives() async throws {
    weak var first: UserDefaultsCacheLevel<String, Theme>?
    do {
      let level = try open()
      first = level
      try await level.set(dark, forKey: "a")
    }
    #expect(first == nil)
    let second = try open()
    #expect(second.usage.count == 1)
    #expect(try await second.get("a") == dark)
  }

  @Test("C146 clear empties its own domain; another one and the shared defaults are untouched")
  func clears() async throws {
    let key = "CacheEngine-\(UUID())"
    UserDefaults.standard.set("here", forKey: key)
    defer { UserDefaults.standard.removeObject(forKey: key) }
    let (level, other) = (try open("a"), try open("a.plist"))
    try await level.set(dark, forKey: "a")
    try await other.set(light, forKey: "a")
    try await level.clear()
    #expect(try await level.get("a") == nil)
    #expect(level.usage == LevelUsage(count: 0, cost: 0))
    #expect(folder.names == ["a.plist.plist"])
    await other.onMemoryWarning()
    #expect(try await other.get("a") == light)
    #expect(UserDefaults.standard.string(forKey: key) == "here")
  }

  @Test("C147 a memory warning drops the copy in memory only: the file is read anew, in this domain and in others")
  func warns() async throws {
    let (level, other, donor) = (try open("a"), try open("b"), try open("c"))
    try await level.set(dark, forKey: "a")
    try await other.set(dark, forKey: "a")
    try await donor.set(light, forKey: "a")
    try folder.write(try folder.bytes(of: "c.plist"), to: "a.plist")
    #expect(try await level.get("a") == dark)
    await level.onMemoryWarning()
    #expect(level.usage.count == 1)
    #expect(try await level.get("a") == light)
    #expect(try await other.get("a") == dark)
  }

  @Test("C148 remove removes the key from this domain and from nothing else; an absent key is fine")
  func removes() async throws {
    let key = "a"
    UserDefaults.standard.set("here", forKey: key)
    defer { UserDefaults.standard.removeObject(forKey: key) }
    let (level, other) = (try open("one"), try open("two"))
    for level in [level, other] {
      try await level.set(dark, forKey: key)
      try await level.set(light, forKey: "b")
    }
    try await level.remove(key)
    try await level.remove("never there")
    await level.onMemoryWarning()
    #expect(try await level.get(key) == nil)
    #expect(try await level.get("b") == light)
    #expect(try await other.get(key) == dark)
    #expect(UserDefaults.standard.string(forKey: key) == "here")
  }

  @Test("C149 bytes that cannot be decoded fail with invalid cached data, and stay")
  func undecodable() async throws {
    struct Broken: Error {}
    let picky = try UserDefaultsCacheLevel<String, Data>(
      domain: "themes", directory: folder.path, keyCoding: .canonicalText,
      valueCoding: ByteCoding(
        name: "json/\(String(reflecting: Theme.self))", encode: { $0 }, decode: { _ in throw Broken() }))
    let level = try open()
    try await picky.set(Data("no theme".utf8), forKey: "a")
    for failing in [{ _ = try await level.lookup("a") }, { _ = try await picky.get("a") }] as [() async throws -> Void]
    {
      let error = await #expect(throws: CacheError.self) { try await failing() }
      #expect(error?.code == .invalidCachedData)
      #expect(error?.level == "settings")
    }
    #expect(level.usage.count == 1)
    try await level.set(dark, forKey: "a")
    #expect(try await level.get("a") == dark)
  }

  @Test("C149 a value of another type fails with invalid cached data and is left alone")
  func otherType() async throws {
    let (themes, data) = (
      try open(), try UserDefaultsCacheLevel<String, Data>(domain: "themes", directory: folder.path, clock: clock)
    )
    try await data.set(Data("raw".utf8), forKey: "a")
    let error = await #expect(throws: CacheError.self) { try await themes.get("a") }
    #expect(error?.code == .invalidCachedData)
    #expect(try await data.get("a") == Data("raw".utf8))
  }

  @Test("A directory that is given the inode of one that was removed does not get its settings")
  func inodesAreReused() async throws {
    // A file system gives inodes again when it likes; moving the directory does so at once.
    let (first, second) = (DiskFolder(), DiskFolder())
    let old = try UserDefaultsCacheLevel<String, Data>(domain: "d", directory: first.path)
    try await old.set(Data("old".utf8), forKey: "a")
    try FileManager.default.moveItem(atPath: first.path, toPath: second.path)
    try second.remove("d.plist")
    let new = try UserDefaultsCacheLevel<String, Data>(domain: "d", directory: second.path)
    #expect(try await new.get("a") == nil)
    try await new.set(Data("new".utf8), forKey: "a")
    #expect(second.names == ["d.plist"])
    #expect(try await old.get("a") == Data("old".utf8))
  }

  @Test("Levels of one domain share one store, whatever path leads to it")
  func shares() async throws {
    let first = try open()
    let second = try UserDefaultsCacheLevel<String, Theme>(
      domain: "themes", directory: folder.path + "/../" + URL(filePath: folder.path).lastPathComponent)
    try await first.set(dark, forKey: "a")
    #expect(try await second.get("a") == dark)
    try await second.remove("a")
    #expect(try await first.get("a") == nil)
  }

  @Test("Equal strings are one key, unequal ones never meet, and every key is listed as it was given")
  func keys() async throws {
    let level = try open()
    try await level.set(dark, forKey: "caf\u{E9}")
    #expect(try await level.get("cafe\u{301}") == dark)
    let keys = ["", "%", "%25", "a/b", "../a", "a\u{0}b", "a\nb", "ﬁ", "fi", "👩‍👧", String(repeating: "k", count: 5_000)]
    for (number, key) in keys.enumerated() { try await level.set(Theme(name: key, size: number), forKey: key) }
    await level.onMemoryWarning()
    for (number, key) in keys.enumerated() {
      #expect(try await level.get(key) == Theme(name: key, size: number))
    }
    #expect(Set(try await level.contents().map(\.key)) == Set(keys + ["café"]))
  }

  @Test("Keys that are any bytes come back as they were, also where Swift takes their texts for equal")
  func byteKeys() async throws {
    let level = try UserDefaultsCacheLevel<Data, Data>(
      domain: "bytes", directory: folder.path, keyCoding: .data, valueCoding: .data)
    let keys = ["e\u{301}", "\u{E9}"].map { Data($0.utf8) } + [Data([0xFF, 0, 0x25]), Data("%FF%00%25".utf8), Data()]
    for key in keys { try await level.set(Data([UInt8(key.count)]), forKey: key) }
    await level.onMemoryWarning()
    #expect(level.usage.count == keys.count)
    for key in keys { #expect(try await level.get(key) == Data([UInt8(key.count)])) }
    #expect(Set(try await level.contents().map(\.key)) == Set(keys))
  }

  @Test(
    "A domain's name cannot lead out of the folder",
    arguments: [
      "", ".", "..", "../a", "a/b", "/etc/passwd", "a\u{0}b", ".hidden", "a b", "é", String(repeating: "a", count: 201),
    ])
  func refusesNames(domain: String) {
    let error = #expect(throws: CacheError.self) { try open(domain) }
    #expect(error?.code == .invalidDomain)
    #expect(error?.level == "settings")
    #expect(folder.names.isEmpty)
  }

  @Test("A lifetime survives the process and a restart, and what has expired is a miss")
  func expires() async throws {
    do {
      let level = try open(expiry: .after(.seconds(60)))
      try await level.set(dark, forKey: "a")
      try await level.set(light, forKey: "b", expiry: .never)
      #expect(try await level.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(60)))
    }
    clock.advance(by: .seconds(50))
    clock.reboot()
    let level = try open()
    #expect(try await level.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(10)))
    clock.advance(by: .seconds(10))
    #expect(try await level.lookup("a").missReason == .expired)
    #expect(try await level.get("b") == light)
    #expect(try await level.contents().count == 2)
    #expect(try await level.removeExpired() == 1)
    #expect(try await level.removeExpired() == 0)
    #expect(try await level.contents().map(\.key) == ["b"])
  }

  @Test("Expiring an entry by hand ends its lifetime for good")
  func expiresNow() async throws {
    let level = try open()
    try await level.set(dark, forKey: "a")
    try await level.expire("a")
    try await level.expire("never there")
    await level.onMemoryWarning()
    #expect(try await level.lookup("a").missReason == .expired)
  }

  @Test("A value is stored on condition, and an expired one counts as absent")
  func conditions() async throws {
    let level = try open()
    #expect(try await level.replace(dark, forKey: "a") == false)
    #expect(try await level.setIfAbsent(dark, forKey: "a", expiry: .after(.seconds(1))))
    #expect(try await level.setIfAbsent(light, forKey: "a") == false)
    #expect(try await level.get("a") == dark)
    clock.advance(by: .seconds(1))
    #expect(try await level.replace(light, forKey: "a") == false)
    #expect(try await level.setIfAbsent(light, forKey: "a"))
    #expect(try await level.get("a") == light)
  }

  @Test("Of many who set a value unless there is one, one does")
  func onlyOne() async throws {
    let level = try open()
    let stored = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<20 {
        group.addTask { try await level.setIfAbsent(Theme(name: "\(number)"), forKey: "a") }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(stored == 1)
  }

  @Test("Entries are removed by what their keys look like, and others stay")
  func removesMany() async throws {
    let level = try open()
    for key in ["photo/1", "photo/2", "text/1"] { try await level.set(dark, forKey: key) }
    #expect(try await level.removeAll(withPrefix: "photo/") == 2)
    #expect(try await level.contents().map(\.key) == ["text/1"])
  }

  @Test("Sets, reads, removals and warnings from many tasks at once lose nothing")
  func concurrent() async throws {
    let (level, same) = (try open(), try open())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          let key = "key \(number)"
          try await level.set(Theme(name: key, size: number), forKey: key)
          #expect(try await same.get(key) == Theme(name: key, size: number))
          if number % 10 == 0 { await same.onMemoryWarning() }
          if number % 2 == 1 { try await same.remove(key) }
        }
      }
      try await group.waitForAll()
    }
    await level.onMemoryWarning()
    #expect(Set(try await level.contents().map(\.key)) == Set((0..<50).map { "key \($0 * 2)" }))
  }

  @Test("The default folder belongs to the program")
  func standardDirectory() {
    let directory = UserDefaultsCacheLevel<String, Data>.standardDirectory
    #expect(directory.hasPrefix("/"))
    #expect(directory.hasSuffix("/\(ProcessInfo.processInfo.processName)"))
  }

  @Test("a program that was stopped while it had the lock stops no other one for ever")
  func stoppedPeer() async throws {
    let isHeld = Mutex(false)
    var calls = FileCalls()
    calls.lockPatience = .milliseconds(5)
    calls.lock = { [real = calls.lock] in
      guard isHeld.withLock({ $0 }), $1 != LOCK_UN else { return real($0, $1) }
      // A call that waits would not return.
      errno = $1 & LOCK_NB == 0 ? EDEADLK : EWOULDBLOCK
      return -1
    }
    let level = try UserDefaultsCacheLevel<String, Data>(
      domain: "d", directory: folder.path, name: "settings", expiry: .never, durability: .buffered,
      keyCoding: .canonicalText, valueCoding: .data, clock: clock, calls: calls)
    try await level.set(Data([1]), forKey: "a")
    isHeld.withLock { $0 = true }
    let error = await #expect(throws: CacheError.self) { try await level.set(Data([2]), forKey: "a") }
    #expect(error?.code == .inUse)
    #expect(try await level.get("a") == Data([1]))
    isHeld.withLock { $0 = false }
    try await level.set(Data([3]), forKey: "a")
    #expect(try await level.get("a") == Data([3]))
  }
}
