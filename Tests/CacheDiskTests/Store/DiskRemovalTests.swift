import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// What removals take, and what they survive.
@Suite(.timeLimit(.minutes(10))) struct DiskRemovalTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()
  let clock = ManualClock()

  private func open(in folder: DiskFolder? = nil, calls: FileCalls = FileCalls()) throws -> Level {
    try Level(
      directory: (folder ?? self.folder).path, capacity: 1 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: .buffered, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
      removalListener: nil, calls: calls)
  }

  @Test("P5 removals of keys that are not there give their room back, and after a clear they take none")
  func absentKeys() async throws {
    let level = try open()
    try await level.set(Data([1]), forKey: "kept")
    try await level.set(Data([2]), forKey: "expired", expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    // From here on the log tells of more than the index.
    #expect(try await level.removeExpired() == 1)
    for number in 0..<12_000 { try await level.remove("absent-\(number)") }
    #expect(folder.allocatedBytes <= 1 << 20)
    #expect(try await level.get("kept") == Data([1]))
    try await level.clear()
    let before = level.traffic.written
    try await level.remove("absent")
    #expect(level.traffic.written == before)
    try await level.close()
  }

  @Test("nothing leaves a full store for a removal but what is removed")
  func full() async throws {
    let level = try open()
    // Each entry that came last takes 120 bytes, of which as many as may live fit without a rest.
    for number in 0..<10_000 { try await level.set(Data([1]), forKey: "\(number)") }
    let count = level.usage.count
    try await level.expire("9998")
    #expect(level.usage.count == count)
    try await level.remove("9999")
    #expect(level.usage.count == count - 1)
    try await level.close()
  }

  @Test("a removal of what has expired and was swept holds after a crash, for those who take stale values as well")
  func sweptBeforeCrash() async throws {
    let level = try open()
    try await level.set(Data([1]), forKey: "a", expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    #expect(try await level.removeExpired() == 1)
    try await level.remove("a")
    let crashed = try folder.copy()
    try await level.close()
    let other = try Level(directory: crashed.path, capacity: 1 << 20, keepsExpired: .seconds(60), clock: clock)
    #expect(try await other.lookupIncludingExpired("a").entry == nil)
    try await other.close()
  }

  @Test("P6 a removal holds where the disk does not give what would have to move for it")
  func unreadable() async throws {
    let isBroken = Mutex(false)
    var calls = FileCalls()
    let read = unsafe calls.read
    unsafe calls.read = { descriptor, bytes, offset in
      guard isBroken.withLock({ $0 }) else { return unsafe read(descriptor, bytes, offset) }
      errno = EIO
      return -1
    }
    let level = try open(calls: calls)
    for number in 0..<10_000 { try await level.set(Data([1]), forKey: "\(number)") }
    isBroken.withLock { $0 = true }
    for number in 9_900..<10_000 { try await level.remove("\(number)") }
    isBroken.withLock { $0 = false }
    #expect(folder.allocatedBytes <= 1 << 20)
    let crashed = try folder.copy()
    try await level.close()
    let other = try open(in: crashed)
    for number in 9_900..<10_000 { #expect(try await other.get("\(number)") == nil) }
    #expect(try await other.get("9899") == Data([1]))
    try await other.close()
  }

  @Test("P6 a removal holds after a clear of a full disk that failed on the way")
  func afterFailedClear() async throws {
    let isBroken = Mutex(false)
    var calls = FileCalls()
    let (write, unlink) = unsafe (calls.write, calls.unlink)
    unsafe calls.write = { descriptor, bytes, offset in
      guard isBroken.withLock({ $0 }) else { return unsafe write(descriptor, bytes, offset) }
      errno = ENOSPC
      return -1
    }
    calls.unlink = { directory, name in
      guard isBroken.withLock({ $0 }) else { return unlink(directory, name) }
      errno = EIO
      return -1
    }
    let level = try open(calls: calls)
    try await level.set(Data([1]), forKey: "a")
    isBroken.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await level.clear() }
    isBroken.withLock { $0 = false }
    try await level.remove("a")
    let crashed = try folder.copy()
    try await level.close()
    let other = try open(in: crashed)
    #expect(try await other.get("a") == nil)
    try await other.close()
  }

  @Test("P1 after a clear nothing of a log whose end was missing can be back, and it is told no more")
  func clearOfCutLog() async throws {
    let level = try open()
    try await level.set(Data([1]), forKey: "a")
    try await level.close()
    for name in folder.segments { try folder.remove(name) }
    let again = try open()
    #expect(try await again.verify().isSound == false)
    try await again.clear()
    #expect(try await again.verify().isSound)
    try await again.close()
  }

  @Test("P5 to remove all of many entries takes no more than the capacity, for good", arguments: [true, false])
  func removesAll(byTag: Bool) async throws {
    let level = try open()
    for number in 0..<10_000 { try await level.set(Data([1]), forKey: "\(number)", tags: ["tag"]) }
    let count = level.usage.count
    #expect(count > 3_000)
    if byTag {
      #expect(try await level.removeAll(tagged: "tag") == count)
    } else {
      for number in 0..<10_000 { try await level.remove("\(number)") }
    }
    #expect(level.usage.count == 0)
    #expect(folder.allocatedBytes <= 1 << 20)
    let crashed = try folder.copy()
    try await level.close()
    #expect(folder.names.contains(FileName.checkpoint))
    let other = try open(in: crashed)
    #expect(other.usage.count == 0)
    try await other.close()
  }
}
