import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a crash, a failing disk or somebody's hand does to the files of a store.
@Suite(.timeLimit(.minutes(10))) struct DiskDamageTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()
  let clock = ManualClock()

  private func open(_ folder: DiskFolder, calls: FileCalls = FileCalls()) throws -> Level {
    try Level(
      directory: folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: .buffered,
      access: .readWrite,
      keyCoding: .canonicalText, valueCoding: .data, clock: clock, removalListener: nil, calls: calls)
  }

  /// A store of ten entries that was not closed: one segment, no checkpoint.
  private func filled() async throws -> (name: String, bytes: Data) {
    let level = try open(folder)
    for number in 0..<10 { try await level.set(value(number), forKey: "\(number)") }
    let crashed = try folder.copy()
    let name = try #require(crashed.segments.first)
    let bytes = try crashed.bytes(of: name)
    try await level.close()
    return (name, bytes)
  }

  private func damaged(_ name: String, _ bytes: Data) throws -> DiskFolder {
    let copy = DiskFolder()
    try FileManager.default.createDirectory(
      atPath: copy.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try copy.write(bytes, to: name)
    return copy
  }

  @Test("P4 a log cut at any byte of its last record opens with everything before, and takes new writes")
  func tornTail() async throws {
    let (name, bytes) = try await filled()
    let last = 416  // a record of this store: head 104, key 1, type 4, value 300, filled up to eight
    for cut in stride(from: bytes.count - last, to: bytes.count, by: 5) {
      let copy = try damaged(name, bytes.prefix(cut))
      let level = try open(copy)
      #expect(try copy.bytes(of: name).count == bytes.count - last)
      for number in 0..<9 { #expect(try await level.get("\(number)") == value(number)) }
      #expect(try await level.get("9") == nil)
      try await level.set(value(99), forKey: "9")
      try await level.close()
      let again = try open(copy)
      #expect(try await again.get("9") == value(99))
      #expect(again.usage.count == 10)
      try await again.close()
    }
  }

  @Test("P1 C140 H34 one changed byte loses one entry at the most, and never gives a wrong value", arguments: 0..<40)
  func changedByte(seed: UInt64) async throws {
    let (name, bytes) = try await filled()
    var generator = SeededGenerator(seed: seed)
    var changed = bytes
    let place = Int.random(in: 0..<bytes.count, using: &generator)
    changed[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &generator))
    let level = try open(try damaged(name, changed))
    var lost = 0
    for number in 0..<10 {
      let found = try await level.get("\(number)")
      if let found { #expect(found == value(number)) } else { lost += 1 }
    }
    // A damaged head of the file takes all with it, for without its random number no record can be told from a value.
    #expect(lost <= (place < 40 ? 10 : 1))
    try await level.close()
  }

  @Test("P1 a value that is damaged under an open store is a miss with that reason, removed alone and reported")
  func damagedWhileOpen() async throws {
    let causes = Mutex<[RemovalCause]>([])
    let level = try Level(
      directory: folder.path, capacity: 8 << 20, clock: clock,
      removalListener: { removal in causes.withLock { $0.append(removal.cause) } })
    for number in 0..<10 { try await level.set(value(number), forKey: "\(number)") }
    let name = try #require(folder.segments.first)
    let handle = try FileHandle(forUpdating: URL(filePath: folder.path + "/" + name))
    try handle.seek(toOffset: 40 + 200)
    try handle.write(contentsOf: Data([0xff, 0x00, 0xff]))
    try handle.close()
    #expect(try await level.lookup("0").missReason == .damaged)
    #expect(try await level.lookup("0").missReason == .absent)
    for number in 1..<10 { #expect(try await level.get("\(number)") == value(number)) }
    #expect(causes.withLock { $0 } == [.damaged])
    try await level.close()
  }

  @Test(
    "P4 a checkpoint that is damaged, cut, or of another store is as good as none",
    arguments: ["flip", "cut", "other", "empty"])
  func checkpoint(kind: String) async throws {
    let level = try open(folder)
    for number in 0..<10 { try await level.set(value(number), forKey: "\(number)") }
    try await level.close()
    var bytes = try folder.bytes(of: "index")
    switch kind {
    case "flip": bytes[bytes.count / 2] ^= 4
    case "cut": bytes = bytes.prefix(bytes.count / 2)
    case "other":
      let other = DiskFolder()
      let otherLevel = try open(other)
      try await otherLevel.set(value(77), forKey: "0")
      try await otherLevel.close()
      bytes = try other.bytes(of: "index")
    default: bytes = Data()
    }
    try folder.write(bytes, to: "index")
    let again = try open(folder)
    for number in 0..<10 { #expect(try await again.get("\(number)") == value(number)) }
    try await again.close()
  }

  @Test("P4 a checkpoint that is older than the log brings nothing old back")
  func oldCheckpoint() async throws {
    let level = try open(folder)
    for number in 0..<10 { try await level.set(value(number), forKey: "\(number)") }
    try await level.close()
    let again = try open(folder)
    try await again.set(value(100), forKey: "1")
    try await again.remove("2")
    let crashed = try folder.copy()
    try await again.close()
    let third = try open(crashed)
    #expect(try await third.get("1") == value(100))
    #expect(try await third.get("2") == nil)
    #expect(try await third.get("3") == value(3))
    try await third.close()
  }

  @Test("bytes of a record that were stored as a value are never taken for one")
  func recordInValue() async throws {
    let (_, bytes) = try await filled()
    let level = try open(folder)
    try await level.set(bytes, forKey: "log")
    try await level.clear()
    try await level.set(bytes, forKey: "log")
    let crashed = try folder.copy()
    let segment = try #require(crashed.segments.last)
    var torn = try crashed.bytes(of: segment)
    torn[torn.count - bytes.count - 60] ^= 0xff  // the head before it, so that the scan goes through the value
    try crashed.write(torn, to: segment)
    try await level.close()
    // Of the same store, the records in the value would be real: they carry its random number. Another store's do not.
    let other = DiskFolder()
    let clean = try open(other)
    try await clean.set(bytes, forKey: "log")
    try await clean.close()
    try other.remove("index")
    let otherSegment = try #require(other.segments.last)
    var changed = try other.bytes(of: otherSegment)
    changed[44] ^= 0xff
    try other.write(changed, to: otherSegment)
    let again = try open(other)
    #expect(again.usage.count == 0)
    try await again.close()
  }

  @Test("a store of a newer format is refused and left untouched")
  func newerFormat() async throws {
    let (name, bytes) = try await filled()
    var newer = bytes
    newer[8] = 9
    let sum = Checksum.of(Array(newer.prefix(32)), seed: 0)
    for index in 0..<8 { newer[32 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt64(index))) }
    let copy = try damaged(name, newer)
    let error = #expect(throws: CacheError.self) { try open(copy) }
    #expect(error?.code == .unusableStore)
    #expect(try copy.bytes(of: name) == newer)
  }

  @Test(
    "C141 P6 a set that fails at any system call leaves the old value, and the next one works",
    arguments: [ENOSPC, EIO, EDQUOT, EROFS])
  func failingCalls(code: Int32) async throws {
    for failing in 0..<12 {
      let folder = DiskFolder()
      let count = Mutex(-1)
      // Counts down once it is armed; the call at zero fails.
      let fails: @Sendable () -> Bool = {
        count.withLock { count in
          guard count >= 0 else { return false }
          count -= 1
          return count == -1
        }
      }
      var calls = FileCalls()
      let real = FileCalls()
      calls.open = { directory, name, flags in
        guard !fails() else {
          errno = code
          return -1
        }
        return real.open(directory, name, flags)
      }
      unsafe calls.write = { descriptor, bytes, offset in
        guard !fails() else {
          errno = code
          return -1
        }
        return unsafe real.write(descriptor, bytes, offset)
      }
      calls.rename = { directory, old, new in
        guard !fails() else {
          errno = code
          return -1
        }
        return real.rename(directory, old, new)
      }
      let level = try open(folder, calls: calls)
      try await level.set(value(1), forKey: "short")
      try await level.set(value(2, 500_000), forKey: "long")
      count.withLock { $0 = failing }
      do { try await level.set(value(3), forKey: "short") } catch let error as CacheError {
        #expect(error.code == .diskWriteFailed)
        #expect(error.message.contains(folder.path))
        #expect(try await level.get("short") == value(1))
      }
      do { try await level.set(value(4, 500_000), forKey: "long") } catch let error as CacheError {
        #expect(error.code == .diskWriteFailed)
        count.withLock { $0 = -1 }
        #expect(try await level.get("long") == value(2, 500_000))
      }
      count.withLock { $0 = -1 }
      try await level.set(value(5), forKey: "short")
      try await level.set(value(6, 500_000), forKey: "long")
      let crashed = try folder.copy()
      let other = try open(crashed)
      #expect(try await other.get("short") == value(5))
      #expect(try await other.get("long") == value(6, 500_000))
      try await other.close()
      #expect(!folder.names.contains { $0.hasPrefix("tmp-") })
      #expect(folder.names.count { $0.hasPrefix("val-") } == 1)
      try await level.close()
    }
  }

  @Test("P3 a write that was to be synced and could not be is an error")
  func failingSync() async throws {
    let isFailing = Mutex(false)
    var calls = FileCalls()
    calls.sync = { _ in
      guard isFailing.withLock({ $0 }) else { return 0 }
      errno = EIO
      return -1
    }
    let level = try Level(
      directory: folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero, durability: .synced,
      access: .readWrite,
      keyCoding: .canonicalText, valueCoding: .data, clock: clock, removalListener: nil, calls: calls)
    isFailing.withLock { $0 = true }
    let error = await #expect(throws: CacheError.self) { try await level.set(value(1), forKey: "a") }
    #expect(error?.code == .diskWriteFailed)
  }

  @Test("P4 leftovers of a crash go: temporary files, and values that no record points to")
  func leftovers() async throws {
    let level = try open(folder)
    try await level.set(value(1), forKey: "a")
    try await level.close()
    try folder.write(value(2), to: "tmp-0000000000000007")
    try folder.write(value(2), to: "val-0000000000000009")
    try folder.write(value(2), to: "val-and-not-ours")
    let again = try open(folder)
    #expect(Set(folder.names) == Set(["lock", "index", "val-and-not-ours"] + folder.segments))
    #expect(try await again.get("a") == value(1))
    try await again.close()
  }
}
