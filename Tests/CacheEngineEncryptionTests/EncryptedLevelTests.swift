#if Encryption
import CacheEngine
import CacheEngineTesting
import Crypto
import Foundation
import Synchronization
import Testing

@testable import CacheEngineEncryption
@testable import CacheDisk

/// A disk level with a cipher, as its users see it.
@Suite(.timeLimit(.minutes(10))) struct EncryptedLevelTests {
  let folder = EncryptedFolder()
  let clock = ManualClock()

  @Test("P13 C131 C132 C133 C139 P18 an encrypted level keeps the contract, over restarts too")
  func contract() async {
    for durability in Durability.allCases {
      let contract = LevelContract(
        "encrypted \(durability)", values: (0..<3).map { Data("value \($0)".utf8) },
        capabilities: [.expiring, .durable]
      ) {
        let (clock, folder) = (ManualClock(), EncryptedFolder())
        return LevelUnderTest(try folder.open(durability: durability, clock: clock), clock: clock) { level in
          try await level.close()
          return try folder.open(durability: durability, clock: clock)
        }
      }
      #expect(await contract.violations() == [])
    }
  }

  @Test("P13 values of every length come back, after a restart and after a crash", arguments: [true, false])
  func lengths(isClosed: Bool) async throws {
    let lengths = [0, 1, 15, 16, 17, 4_095, 65_000, 65_530, 66_000, 300_000]
    let level = try folder.open(clock: clock)
    for length in lengths { try await level.set(marked("v", length), forKey: "key \(length)") }
    for length in lengths { #expect(try await level.get("key \(length)") == marked("v", length)) }
    let crashed = try folder.copy()
    try await level.close()
    let again = try (isClosed ? folder : crashed).open(clock: clock)
    for length in lengths { #expect(try await again.get("key \(length)") == marked("v", length)) }
    #expect(try await again.get("key 2") == nil)
    #expect(try await again.verify().isSound)
    try await again.close()
  }

  @Test("P13 no key, value, tag or type stands in any file or file name, at any time, open, crashed or closed")
  func plaintext() async throws {
    let secrets = ["SECRETKEY", "SECRETVALUE", "SECRETTAG", "data"].map { Array($0.utf8) }
    func check(_ moment: String) throws {
      for secret in secrets { #expect(try folder.files(containing: secret) == [], "\(moment)") }
    }
    // What a temporary file holds is looked at when it gets its name, and everything at each wait for the disk.
    let temporaries = Mutex<[[UInt8]]>([])
    var calls = FileCalls()
    let (rename, path) = (calls.rename, folder.path)
    calls.rename = { directory, old, new in
      if let bytes = FileManager.default.contents(atPath: path + "/" + old) {
        temporaries.withLock { $0.append(Array(bytes)) }
      }
      return rename(directory, old, new)
    }
    let level = try folder.open(capacity: 1 << 20, durability: .synced, clock: clock, calls: calls)
    for number in 0..<60 {
      // Some in the log, some in files of their own; room is made and segments are reclaimed on the way.
      try await level.store(
        marked("SECRETVALUE\(number)", number % 3 == 0 ? 40_000 : 500), forKey: "SECRETKEY\(number)",
        terms: StoreTerms(tags: ["SECRETTAG\(number % 2)"]))
    }
    try check("open")
    try await level.remove("SECRETKEY59")
    try await level.expire("SECRETKEY58")
    _ = try await level.removeAll(tagged: "SECRETTAG0")
    try check("removed")
    try await level.rotate()
    try check("rotated")
    try await level.close()
    #expect(folder.names.contains("index"))
    try check("closed")
    let written = temporaries.withLock { $0 }
    #expect(written.count > 10)
    for secret in secrets { #expect(!written.contains { Data($0).range(of: Data(secret)) != nil }) }
    // The search would find them: here it does, without a cipher.
    let plain = EncryptedFolder()
    let open = try plain.open(nil, clock: clock)
    try await open.store(marked("SECRETVALUE"), forKey: "SECRETKEY", terms: StoreTerms(tags: ["SECRETTAG"]))
    for secret in secrets { #expect(try !plain.files(containing: secret).isEmpty) }
    try await open.close()
  }

  @Test("P13 the same value under the same key makes other bytes each time, and other names in another directory")
  func freshness() async throws {
    func bytes() async throws -> (record: [UInt8], key: StoreKey) {
      let folder = EncryptedFolder()
      let level = try folder.open(clock: clock)
      try await level.set(marked("same"), forKey: "same")
      let all = level.store!.state.withLock { $0.index.all }
      let bytes = try folder.bytes(of: folder.segments[0])
      try await level.close()
      let found = try #require(all.first)
      return (Array(bytes[(found.entry.offset + RecordHeader.size)...]), found.key)
    }
    let (one, other) = (try await bytes(), try await bytes())
    #expect(one.key != other.key && one.key.bytes.count == 32)
    #expect(one.record.count == other.record.count && one.record != other.record)
  }

  @Test("P13 keys are listed after a restart, with costs and deadlines, without their values being needed")
  func listing() async throws {
    let level = try folder.open(clock: clock)
    let long = String(repeating: "long", count: 30_000)
    try await level.set(marked("a", 10), forKey: "a")
    try await level.set(marked("b", 300_000), forKey: long)
    try await level.store(marked("c", 20), forKey: "c", terms: StoreTerms(expiry: .after(.seconds(9)), tags: ["t"]))
    func summaries(_ level: Level) async throws -> [String] {
      try await level.contents().map {
        "\($0.key.count) \($0.cost) \($0.deadline == clock.now.advanced(by: .seconds(9)))"
      }
      .sorted()
    }
    let expected = ["1 10 false", "1 20 true", "120000 300000 false"]
    #expect(try await summaries(level) == expected)
    let crashed = try folder.copy()
    try await level.close()
    for folder in [folder, crashed] {
      let again = try folder.open(clock: clock)
      #expect(try await summaries(again) == expected)
      #expect(try await again.lookup("c").entry?.tags == ["t"])
      try await again.close()
    }
  }

  @Test("P13 tags remove after a restart what was stored with them")
  func tags() async throws {
    let level = try folder.open(clock: clock)
    for number in 0..<6 {
      try await level.store(
        marked("\(number)"), forKey: "\(number)",
        terms: StoreTerms(tags: number % 2 == 0 ? ["even", "café"] : ["odd"]))
    }
    try await level.close()
    let again = try folder.open(clock: clock)
    #expect(try await again.lookup("2").entry?.tags == ["even", "café"])
    // The other way to write it.
    #expect(try await again.removeAll(tagged: "cafe\u{301}") == 3)
    #expect(try await again.removeAll(tagged: "even") == 0)
    #expect(try await Set(again.contents().map(\.key)) == ["1", "3", "5"])
    try await again.close()
  }

  @Test("P13 a listener is told real keys, of what was stored now and of what was there before")
  func listeners() async throws {
    let level = try folder.open(clock: clock)
    try await level.set(marked("1"), forKey: "before")
    try await level.close()
    let told = Mutex<[String]>([])
    let again = try folder.open(clock: clock) { removal in
      told.withLock { $0.append("\(removal.key) \(removal.cause)") }
    }
    try await again.set(marked("2"), forKey: "now")
    try await again.set(marked("3"), forKey: "now")
    try await again.remove("before")
    try await again.clear()
    #expect(told.withLock { $0 } == ["now replaced", "before removed", "now cleared"])
    try await again.close()
  }

  @Test(
    "P13 P8 lifetimes, ended ones too, and conditions work with a cipher as without, over a restart",
    arguments: [true, false])
  func lifetimes(isEncrypted: Bool) async throws {
    let key = isEncrypted ? Keys.first : nil
    let level = try folder.open(key, keepsExpired: .seconds(60), clock: clock)
    try await level.store(marked("1"), forKey: "1", terms: StoreTerms(expiry: .after(.seconds(10))))
    try await level.set(marked("2"), forKey: "2")
    try await level.expire("2")
    #expect(try await level.lookup("2").missReason == .expired)
    #expect(try await level.lookupIncludingExpired("2").entry?.isStale == true)
    #expect(try await !level.store(marked("x"), forKey: "1", terms: StoreTerms(), if: .absent))
    try await level.close()
    let again = try folder.open(key, keepsExpired: .seconds(60), clock: clock)
    clock.advance(by: .seconds(9))
    #expect(try await again.get("1") == marked("1"))
    #expect(try await again.get("2") == nil)
    clock.advance(by: .seconds(1))
    #expect(try await again.lookup("1").missReason == .expired)
    #expect(try await again.lookupIncludingExpired("1").entry?.value == marked("1"))
    try await again.close()
  }

  @Test("P13 levels on one directory share the store if they have the same key, and only then")
  func sharing() async throws {
    let level = try folder.open(clock: clock)
    let other = try folder.open(clock: clock)
    try await level.set(marked("1"), forKey: "1")
    #expect(try await other.get("1") == marked("1"))
    for (key, older) in [(Keys.second, []), (nil, []), (Keys.second, [Keys.first])] as [(SymmetricKey?, [SymmetricKey])]
    {
      let error = #expect(throws: CacheError.self) { try folder.open(key, older: older, clock: clock) }
      #expect(error?.code == .wrongKey)
    }
    try await other.close()
    #expect(try await level.get("1") == marked("1"))
    try await level.close()
  }

  @Test(
    "P13 P15 processes that share a directory have one key, and what is sent between them is not on the disk in plain text"
  )
  func acrossProcesses() async throws {
    var apart = StoreSharing.acrossProcesses(silence: .seconds(30))
    apart.isApart = true
    let owner = try folder.open(sharing: .acrossProcesses(silence: .seconds(30)), clock: clock)
    let guest = try folder.open(sharing: apart, clock: clock)
    #expect(owner.owner == .thisProcess && guest.owner == .process(getpid()))
    // One that passes in the message, and one in a file of its own.
    for (key, size) in [("small", 300), ("large", 600_000)] {
      try await guest.set(marked("secret", size), forKey: key, tags: ["hidden"])
      #expect(try await owner.get(key) == marked("secret", size))
      #expect(try await guest.get(key) == marked("secret", size))
    }
    for text in ["secret", "small", "large", "hidden"] { #expect(try folder.files(containing: Array(text.utf8)) == []) }
    #expect(try await guest.contents().map(\.key).sorted() == ["large", "small"])
    for (key, code) in [(Keys.second, CacheError.Code.wrongKey), (nil, .wrongKey)] {
      let error = #expect(throws: CacheError.self) { try folder.open(key, sharing: apart, clock: clock) }
      #expect(error?.code == code)
    }
    #expect(try await guest.removeAll(tagged: "hidden") == 2)
    try await guest.set(marked("again"), forKey: "small")
    // Who takes over opens what the owner before has sealed.
    try await owner.close()
    try await turns { guest.owner == .thisProcess }
    #expect(try await guest.get("small") == marked("again"))
    #expect(try await guest.get("large") == nil)
    #expect(try await guest.verify().isSound)
    try await guest.close()
  }

  @Test("P13 a level for reading only opens the store of another one, and makes nothing")
  func readOnly() async throws {
    let level = try folder.open(clock: clock)
    try await level.set(marked("1"), forKey: "1")
    let before = try folder.files()
    let reader = try folder.open(access: .readOnly, clock: clock)
    #expect(try await reader.get("1") == marked("1"))
    #expect(try await reader.contents().map(\.key) == ["1"])
    await #expect(throws: CacheError.self) { try await reader.rotate() }
    try await reader.close()
    #expect(try folder.files() == before)
    try await level.close()
  }

  @Test(
    "P3 P13 in the synced tier the secrets are on the disk before the first record, and each write before its answer")
  func synced() async throws {
    let log = Mutex<[String]>([])
    var calls = FileCalls()
    let real = calls
    calls.open = { directory, name, flags in
      log.withLock { $0.append("open \(name.prefix(4))") }
      return real.open(directory, name, flags)
    }
    calls.rename = { directory, old, new in
      log.withLock { $0.append("rename \(new.prefix(4))") }
      return real.rename(directory, old, new)
    }
    calls.sync = { descriptor in
      log.withLock { $0.append("sync") }
      return real.sync(descriptor)
    }
    let level = try folder.open(durability: .synced, clock: clock, calls: calls)
    try await level.set(marked("1"), forKey: "1")
    let seen = log.withLock { $0 }
    let secrets = try #require(seen.firstIndex(of: "rename keys"))
    let record = try #require(seen.firstIndex(of: "open log-"))
    #expect(seen[secrets - 1] == "sync" && seen[secrets + 1] == "sync")
    #expect(secrets < record)
    #expect(seen[record...].contains("sync"))
    let copy = try folder.copy()
    let crashed = try copy.open(clock: clock)
    #expect(try await crashed.get("1") == marked("1"))
    try await crashed.close()
    try await level.close()
  }

  @Test("P5 P13 the file of the secrets counts, and what the store believes to take is what it takes")
  func accounting() async throws {
    let level = try folder.open(capacity: 1 << 20, clock: clock)
    for number in 0..<200 { try await level.set(marked("\(number)", 9_000), forKey: "\(number)") }
    let report = try await level.verify()
    #expect(report.isSound && report.strays.isEmpty)
    #expect(report.allocatedBytes == report.accountedBytes)
    #expect(report.allocatedBytes <= 1 << 20)
    try await level.close()
  }

  @Test("P13 whoever empties the directory has cleared the cache, and what is written then can be opened")
  func emptied() async throws {
    let level = try folder.open(clock: clock)
    try await level.set(marked("1"), forKey: "1")
    try FileManager.default.removeItem(atPath: folder.path)
    try await level.set(marked("2"), forKey: "2")
    try await level.close()
    let again = try folder.open(clock: clock)
    #expect(try await again.get("1") == nil)
    #expect(try await again.get("2") == marked("2"))
    try await again.close()
  }
}
#endif
