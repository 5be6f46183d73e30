import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// What a store leaves behind where the disk refuses something.
@Suite(.timeLimit(.minutes(10))) struct DiskRefusalTests {
  typealias Level = DiskCacheLevel<String, Data>

  private enum Call { case sync, truncate, write, rename }

  /// Makes calls fail; of all but the last kind only those for files of the log.
  private final class Refusals: Sendable {
    private let refused = Mutex<Set<Call>>([])
    private let logs = Mutex<Set<Int32>>([])

    func refuse(_ calls: Set<Call>) { refused.withLock { $0 = calls } }

    private func refuses(_ call: Call, _ descriptor: Int32) -> Bool {
      let isMeant = call == .rename || logs.withLock { $0.contains(descriptor) }
      guard isMeant, refused.withLock({ $0.contains(call) }) else { return false }
      errno = EIO
      return true
    }

    var calls: FileCalls {
      let real = FileCalls()
      var calls = real
      calls.open = { [self] directory, name, flags in
        let descriptor = real.open(directory, name, flags)
        logs.withLock { logs in
          if name.hasPrefix("log-") { logs.insert(descriptor) } else { logs.remove(descriptor) }
        }
        return descriptor
      }
      calls.sync = { [self] in refuses(.sync, $0) ? -1 : real.sync($0) }
      calls.truncate = { [self] in refuses(.truncate, $0) ? -1 : real.truncate($0, $1) }
      unsafe calls.write = { [self] in refuses(.write, $0) ? -1 : unsafe real.write($0, $1, $2) }
      calls.rename = { [self] in refuses(.rename, $0) ? -1 : real.rename($0, $1, $2) }
      return calls
    }
  }

  private let folder = DiskFolder()
  private let clock = ManualClock()
  private let refusals = Refusals()

  private func open(
    _ durability: Durability = .buffered, in folder: DiskFolder? = nil, capacity: Int = 8 << 20,
    calls: FileCalls? = nil
  ) throws -> Level {
    try Level(
      directory: (folder ?? self.folder).path, capacity: capacity, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
      removalListener: nil, calls: calls ?? refusals.calls)
  }

  @Test("P3 to close a store whose log the disk does not take is an error, and leaves no index")
  func closes() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    refusals.refuse([.sync])
    let error = await #expect(throws: CacheError.self) { try await level.close() }
    #expect(error?.code == .diskWriteFailed)
    #expect(!folder.names.contains(FileName.checkpoint))
  }

  @Test("P3 a file that the disk did not confirm takes no more records")
  func endsSegment() async throws {
    let level = try open(.synced)
    try await level.set(value(1), forKey: "a")
    refusals.refuse([.sync])
    await #expect(throws: CacheError.self) { try await level.set(value(2), forKey: "b") }
    refusals.refuse([])
    try await level.set(value(3), forKey: "c")
    #expect(folder.segments.count == 2)
    try await level.close()
  }

  @Test(
    "P3 what nobody waited for, in a file that the disk did not confirm, is written again: its remains hide no confirmed value",
    arguments: [(false, false), (true, false), (true, true)])
  func writtenAgain(isOlder: Bool, isClosed: Bool) async throws {
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let isFailing = Mutex(false)
    let disk = SimulatedDisk(folder.path) { _ in isFailing.withLock { $0 } }
    let level = try open(.synced, capacity: 1 << 20, calls: disk.calls)
    let buffered = try open(capacity: 1 << 20, calls: disk.calls)
    let (old, new) = (Data("old".utf8), Data(repeating: 1, count: 1_500))
    try await level.set(old, forKey: "a")
    try await buffered.set(new, forKey: "a")
    // Where the wait is for a file that has been followed by another one, too.
    let store = try #require(level.store)
    let last = store.state.withLock { $0.segments.last }
    let file = try #require(last)
    if isOlder { _ = try store.makeSegment() }
    // As it is where many files are open, or the process has no descriptor left.
    if isClosed { #expect(file.close(evenIfWanted: true)) }
    isFailing.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await level.set(old, forKey: "b") }
    isFailing.withLock { $0 = false }
    try await level.set(old, forKey: "b")
    let isCutBack = store.state.withLock { $0.uncut.isEmpty }
    #expect(isCutBack)
    // The two newest files are looked at closely by whoever opens the store.
    let numbers = store.state.withLock { $0.segments.map(\.number) }
    var count = 0
    while store.state.withLock({ $0.segments.suffix(2).contains { numbers.contains($0.number) } }) {
      try await level.set(new, forKey: "\(count)")
      count += 1
    }
    let model = disk.model(at: disk.moment)
    for seed in UInt64(0)..<100 {
      let left = DiskFolder()
      try SimulatedDisk.lay(model.survivors(seed: seed), at: left.path)
      let other = try open(in: left, capacity: 1 << 20, calls: FileCalls())
      let found = try await other.get("a")
      #expect(found == old || found == new, "seed \(seed)")
      try await other.close()
    }
    for level in [level, buffered] { try await level.close() }
  }

  @Test(
    "P14 what somebody put in the place of a file that is to be written again stays as it is", arguments: [false, true])
  func notWrittenAgain(isLink: Bool) async throws {
    let level = try open(.synced)
    try await level.set(value(1), forKey: "a")
    let store = try #require(level.store)
    let last = store.state.withLock { $0.segments.last }
    let segment = try #require(last)
    _ = try store.makeSegment()
    store.state.withLock { state in state.uncut[segment.number] = state.lengths[segment.number] }
    let (place, foreign) = ("\(folder.path)/\(segment.name)", "\(folder.path)/mine")
    let mine = Data(repeating: 7, count: 100_000)
    try mine.write(to: URL(filePath: foreign))
    try FileManager.default.removeItem(atPath: place)
    if isLink {
      try FileManager.default.linkItem(atPath: foreign, toPath: place)
    } else {
      try FileManager.default.moveItem(atPath: foreign, toPath: place)
    }
    try? await level.set(value(3), forKey: "c")
    #expect(try Data(contentsOf: URL(filePath: place)) == mine)
    try? await level.close()
  }

  @Test("P3 a removal that may have been lost with what the disk did not confirm is written again")
  func removesAgain() async throws {
    let level = try open()
    let synced = try open(.synced)
    try await level.set(value(1), forKey: "a")
    try await level.remove("a")
    refusals.refuse([.sync])
    await #expect(throws: CacheError.self) { try await synced.set(value(2), forKey: "b") }
    refusals.refuse([])
    let before = level.traffic.written
    try await synced.remove("a")
    #expect(level.traffic.written > before)
    try await level.close()
    try await synced.close()
  }

  @Test("P3 a long value that was taken back stays for as long as the log may name it")
  func keepsNamedValue() async throws {
    let (old, new) = (value(1, 200_000), value(2, 200_000))
    let level = try open(.synced)
    try await level.set(old, forKey: "a")
    refusals.refuse([.sync, .truncate])
    await #expect(throws: CacheError.self) { try await level.set(new, forKey: "a") }
    refusals.refuse([.truncate])
    try await level.set(value(3), forKey: "b")
    #expect(try await level.get("a") == old)
    let crashed = try folder.copy()
    refusals.refuse([])
    let other = try open(.synced, in: crashed)
    let found = try await other.get("a")
    #expect(found == old || found == new)
    try await other.close()
    try await level.close()
  }

  @Test("an index that could not get its name is not left under another one")
  func indexWithoutName() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    refusals.refuse([.rename])
    try await level.close()
    #expect(!folder.names.contains { $0.hasPrefix("tmp-") })
  }

  @Test("a file of the log whose head could not be written is not left")
  func segmentWithoutHead() async throws {
    let level = try open()
    refusals.refuse([.write])
    await #expect(throws: CacheError.self) { try await level.set(value(1), forKey: "a") }
    #expect(folder.segments.isEmpty)
    refusals.refuse([])
    try await level.set(value(1), forKey: "a")
    try await level.close()
  }
}
