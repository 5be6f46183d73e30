import CacheEngine
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// What becomes of a store that nobody has closed and nobody uses any more.
@Suite(.timeLimit(.minutes(10))) struct DiskLeavingTests {
  private let folder = DiskFolder()

  private func open(
    capacity: Int = 8 << 20, sharing: StoreSharing = .exclusive
  ) throws -> DiskCacheLevel<String, Data> {
    try DiskCacheLevel(directory: folder.path, capacity: capacity, sharing: sharing)
  }

  @Test("a level that is released without being closed leaves a checkpoint, with everything in it")
  func checkpoint() async throws {
    do {
      let level = try open()
      for number in 0..<100 { try await level.set(Data([UInt8(number)]), forKey: "\(number)") }
      #expect(!folder.names.contains(FileName.checkpoint))
    }
    // Opening waits until the store has let go.
    let level = try open()
    #expect(folder.names.contains(FileName.checkpoint))
    for number in 0..<100 { #expect(try await level.get("\(number)") == Data([UInt8(number)])) }
    try await level.close()
  }

  @Test("whoever closes a level that is being closed waits until that is over, and is told how it ended")
  func closingTwice() async throws {
    let isFailing = Atomic(false)
    let goOn = DispatchSemaphore(value: 0)
    let real = FileCalls()
    var calls = real
    calls.sync = { descriptor in
      guard isFailing.load(ordering: .sequentiallyConsistent) else { return real.sync(descriptor) }
      goOn.wait()
      goOn.signal()
      errno = EIO
      return -1
    }
    let level = try DiskCacheLevel<String, Data>(
      directory: folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: .buffered, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(),
      removalListener: nil, calls: calls)
    try await level.set(Data([1]), forKey: "key")
    isFailing.store(true, ordering: .sequentiallyConsistent)
    let closing = Task.immediate { try await level.close() }
    let isOver = Atomic(false)
    // It runs here until it has to wait.
    let again = Task.immediate {
      defer { isOver.store(true, ordering: .sequentiallyConsistent) }
      try await level.close()
    }
    let isOverAtOnce = isOver.load(ordering: .sequentiallyConsistent)
    #expect(!isOverAtOnce)
    goOn.signal()
    for task in [closing, again, Task { try await level.close() }] {
      await #expect { try await task.value } throws: { ($0 as? CacheError)?.code == .diskWriteFailed }
    }
  }

  @Test("who opens the directory again opens it anew, with a capacity of its own")
  func opensAnew() async throws {
    do { try await open(capacity: 8 << 20).set(Data([1]), forKey: "key") }
    let level = try open(capacity: 2 << 20)
    #expect(level.usage.capacity == 2 << 20)
    #expect(try await level.get("key") == Data([1]))
    try await level.close()
  }

  @Test("of two levels one may be released and the other closed, in any order", arguments: [true, false])
  func twoLevels(releasesFirst: Bool) async throws {
    let kept = try open()
    do {
      let released = try open()
      try await released.set(Data([1]), forKey: "key")
      if !releasesFirst { try await kept.close() }
    }
    if releasesFirst {
      #expect(try await kept.get("key") == Data([1]))
      try await kept.close()
    }
    let level = try open(capacity: 2 << 20)
    #expect(level.usage.capacity == 2 << 20)
    #expect(try await level.get("key") == Data([1]))
    try await level.close()
  }

  @Test(
    "a level that was closed hears of nothing that leaves afterwards, and of all that left before",
    arguments: [StoreSharing.exclusive, .acrossProcesses])
  func closedListener(sharing: StoreSharing) async throws {
    let (told, toldOther) = (Calls<String>(), Calls<String>())
    func open(_ calls: Calls<String>) throws -> DiskCacheLevel<String, Data> {
      try DiskCacheLevel(directory: folder.path, sharing: sharing, removalListener: { calls.append($0.key) })
    }
    let (closed, kept) = (try open(told), try open(toldOther))
    // In a directory that is shared they are told from a little later on.
    if let common = kept.elsewhere as? CommonStore { try await turns { common.hearsLossesEverywhere(2) } }
    for key in ["a", "b", "c"] { try await kept.set(Data([1]), forKey: key, tags: ["tag"]) }
    try await closed.remove("a")
    try await turns { toldOther.count == 1 && told.count == 1 }
    try await closed.close()
    try await kept.remove("b")
    try await kept.clear()
    try await turns { toldOther.count == 3 }
    #expect(told.all == ["a"])
    try await kept.close()
  }

  @Test(
    "a level that was closed does nothing any more, to the entries of another one on its directory neither",
    arguments: [StoreSharing.exclusive, .acrossProcesses])
  func closedBesideAnother(sharing: StoreSharing) async throws {
    let (closed, kept) = (try open(sharing: sharing), try open(sharing: sharing))
    try await kept.set(Data([1]), forKey: "key", tags: ["tag"])
    try await closed.close()
    let attempts: [() async throws -> Void] = [
      { _ = try await closed.get("key") }, { _ = try await closed.lookupIncludingExpired("key") },
      { try await closed.set(Data([2]), forKey: "key") },
      { _ = try await closed.setIfAbsent(Data([2]), forKey: "new") },
      { try await closed.remove("key") }, { try await closed.clear() }, { try await closed.expire("key") },
      { _ = try await closed.removeAll(tagged: "tag") }, { _ = try await closed.removeAll(withPrefix: "k") },
      { _ = try await closed.removeExpired() }, { _ = try closed.contains("key") }, { _ = try closed.created("key") },
      { _ = try await closed.contents() }, { for try await _ in closed.entries() {} },
      { _ = try await closed.verify() },
      { _ = try await closed.rotate() },
    ]
    for (number, attempt) in attempts.enumerated() {
      let error = await #expect(throws: CacheError.self, "\(number)") { try await attempt() }
      #expect(error?.code == .closed, "\(number)")
    }
    #expect(try await kept.get("key") == Data([1]))
    try await kept.close()
  }

  @Test("a directory that was moved away is not made anew by letting go of it")
  func movedAway() async throws {
    let other = folder.path + "-moved"
    defer { try? FileManager.default.removeItem(atPath: other) }
    do {
      let level = try open()
      try await level.set(Data([1]), forKey: "key")
      try FileManager.default.moveItem(atPath: folder.path, toPath: other)
    }
    let level = try DiskCacheLevel<String, Data>(directory: other, capacity: 8 << 20)
    #expect(try await level.get("key") == Data([1]))
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    try await level.close()
  }

  @Test("to let go of a directory waits for no opening of another")
  func besideAnOpening() async throws {
    let other = DiskFolder()
    let held = Mutex<DiskCacheLevel<String, Data>?>(try DiskCacheLevel(directory: other.path, capacity: 8 << 20))
    let isReleased = Mutex(false)
    let real = FileCalls()
    var calls = real
    calls.lock = { descriptor, operation in
      let end = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        held.withLock { $0 = nil }
        end.signal()
      }
      let isInTime = end.wait(timeout: .now() + .seconds(10)) == .success
      isReleased.withLock { $0 = isInTime }
      return real.lock(descriptor, operation)
    }
    let level = try DiskCacheLevel<String, Data>(
      directory: folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: .buffered, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: SystemClock(),
      removalListener: nil, calls: calls)
    #expect(isReleased.withLock { $0 })
    try await level.close()
    withExtendedLifetime(other) {}
  }

  @Test("opening, writing and releasing from many threads never meets a directory in use, and loses nothing")
  func concurrently() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<25 {
            try await open().set(Data([UInt8(round)]), forKey: "\(worker)")
          }
        }
      }
      try await group.waitForAll()
    }
    let level = try open()
    for worker in 0..<4 { #expect(try await level.get("\(worker)") == Data([24])) }
    try await level.close()
  }
}
