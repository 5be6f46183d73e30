import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// Writes that are carried out together, and share a wait for the disk.
@Suite(.timeLimit(.minutes(10))) struct DiskBatchTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()

  private func open(
    _ folder: DiskFolder, calls: FileCalls, removalListener: (@Sendable (Removal<String>) -> Void)? = nil
  ) throws -> Level {
    try Level(
      directory: folder.path + "/store", capacity: 1 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: .synced, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(),
      removalListener: removalListener, calls: calls)
  }

  private func work(_ store: SegmentedStore, _ key: String, _ value: Data) throws -> WriteJob.Work {
    try store.work(
      toPut: value, for: StoreKey(Array(key.utf8)), type: Array("data".utf8), created: nil, deadline: nil, cost: 1,
      tags: [], if: nil)
  }

  @Test("P3 an overwrite in a batch that fills many segments costs no acknowledged value, whenever the power is cut")
  func manySegments() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let disk = SimulatedDisk(folder.path)
    let level = try open(folder, calls: disk.calls)
    try await level.set(value(1), forKey: "kept")
    let store = try #require(level.store)
    let before = disk.moment
    var batch = WriteBatch(store: store, isSyncing: true)
    for number in 0..<24 {
      _ = try batch.carryOut(work(store, number == 0 ? "kept" : "\(number)", value(number, 5_000)))
      // Who opens the store looks for what is not whole in these alone.
      let (newest, unsynced) = store.state.withLock { ($0.segments.suffix(2).map(\.number), $0.unsynced) }
      #expect(unsynced.isSubset(of: newest))
    }
    var quick = FileCalls()
    quick.sync = { _ in 0 }
    for moment in before...disk.moment {
      for way in UInt64(0)..<3 {
        let left = DiskFolder()
        try SimulatedDisk.lay(disk.model(at: moment).survivors(seed: UInt64(moment) &* 64 &+ way), at: left.path)
        let other = try open(left, calls: quick)
        let found = try await other.get("kept")
        #expect(found == value(1) || found == value(0, 5_000))
        try await other.close()
      }
    }
    batch.finish()
    try await level.close()
  }

  @Test("what made room for a write that the disk did not confirm is told of, since it has left; what came back is not")
  func evictedForNothing() async throws {
    let isFailing = Mutex(false)
    let real = FileCalls()
    var calls = real
    calls.sync = { descriptor in
      guard isFailing.withLock({ $0 }) else { return real.sync(descriptor) }
      errno = EIO
      return -1
    }
    let removals = Calls<Removal<String>>()
    let level = try open(folder, calls: calls, removalListener: { removals.append($0) })
    let keys = (0..<90).map(String.init)
    for key in keys { try await level.set(value(1, 8_000), forKey: key) }
    #expect(removals.count == 0)
    isFailing.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await level.set(value(2, 8_000), forKey: "new") }
    await #expect(throws: CacheError.self) { try await level.remove("89") }
    isFailing.withLock { $0 = false }
    let left = Set(try await level.contents().map(\.key))
    #expect(left.contains("89") && !left.contains("new"))
    #expect(Set(removals.all.map(\.key)) == Set(keys).subtracting(left))
    #expect(removals.count > 0)
    #expect(removals.all.allSatisfy { $0.cause == .evicted && $0.madeRoomFor == "new" })
    try await level.close()
  }

  @Test("P3 where the disk does not confirm the name of a long value, what came before it in the batch fails as well")
  func unconfirmedName() async throws {
    let isFailing = Mutex(false)
    let real = FileCalls()
    var calls = real
    calls.sync = { descriptor in
      guard isFailing.withLock({ $0 }), real.status(descriptor)?.isDirectory == true else {
        return real.sync(descriptor)
      }
      isFailing.withLock { $0 = false }
      errno = EIO
      return -1
    }
    let level = try open(folder, calls: calls)
    let store = try #require(level.store)
    var batch = WriteBatch(store: store, isSyncing: true)
    // Its segment has a name that waits for the same call.
    _ = try batch.carryOut(work(store, "short", value(1)))
    isFailing.withLock { $0 = true }
    let long = try work(store, "long", value(2, 20_000))
    #expect(throws: CacheError.self) { try batch.carryOut(long) }
    batch.finish()
    let failed = batch.failedParts.keys.sorted()
    #expect(failed == [0])
    #expect(try await level.get("short") == nil)
    #expect(try await level.get("long") == nil)
    try await level.close()
  }
}
