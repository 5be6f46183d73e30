import CacheEngine
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// How files of the log come and go in a store that is full.
@Suite(.timeLimit(.minutes(10))) struct DiskSegmentTests {
  typealias Level = DiskCacheLevel<String, Data>

  private let folder = DiskFolder()
  private let clock = ManualClock()

  private func open(
    _ durability: Durability = .buffered, access: StoreAccess = .readWrite, calls: FileCalls = FileCalls()
  ) throws -> Level {
    try Level(
      directory: folder.path, capacity: 1 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: access, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
      removalListener: nil, calls: calls)
  }

  /// Sets what has not been set before until something holds; after each set the removal that it began is waited for.
  private func fill(
    _ level: Level, _ store: SegmentedStore, from first: Int = 0, awaitsRemovals: Bool = true, until isDone: () -> Bool
  ) async throws -> Int {
    var number = first
    while !isDone() {
      try await level.set(value(number % 256, 4_000), forKey: "\(number)")
      number += 1
      if awaitsRemovals { store.awaitRemoval() }
      try #require(number < first + 10_000)
    }
    return number
  }

  @Test("a file of the log that was removed is closed, whoever still has it at hand")
  func closesRemoved() async throws {
    let level = try open()
    let store = try #require(level.store)
    var number = try await fill(level, store) { !store.state.withLock(\.segments).isEmpty }
    let oldest = try #require(store.state.withLock(\.segments).first)
    number = try await fill(level, store, from: number) { store.state.withLock { $0.segments.first !== oldest } }
    #expect(store.segmentFiles.count.load(ordering: .relaxed) == store.state.withLock { $0.segments.count })
    withExtendedLifetime(oldest) {}
    try await level.close()
  }

  @Test("P3 a synced write does not wait for a file of the log that is being removed, nor fails because it is gone")
  func leavingIsNotSynced() async throws {
    let mayRemove = DispatchSemaphore(value: 0)
    let synced = Mutex<Set<Int32>>([])
    let real = FileCalls()
    var calls = real
    calls.unlink = { directory, name in
      if name.hasPrefix("log-") {
        mayRemove.wait()
        mayRemove.signal()
      }
      return real.unlink(directory, name)
    }
    calls.sync = { descriptor in
      synced.withLock { _ = $0.insert(descriptor) }
      return real.sync(descriptor)
    }
    let level = try open(calls: calls)
    let store = try #require(level.store)
    _ = try await fill(level, store, awaitsRemovals: false) { store.state.withLock { $0.leaving != nil } }
    let leaving = try #require(store.state.withLock(\.segments).first).file().descriptor
    let other = try open(.synced)
    synced.withLock { $0 = [] }
    try await other.set(value(1), forKey: "synced")
    let waited = synced.withLock { $0 }
    #expect(!waited.isEmpty && !waited.contains(leaving))
    mayRemove.signal()
    try await other.close()
    try await level.close()
  }

  @Test("P5 in a full store the next file of the log is made beforehand, and nothing of that is left behind")
  func spare() async throws {
    let made = Mutex(0)
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      if name.hasPrefix("log-"), flags & O_CREAT != 0 { made.withLock { $0 += 1 } }
      return real.open(directory, name, flags)
    }
    let level = try open(calls: calls)
    let store = try #require(level.store)
    var number = try await fill(level, store) { store.state.withLock(\.spare.isThere) }
    let newest = store.state.withLock(\.lastSegmentNumber)
    made.withLock { $0 = 0 }
    number = try await fill(level, store, from: number) {
      #expect(folder.allocatedBytes <= 1 << 20)
      return store.state.withLock(\.lastSegmentNumber) >= newest + 8 && store.state.withLock(\.spare.isThere)
    }
    #expect(made.withLock { $0 } == 0)
    let crashed = try folder.copy()
    let report = try await level.verify()
    #expect(report.isSound && report.strayCount == 0)
    number = try await fill(level, store, from: number) { store.state.withLock(\.spare.isThere) }
    try await level.close()
    #expect(!folder.names.contains { $0.hasPrefix("tmp-") })
    let other = try Level(directory: crashed.path, capacity: 1 << 20)
    #expect(!crashed.names.contains { $0.hasPrefix("tmp-") })
    #expect(other.usage.count > 100)
    #expect(try await other.verify().isSound)
    try await other.close()
  }

  @Test("P14 what somebody put under the next number of the log stays as it is")
  func numberTaken() async throws {
    let level = try open()
    let store = try #require(level.store)
    let number = try await fill(level, store) { store.state.withLock(\.spare.isThere) }
    let newest = store.state.withLock(\.lastSegmentNumber)
    try folder.write(Data("mine".utf8), to: Segment.name(newest + 1))
    _ = try await fill(level, store, from: number) { store.state.withLock(\.lastSegmentNumber) > newest }
    let last = store.state.withLock { $0.segments.last?.number }
    #expect(last == newest + 2)
    #expect(try folder.bytes(of: Segment.name(newest + 1)) == Data("mine".utf8))
    try await level.close()
  }

  @Test("where a file cannot be renamed without replacing another one, the log goes on without spare files")
  func noSpare() async throws {
    let made = Mutex(0)
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      if name.hasPrefix("tmp-"), flags & O_CREAT != 0 { made.withLock { $0 += 1 } }
      return real.open(directory, name, flags)
    }
    calls.renameNew = { _, _, _ in
      errno = EINVAL
      return -1
    }
    let level = try open(calls: calls)
    let store = try #require(level.store)
    let number = try await fill(level, store) { store.state.withLock(\.spare.isThere) }
    let newest = store.state.withLock(\.lastSegmentNumber)
    _ = try await fill(level, store, from: number) {
      store.state.withLock { $0.segments.count > 2 && $0.lastSegmentNumber > newest + 8 }
    }
    #expect(made.withLock { $0 } == 1)
    #expect(!folder.names.contains { $0.hasPrefix("tmp-") })
    #expect(try await level.verify().isSound)
    try await level.close()
  }

  @Test("a process without a descriptor left gets that of the spare file")
  func spareDescriptor() async throws {
    let level = try open()
    let store = try #require(level.store)
    _ = try await fill(level, store) { store.state.withLock(\.spare.isThere) }
    var attempts = 0
    try store.opening {
      attempts += 1
      if attempts == 1 { throw SystemFailure("open", EMFILE) }
    }
    #expect(attempts == 2)
    let isSpareThere = store.state.withLock(\.spare.isThere)
    #expect(!isSpareThere)
    #expect(!folder.names.contains { $0.hasPrefix("tmp-") })
    try await level.close()
  }

  @Test("who looks for the newest file of the log while a clear removes it finds it gone, which is no error")
  func clearedMeanwhile() async throws {
    let level = try open()
    let store = try #require(level.store)
    try await level.set(value(1), forKey: "a")
    let newest = try #require(store.state.withLock(\.segments).last)
    try await level.clear()
    #expect(try newest.nameCount() == 0)
    // As who had taken it for the newest just before.
    store.state.withLock { $0.segments.append(newest) }
    #expect(try !store.isInPlace())
    store.state.withLock { _ = $0.segments.removeLast() }
    #expect(try store.isInPlace())
    try await level.close()
  }

  @Test("for who only looks, the file that a writer has made for its next segment is no stray")
  func spareOfAnother() async throws {
    let level = try open()
    let store = try #require(level.store)
    _ = try await fill(level, store) { store.state.withLock(\.spare.isThere) }
    try folder.write(Data(), to: "notes.txt")
    try folder.write(Data("left".utf8), to: "tmp-00000000000fffff")
    let looking = try open(access: .readOnly)
    let report = try await looking.verify()
    #expect(report.isSound && Set(report.strays) == ["notes.txt", "tmp-00000000000fffff"])
    let isSpareThere = store.state.withLock(\.spare.isThere)
    #expect(isSpareThere)
    try await looking.close()
    try await level.close()
  }

  @Test(
    "P5 a spare file that cannot be made or renamed is an error of nobody, and leaves nothing behind",
    arguments: [ENOSPC, EDQUOT, EMFILE, EACCES, EROFS, EIO], [true, false])
  func refusedSpare(code: Int32, whenMade: Bool) async throws {
    let refused = Mutex(0)
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      guard whenMade, name.hasPrefix("tmp-"), flags & O_CREAT != 0 else { return real.open(directory, name, flags) }
      refused.withLock { $0 += 1 }
      errno = code
      return -1
    }
    calls.renameNew = { directory, old, new in
      guard !whenMade else { return real.renameNew(directory, old, new) }
      refused.withLock { $0 += 1 }
      errno = code
      return -1
    }
    let level = try open(calls: calls)
    let store = try #require(level.store)
    _ = try await fill(level, store) {
      #expect(folder.allocatedBytes <= 1 << 20)
      return refused.withLock { $0 } >= 4
    }
    let isSpareThere = store.state.withLock(\.spare.isThere)
    #expect(folder.names.count { $0.hasPrefix("tmp-") } == (isSpareThere ? 1 : 0))
    #expect(try await level.verify().isSound)
    try await level.close()
    #expect(!folder.names.contains { $0.hasPrefix("tmp-") })
  }

  @Test(
    "a spare file goes with its directory, and with what is removed from that, and the store starts over",
    arguments: ["the directory", "all files", "the spare file", "all but the spare file", "the directory, renamed"])
  func spareGone(removing what: String) async throws {
    let level = try open()
    let store = try #require(level.store)
    let number = try await fill(level, store) { store.state.withLock(\.spare.isThere) }
    let moved = DiskFolder()
    switch what {
    case "the directory": try FileManager.default.removeItem(atPath: folder.path)
    case "the directory, renamed": try FileManager.default.moveItem(atPath: folder.path, toPath: moved.path)
    default:
      for name in folder.names where name != "lock" {
        let isSpare = name.hasPrefix("tmp-")
        if what == "all files" || isSpare == (what == "the spare file") { try folder.remove(name) }
      }
    }
    let newest = store.state.withLock(\.lastSegmentNumber)
    _ = try await fill(level, store, from: number) {
      store.state.withLock { $0.lastSegmentNumber > newest + 40 && $0.spare.isThere }
    }
    #expect(folder.names.count { $0.hasPrefix("tmp-") } == 1)
    #expect(!moved.names.contains { $0.hasPrefix("tmp-") })
    #expect(try await level.verify().isSound)
    try await level.close()
    #expect(!folder.names.contains { $0.hasPrefix("tmp-") })
  }

  @Test("clears in turn with sets leave one file of the log, one spare file at most, and no descriptor")
  func clears() async throws {
    let opened = Mutex(0)
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      let descriptor = real.open(directory, name, flags)
      if descriptor >= 0 { opened.withLock { $0 += 1 } }
      return descriptor
    }
    calls.close = { descriptor in
      opened.withLock { $0 -= 1 }
      return real.close(descriptor)
    }
    let level = try open(calls: calls)
    let store = try #require(level.store)
    _ = try await fill(level, store) { store.state.withLock(\.spare.isThere) }
    var most: Int?
    for round in 0..<100 {
      try await level.clear()
      store.awaitRemoval()
      let now = opened.withLock { $0 }
      #expect(now <= most ?? now)
      most = now
      #expect(folder.segments.count == 1)
      #expect(folder.names.count { $0.hasPrefix("tmp-") } <= 1)
      try await level.set(value(round % 256), forKey: "a")
      #expect(try await level.get("a") == value(round % 256))
    }
    #expect(try await level.verify().isSound)
    try await level.close()
  }
}
