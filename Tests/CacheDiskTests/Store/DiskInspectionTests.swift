import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// What is seen by who looks into a directory that another one writes.
@Suite(.timeLimit(.minutes(10))) struct DiskInspectionTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()
  let clock = ManualClock()

  private func open(capacity: Int = 8 << 20) throws -> Level {
    try Level(directory: folder.path, capacity: capacity, clock: clock)
  }

  private func keys(_ look: DiskCacheInspection) async throws -> Set<String> {
    var keys: Set<String> = []
    for try await entry in look.entries() { keys.insert(try #require(entry.text)) }
    return keys
  }

  @Test("P15 who looks sees keys, values and what is known of them, and changes nothing", arguments: [true, false])
  func looks(isWritten: Bool) async throws {
    let level = try open()
    try await level.store(
      value(1), forKey: "short", terms: StoreTerms(expiry: .after(.seconds(60)), tags: ["red", "blue"]))
    try await level.set(value(2, 500_000), forKey: "long")
    try await level.set(value(3), forKey: "gone")
    try await level.remove("gone")
    if !isWritten { try await level.close() }
    let before = try folder.names.sorted().map { try folder.bytes(of: $0) }
    let look = try await DiskCacheInspection.open(folder.path, clock: clock)
    #expect(try await keys(look) == ["short", "long"])
    for try await entry in look.entries() where entry.text == "short" {
      #expect(entry.size == 300 && entry.cost == 300 && entry.tags == ["red", "blue"])
      #expect(entry.type == ByteCoding<Data>.data.name)
      #expect(entry.created == clock.now && entry.deadline == clock.now.advanced(by: .seconds(60)))
    }
    #expect(try await look.value(forKey: "short") == value(1))
    #expect(try await look.value(forKey: "long") == value(2, 500_000))
    #expect(try await look.value(forKey: "gone") == nil)
    let health = try await look.health()
    #expect(health.entries == 2 && health.isCurrent && health.damaged == 0 && health.segments == 1)
    #expect(health.allocatedBytes == folder.allocatedBytes)
    #expect(try await look.verify().isSound)
    clock.advance(by: .seconds(60))
    #expect(try await look.value(forKey: "short") == nil)
    #expect(try folder.names.sorted().map { try folder.bytes(of: $0) } == before)
    // The one who writes was never in the way.
    if isWritten { try await level.close() }
    let next = try open()
    try await next.close()
  }

  @Test("who looks says when something was written since, and sees it after a refresh")
  func refreshes() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try await level.set(value(2, 400_000), forKey: "b")
    let look = try await DiskCacheInspection.open(folder.path, clock: clock)
    try await level.set(value(3), forKey: "a")
    try await level.remove("b")
    try await level.set(value(4), forKey: "c")
    #expect(try await look.health().isCurrent == false)
    #expect(try await look.value(forKey: "a") == value(1))
    // Its file has gone, and looking again tells why.
    #expect(try await look.value(forKey: "b") == nil)
    clock.advance(by: .seconds(5))
    try await look.refresh()
    #expect(try await look.value(forKey: "a") == value(3))
    #expect(try await keys(look) == ["a", "c"])
    let health = try await look.health()
    #expect(health.isCurrent && health.asOf == clock.now && health.damaged == 0)
    try await level.clear()
    try await level.set(value(5), forKey: "d")
    try await look.refresh()
    #expect(try await keys(look) == ["d"])
    try await level.close()
    try FileManager.default.removeItem(atPath: folder.path)
    await #expect(throws: CacheError.self) { try await look.refresh() }
    let again = try open()
    try await again.set(value(6), forKey: "e")
    try await look.refresh()
    #expect(try await keys(look) == ["e"])
    try await again.close()
  }

  // One after the other: each holds one of the two threads that there are for all who look.
  @Test(
    "a refresh that another one has overtaken does not bring back what that has seen replaced and removed", .serialized,
    arguments: [false, true])
  func overtaken(isOpenedAnew: Bool) async throws {
    var level = try open()
    try await level.set(value(1), forKey: "a")
    let real = FileCalls()
    let isHeld = Atomic(false)
    let hasArrived = Atomic(false)
    let goesOn = DispatchSemaphore(value: 0)
    var calls = real
    unsafe calls.read = { [value = value(2)] descriptor, buffer, offset in
      let count = unsafe real.read(descriptor, buffer, offset)
      let hasValue = unsafe Data(buffer.prefix(max(0, count))).range(of: value) != nil
      if hasValue, isHeld.exchange(false, ordering: .sequentiallyConsistent) {
        hasArrived.store(true, ordering: .sequentiallyConsistent)
        goesOn.wait()
      }
      return count
    }
    let look = try await DiskCacheInspection.open(folder.path, clock: clock, calls: calls)
    if isOpenedAnew {
      try await level.close()
      try FileManager.default.removeItem(atPath: folder.path)
      level = try open()
    }
    try await level.set(value(2), forKey: "a")
    try await level.set(value(2), forKey: "b")
    // The first has read what is new, and has yet to take it in.
    isHeld.store(true, ordering: .sequentiallyConsistent)
    let first = Task { try await look.refresh() }
    defer { goesOn.signal() }
    try await turns { hasArrived.load(ordering: .sequentiallyConsistent) }
    try await level.set(value(3), forKey: "a")
    try await level.remove("b")
    try await look.refresh()
    #expect(try await look.value(forKey: "a") == value(3))
    goesOn.signal()
    try await first.value
    #expect(try await look.value(forKey: "a") == value(3))
    #expect(try await keys(look) == ["a"])
    #expect(try await look.health().isCurrent)
    try await level.close()
  }

  @Test("P1 P15 while segments are reclaimed under it, who looks finds every entry that stays, with one of its values")
  func reclaiming() async throws {
    let level = try open(capacity: 2 << 20)
    for number in 0..<20 { try await level.set(value(number, 2_000), forKey: "stays-\(number)") }
    let look = try await DiskCacheInspection.open(folder.path, clock: clock)
    for round in 0..<40 {
      for number in 0..<40 {
        try await level.set(value(round, 4_000), forKey: "other-\(number)")
        _ = try await level.get("stays-\(number % 20)")
      }
      if round % 3 == 0 { try await look.refresh() }
      for number in 0..<20 { #expect(try await look.value(forKey: "stays-\(number)") == value(number, 2_000)) }
      if round % 7 == 0 {
        let fresh = try await DiskCacheInspection.open(folder.path, clock: clock)
        #expect(try await keys(fresh).count { $0.hasPrefix("stays") } == 20)
        #expect(try await fresh.health().damaged == 0)
      }
    }
    #expect(level.traffic.copied > 0)
    try await look.refresh()
    let held = Set(try await level.contents().map(\.key))
    #expect(try await keys(look).isSuperset(of: held))
    try await level.close()
  }

  @Test("a segment that goes between listing and opening it loses nothing of what was copied from it")
  func vanishing() async throws {
    let level = try open(capacity: 2 << 20)
    for number in 0..<20 { try await level.set(value(number, 2_000), forKey: "stays-\(number)") }
    let real = FileCalls()
    let oldest = try #require(folder.segments.first)
    let rounds = Mutex(0)
    let copy = try folder.copy()
    try await level.close()
    // Between the listing and the first open of a segment, another one reclaims it.
    let other = try Level(directory: copy.path, capacity: 2 << 20, clock: clock)
    for round in 0..<30 {
      for number in 0..<40 { try await other.set(value(round, 4_000), forKey: "other-\(number)") }
      for number in 0..<20 { _ = try await other.get("stays-\(number)") }
    }
    #expect(!copy.segments.contains(oldest))
    let first = try #require(copy.segments.first)
    var calls = FileCalls()
    calls.open = { directory, name, flags in
      guard name == first,
        rounds.withLock({
          $0 += 1; return $0 == 1
        })
      else { return real.open(directory, name, flags) }
      errno = ENOENT
      return -1
    }
    let look = try await DiskCacheInspection.open(copy.path, clock: clock, calls: calls)
    #expect(rounds.withLock { $0 } == 2)
    #expect(try await keys(look) == Set(try await other.contents().map(\.key)))
    #expect(try await look.health().damaged == 0)
    try await other.close()
  }

  @Test("what is not there, is newer, or belongs to others cannot be looked into, and is told by its path")
  func refuses() async throws {
    let error = await #expect(throws: CacheError.self) {
      try await DiskCacheInspection.open(folder.path + "/nowhere", clock: clock)
    }
    #expect(error?.code == .diskReadFailed)
    #expect(error?.message.contains(folder.path + "/nowhere") == true)
    #expect(folder.names.isEmpty)
  }

  @Test("entries are listed page by page, each once, while they are overwritten, and after a restart")
  func lists() async throws {
    let level = try open()
    for number in 0..<1_000 { try await level.set(value(number, 20), forKey: "\(number)", tags: ["t\(number % 3)"]) }
    var met: [String] = []
    for try await entry in level.entries() {
      met.append(entry.key)
      #expect(entry.size == 20)
      if met.count % 100 == 0, met.count < 1_000 {
        try await level.set(value(met.count, 20), forKey: entry.key)
        try await level.set(value(met.count, 20), forKey: "\(999 - met.count)")
      }
    }
    #expect(met.count == 1_000 && Set(met).count == 1_000)
    try await level.close()
    await #expect(throws: CacheError.self) { for try await _ in level.entries() {} }
    let again = try open()
    var tags: [String: Int] = [:]
    for try await entry in again.entries() {
      #expect(entry.type == ByteCoding<Data>.data.name)
      for tag in entry.tags { tags[tag, default: 0] += 1 }
    }
    #expect(tags.values.reduce(0, +) >= 980 && tags.keys.count == 3)
    try await again.close()
  }

  @Test("what a listing holds at once is a page, however many entries there are")
  func pages() async throws {
    let level = try open()
    for number in 0..<2_000 { try await level.set(value(number, 8), forKey: "\(number)") }
    let store = try #require(level.store)
    var (place, pages): (Int?, Int) = (0, 0)
    while let from = place {
      let (page, next) = try await store.list(from: from)
      #expect(page.count <= 256)
      (place, pages) = (next, pages + (page.isEmpty ? 0 : 1))
    }
    #expect(pages == 8)
    try await level.close()
  }

  @Test("a listing ends when its task is cancelled")
  func cancelled() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      for try await _ in level.entries() {}
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    try await level.close()
  }
}
