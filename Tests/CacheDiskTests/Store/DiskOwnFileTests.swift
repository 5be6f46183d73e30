import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// Values that have files of their own, and what is done to them in which order.
@Suite(.timeLimit(.minutes(10))) struct DiskOwnFileTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()
  let clock = ManualClock()

  private func open(
    _ durability: Durability = .buffered, in folder: DiskFolder? = nil, capacity: Int = 16 << 20,
    calls: FileCalls = FileCalls()
  ) throws -> Level {
    try Level(
      directory: (folder ?? self.folder).path, capacity: capacity, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
      removalListener: nil, calls: calls)
  }

  private func value(_ seed: Int, _ count: Int = 200_000) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed) })
  }

  /// What a level does on the disk, with the names of the files.
  private final class Diary: Sendable {
    private let lines = Mutex<[String]>([])
    private let names = Mutex<[Int32: String]>([:])

    func note(_ line: String) { lines.withLock { $0.append(line) } }

    /// Everything since the last time.
    func read() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }

    var calls: FileCalls {
      let real = FileCalls()
      var calls = real
      calls.open = { [self] directory, name, flags in
        let descriptor = real.open(directory, name, flags)
        names.withLock { $0[descriptor] = name.hasPrefix("/") ? "directory" : String(name.prefix(3)) }
        return descriptor
      }
      calls.sync = { [self] descriptor in
        note("sync \(names.withLock { $0[descriptor] ?? "?" })")
        return real.sync(descriptor)
      }
      calls.rename = { [self] directory, old, new in
        note("rename \(new.prefix(3))")
        return real.rename(directory, old, new)
      }
      calls.unlink = { [self] directory, name in
        note("unlink \(name.prefix(3))")
        return real.unlink(directory, name)
      }
      return calls
    }
  }

  @Test(
    "P3 a synced value is on the disk before its name is, that before its record is, and only then the one before it goes"
  )
  func order() async throws {
    let diary = Diary()
    let level = try open(.synced, calls: diary.calls)
    try await level.set(value(1), forKey: "a")
    // The last is for the name of the log.
    #expect(
      diary.read().suffix(5) == ["sync tmp", "rename val", "sync directory", "sync log", "sync directory"])
    try await level.set(value(2), forKey: "a")
    #expect(diary.read() == ["sync tmp", "rename val", "sync directory", "sync log", "unlink val"])
    try await level.remove("a")
    #expect(diary.read() == ["sync log", "sync directory", "unlink val"])
    try await level.close()
  }

  @Test("P3 the index is on the disk after the log that it tells of, also where nobody waits for the disk")
  func checkpointOrder() async throws {
    let diary = Diary()
    let level = try open(calls: diary.calls)
    try await level.set(value(1, 100), forKey: "a")
    _ = diary.read()
    try await level.close()
    #expect(diary.read() == ["sync log", "sync directory", "sync tmp", "rename ind", "sync directory"])
  }

  @Test("what was on the disk when a store was closed is not waited for again")
  func closedBefore() async throws {
    let diary = Diary()
    let level = try open(capacity: 1 << 20, calls: diary.calls)
    for number in 0..<60 { try await level.set(value(number, 2_000), forKey: "\(number)") }
    #expect(folder.names.count { $0.hasPrefix("log-") } > 3)
    try await level.close()
    for durability in [Durability.buffered, .synced] {
      let other = try open(durability, capacity: 1 << 20, calls: diary.calls)
      _ = diary.read()
      if durability == .synced { try await other.set(value(1, 100), forKey: "a") }
      try await other.close()
      #expect(diary.read().count { $0 == "sync log" } == (durability == .synced ? 1 : 0))
    }
  }

  @Test(
    "P3 a synced removal of what was removed already waits for that, also where a buffered level or a killed process did it",
    arguments: [true, false])
  func removedBefore(isKilled: Bool) async throws {
    let diary = Diary()
    let first = try open(calls: diary.calls)
    try await first.set(value(1, 100), forKey: "a")
    try await first.remove("a")
    let killed = try isKilled ? folder.copy() : nil
    let level = try open(.synced, in: killed, calls: diary.calls)
    _ = diary.read()
    try await level.remove("a")
    #expect(diary.read() == ["sync log", "sync directory"])
    try await level.close()
    try await first.close()
  }

  @Test("P1 a changed byte in a value's own file is a miss, however the file is read", arguments: [true, false])
  func changedByte(isWarm: Bool) async throws {
    var calls = FileCalls()
    if !isWarm { unsafe calls.readNowInstead = { _, _, _, _ in -1 } }
    let level = try open(calls: calls)
    try await level.set(value(1), forKey: "a")
    #expect(try await level.get("a") == value(1))
    let name = try #require(folder.names.first { $0.hasPrefix("val-") })
    let handle = try FileHandle(forUpdating: URL(filePath: folder.path + "/" + name))
    try handle.seek(toOffset: 100_000)
    try handle.write(contentsOf: Data([0xff, 0x00, 0xff]))
    try handle.close()
    #expect(try await level.lookup("a").missReason == .damaged)
    try await level.close()
  }

  @Test("P5 values in files of their own count, also after a restart: the directory never takes more than its capacity")
  func room() async throws {
    for _ in 0..<2 {
      let level = try open(capacity: 4 << 20)
      for number in 0..<60 {
        try await level.set(value(number), forKey: "\(number)")
        #expect(folder.allocatedBytes <= 4 << 20)
        #expect(level.usage.cost >= folder.allocatedBytes - (64 << 10))
      }
      #expect(level.usage.count < 20)
      try await level.close()
    }
  }

  @Test("P3 what was evicted and then ended by hand does not come back after a crash")
  func endedAfterEviction() async throws {
    let level = try open(.synced, capacity: 1 << 20)
    try await level.set(value(1, 100), forKey: "a")
    // Values beside the log, which still tells of the first one.
    for number in 0..<60 { try await level.set(value(number, 24_000), forKey: "\(number)") }
    #expect(try await level.get("a") == nil)
    try await level.expire("a")
    let crashed = try folder.copy()
    try await level.close()
    let other = try Level(directory: crashed.path, capacity: 1 << 20, keyCoding: .canonicalText, valueCoding: .data)
    #expect(try await other.get("a") == nil)
    try await other.close()
  }

  @Test("P3 what is copied from the oldest file of the log is on the disk before that file goes")
  func reclaimOrder() async throws {
    struct Seen {
      var unsynced: Set<Int32> = []
      var removed = 0
      var early = 0
    }
    let seen = Mutex(Seen())
    let kept = Data(repeating: 0xa5, count: 1_000)
    let real = FileCalls()
    var calls = real
    unsafe calls.write = { descriptor, bytes, offset in
      if unsafe Data(bytes).range(of: kept) != nil { seen.withLock { _ = $0.unsynced.insert(descriptor) } }
      return unsafe real.write(descriptor, bytes, offset)
    }
    let store = Mutex<SegmentedStore?>(nil)
    calls.sync = { descriptor in
      // Who goes too early has gone by now.
      store.withLock { $0 }?.awaitRemoval()
      seen.withLock { _ = $0.unsynced.remove(descriptor) }
      return real.sync(descriptor)
    }
    calls.unlink = { directory, name in
      seen.withLock { seen in
        guard name.hasPrefix("log-") else { return }
        seen.removed += 1
        if !seen.unsynced.isEmpty { seen.early += 1 }
      }
      return real.unlink(directory, name)
    }
    let level = try open(.synced, capacity: 1 << 20, calls: calls)
    store.withLock { $0 = level.store }
    try await level.set(kept, forKey: "kept")
    var number = 0
    while level.traffic.copied < 5 * kept.count {
      try await level.set(value(number, 5_000), forKey: "\(number % 20)")
      #expect(try await level.get("kept") == kept)
      number += 1
      try #require(number < 4_000)
    }
    try await level.close()
    store.withLock { $0 = nil }
    #expect(seen.withLock { $0.removed } > 0)
    #expect(seen.withLock { $0.early } == 0)
  }

  @Test("P3 an own file that expired and was removed brings nothing back that was before it, after a crash")
  func expiredBeforeCrash() async throws {
    let level = try open(.synced)
    try await level.set(value(1, 100), forKey: "a")
    try await level.set(value(2), forKey: "a", expiry: .after(.seconds(10)))
    clock.advance(by: .seconds(20))
    #expect(try await level.removeExpired() == 1)
    let crashed = try folder.copy()
    #expect(!crashed.names.contains { $0.hasPrefix("val-") })
    let other = try open(.synced, in: crashed)
    #expect(try await other.get("a") == nil)
    try await other.close()
    try await level.close()
  }

  @Test("P1 P3 a long value that was evicted brings nothing back that was before it, after a crash or for who looks")
  func evictedBeforeCrash() async throws {
    let crashes = Mutex<[DiskFolder]>([])
    let real = FileCalls()
    var calls = real
    calls.unlink = { [folder] directory, name in
      defer { if name.hasPrefix("val-"), let copy = try? folder.copy() { crashes.withLock { $0.append(copy) } } }
      return real.unlink(directory, name)
    }
    let level = try open(.synced, capacity: 1 << 20, calls: calls)
    try await level.set(value(1, 300), forKey: "a")
    try await level.set(value(2, 100_000), forKey: "a")
    // The crash comes when room was made for it, and nothing else was written.
    try await level.set(value(3, 660_000), forKey: "b")
    #expect(try await level.get("a") == nil)
    try await level.close()
    let crashed = try #require(crashes.withLock { $0.first })
    #expect(!crashed.names.contains { $0.hasPrefix("val-") })
    let look = try await DiskCacheInspection.open(crashed.path, clock: clock)
    #expect(try await look.value(forKey: "a") == nil)
    let other = try open(.synced, in: crashed, capacity: 1 << 20)
    #expect(try await other.get("a") == nil)
    try await other.close()
  }

  @Test("P1 P3 a long value that was found damaged brings nothing back that was before it, after a crash")
  func damagedBeforeCrash() async throws {
    let level = try open(.synced)
    try await level.set(value(1, 100), forKey: "a")
    try await level.set(value(2), forKey: "a")
    let name = try #require(folder.names.first { $0.hasPrefix("val-") })
    try folder.write(value(3), to: name)
    #expect(try await level.lookup("a").missReason == .damaged)
    // The file is removed in its turn, which this waits for.
    _ = try await level.removeExpired()
    let crashed = try folder.copy()
    try await level.close()
    #expect(!crashed.names.contains { $0.hasPrefix("val-") })
    let other = try open(.synced, in: crashed)
    #expect(try await other.get("a") == nil)
    try await other.close()
  }

  @Test(
    "P3 P6 a set that the disk did not confirm leaves what was before it, wherever a crash meets its taking back",
    arguments: [true, false])
  func takenBack(isCutLost: Bool) async throws {
    let first = try open()
    try await first.set(value(1), forKey: "a")
    try await first.close()
    let isFailing = Mutex(false)
    let crashes = Mutex<[DiskFolder]>([])
    let crash = { @Sendable [folder] in
      if let copy = try? folder.copy() { crashes.withLock { $0.append(copy) } }
    }
    let logs = Mutex<Set<Int32>>([])
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      let descriptor = real.open(directory, name, flags)
      logs.withLock { logs in
        if name.hasPrefix("log-") { logs.insert(descriptor) } else { logs.remove(descriptor) }
      }
      return descriptor
    }
    calls.sync = { descriptor in
      guard isFailing.withLock({ $0 }), logs.withLock({ $0.contains(descriptor) }) else { return real.sync(descriptor) }
      crash()
      errno = EIO
      return -1
    }
    calls.truncate = { descriptor, length in
      // Until it is synced, a power cut may undo it.
      isFailing.withLock { $0 } && isCutLost ? 0 : real.truncate(descriptor, length)
    }
    calls.unlink = { directory, name in
      defer { crash() }
      return real.unlink(directory, name)
    }
    let level = try open(.synced, calls: calls)
    isFailing.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await level.set(value(2), forKey: "a") }
    crash()
    #expect(try await level.get("a") == value(1))
    isFailing.withLock { $0 = false }
    if !isCutLost {
      try await level.set(value(3, 100), forKey: "b")
      crash()
      #expect(try await level.verify().strayCount == 0)
    }
    for crashed in crashes.withLock({ $0 }) {
      let other = try open(.synced, in: crashed)
      let found = try await other.get("a")
      // What failed may be there until the disk has what took it back.
      #expect(found == value(1) || found == value(2))
      try await other.close()
    }
    #expect(crashes.withLock { $0.count } > 1)
    try await level.clear()
    try await level.close()
  }

  @Test(
    "P5 P6 a long value whose name the disk did not confirm leaves no file, or one that counts until it can be removed",
    arguments: [true, false])
  func unconfirmedName(isRemovable: Bool) async throws {
    let isFailing = Mutex(false)
    let fails: @Sendable () -> Bool = {
      guard isFailing.withLock({ $0 }) else { return false }
      errno = EIO
      return true
    }
    let real = FileCalls()
    var calls = real
    calls.sync = { descriptor in
      real.status(descriptor)?.isDirectory == true && fails() ? -1 : real.sync(descriptor)
    }
    calls.unlink = { directory, name in
      !isRemovable && name.hasPrefix("val-") && fails() ? -1 : real.unlink(directory, name)
    }
    let level = try open(.synced, calls: calls)
    try await level.set(value(1), forKey: "a")
    let before = level.usage.cost
    isFailing.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await level.set(value(2), forKey: "a") }
    isFailing.withLock { $0 = false }
    #expect(folder.names.count { $0.hasPrefix("val-") } == (isRemovable ? 1 : 2))
    #expect(level.usage.cost >= before + (isRemovable ? 0 : value(2).count))
    if isRemovable { #expect(level.usage.cost == before) }
    #expect(try await level.get("a") == value(1))
    try await level.set(value(3), forKey: "a")
    #expect(try await level.get("a") == value(3))
    try await level.close()
  }

  @Test("an old deadline removes no newer value of its key")
  func oldDeadline() async throws {
    let level = try Level(directory: folder.path, capacity: 1 << 20, clock: clock)
    try await level.set(Data([1]), forKey: "a", expiry: .after(.seconds(10)))
    try await level.set(Data([2]), forKey: "a", expiry: .after(.seconds(100)))
    try await level.set(Data([1]), forKey: "b", expiry: .after(.seconds(10)))
    try await level.set(Data([2]), forKey: "b")
    try await level.set(Data([1]), forKey: "c", expiry: .after(.seconds(10)))
    clock.advance(by: .seconds(10) - .nanoseconds(1))
    #expect(try await level.removeExpired() == 0)
    clock.advance(by: .seconds(10) + .nanoseconds(1))
    #expect(try await level.removeExpired() == 1)
    #expect(try await level.get("a") == Data([2]))
    #expect(try await level.get("b") == Data([2]))
    clock.advance(by: .seconds(80))
    #expect(try await level.removeExpired() == 1)
    #expect(level.usage.count == 1)
    try await level.close()
  }

  @Test("a second level on a directory that is open asks for the same capacity and clock, or is refused")
  func secondLevel() async throws {
    let level = try open()
    let other = #expect(throws: CacheError.self) { try open(capacity: 4 << 20) }
    #expect(other?.code == .invalidSetting)
    #expect(other?.message.contains("\(16 << 20)") == true)
    let timed = #expect(throws: CacheError.self) { try Level(directory: folder.path, capacity: 16 << 20) }
    #expect(timed?.code == .invalidSetting)
    let same = try open()
    try await level.close()
    try await same.close()
    try await open(capacity: 4 << 20).close()
  }
}
