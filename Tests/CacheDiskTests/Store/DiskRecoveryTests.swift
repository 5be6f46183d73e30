import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// What becomes of a store while its disk refuses to work, and afterwards.
@Suite(.timeLimit(.minutes(10))) struct DiskRecoveryTests {
  typealias Level = DiskCacheLevel<String, Data>

  /// What the disk does not do for now.
  enum Trouble: CaseIterable {
    case readOnly, full, noPermission, tooManyFiles

    var code: Int32 {
      switch self {
      case .readOnly: EROFS
      case .full: ENOSPC
      case .noPermission: EACCES
      case .tooManyFiles: EMFILE
      }
    }
  }

  let folder = DiskFolder()

  /// System calls that have a trouble for as long as `isOn` says.
  private func calls(_ trouble: Trouble, _ isOn: @escaping @Sendable () -> Bool) -> FileCalls {
    let real = FileCalls()
    var calls = real
    let fails: @Sendable () -> Bool = {
      guard isOn() else { return false }
      errno = trouble.code
      return true
    }
    if trouble == .tooManyFiles {
      calls.open = { fails() ? -1 : real.open($0, $1, $2) }
      calls.openNow = { fails() ? -1 : real.openNow($0, $1, $2) }
      return calls
    }
    calls.open = { directory, name, flags in
      // What is there may still be read.
      flags & (O_CREAT | O_RDWR) != 0 && fails() ? -1 : real.open(directory, name, flags)
    }
    unsafe calls.write = { unsafe fails() ? -1 : real.write($0, $1, $2) }
    calls.truncate = { fails() ? -1 : real.truncate($0, $1) }
    calls.rename = { fails() ? -1 : real.rename($0, $1, $2) }
    if trouble != .full { calls.unlink = { fails() ? -1 : real.unlink($0, $1) } }
    return calls
  }

  @Test(
    "P6 what is refused for a while is an error that names the place; what was stored stays, and all is well afterwards",
    arguments: Trouble.allCases, Durability.allCases)
  func recovers(trouble: Trouble, durability: Durability) async throws {
    let disk = Switch()
    let level = try Level(
      directory: folder.path, capacity: 4 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(),
      removalListener: nil, calls: calls(trouble) { disk.isOn })
    try await level.set(value(1), forKey: "short")
    try await level.set(value(2, 400_000), forKey: "long")
    disk.isOn = true
    var refused = 0
    // Enough for a new segment, so that too many open files are met as well.
    for number in 0..<40 {
      do { try await level.set(value(number, 20_000), forKey: "new-\(number)") } catch let error as CacheError {
        refused += 1
        #expect(error.code == .diskWriteFailed && error.level == "disk")
        #expect(error.message.contains(folder.path))
      }
    }
    #expect(refused > 0)
    let failure = await #expect(throws: CacheError.self) { try await level.set(value(3, 400_000), forKey: "long") }
    #expect(failure?.code == .diskWriteFailed)
    #expect(try await level.get("short") == value(1))
    if trouble == .tooManyFiles {
      // The file is there and cannot be opened: that is no miss, and nothing is dropped for it.
      let error = await #expect(throws: CacheError.self) { try await level.get("long") }
      #expect(error?.code == .diskReadFailed)
    } else {
      #expect(try await level.get("long") == value(2, 400_000))
    }
    disk.isOn = false
    #expect(try await level.get("long") == value(2, 400_000))
    try await level.set(value(4), forKey: "short")
    try await level.set(value(5, 400_000), forKey: "long")
    try await level.remove("new-0")
    let report = try await level.verify()
    #expect(report.isSound && report.strayCount == 0)
    let crashed = try folder.copy()
    let other = try Level(directory: crashed.path, capacity: 4 << 20)
    #expect(try await other.get("short") == value(4))
    #expect(try await other.get("long") == value(5, 400_000))
    #expect(try await other.get("new-0") == nil)
    #expect(other.usage.count == level.usage.count)
    try await other.close()
    try await level.close()
  }

  @Test("P5 what the files take is counted as the file system counts it, block by block")
  func accounting() async throws {
    let level = try Level(directory: folder.path, capacity: 4 << 20, clock: ManualClock())
    var generator = SeededGenerator(seed: 9)
    for step in 0..<600 {
      let count =
        Int.random(in: 0..<12, using: &generator) == 0 ? 100_000 : Int.random(in: 0...9_000, using: &generator)
      try await level.set(value(step, count), forKey: "\(Int.random(in: 0..<300, using: &generator))")
      if step % 5 == 0 { try await level.remove("\(Int.random(in: 0..<300, using: &generator))") }
      if step % 20 == 0 { #expect(folder.allocatedBytes <= 4 << 20) }
    }
    let first = try await level.verify()
    #expect(first.isSound)
    // Once measured, nothing is left to guess.
    let second = try await level.verify()
    #expect(second.accountedBytes >= second.allocatedBytes)
    #expect(second.accountedBytes - second.allocatedBytes < 4_096 * 2)
    #expect(level.usage.cost == second.accountedBytes)
    try await level.close()
  }

  @Test("P5 what a file system takes beyond the length of a file is counted, and given back with the file")
  func extras() {
    var state = SegmentedStore.State()
    state.lengths[3] = 5_000
    state.allocatedBytes = 8_192 + 12_288
    state.settle(segment: 3, 8_192)
    #expect(state.allocatedBytes == 20_480)
    state.settle(segment: 3, 12_288)
    state.settle(segment: 3, 16_384)
    #expect(state.allocatedBytes == 20_480 + 8_192)
    state.settle(value: 3, 12_000, 65_536)
    #expect(state.allocatedBytes == 20_480 + 8_192 + 53_248)
    // Not written out yet, or compressed: the length counts.
    state.settle(value: 3, 12_000, 0)
    #expect(state.allocatedBytes == 20_480 + 8_192)
    state.forget(segment: 3)
    state.forget(value: 3, 12_000)
    #expect(state.allocatedBytes == 0)
    #expect(state.segmentExtras.isEmpty && state.valueExtras.isEmpty)
  }

  /// Something that a test turns on and off.
  private final class Switch: Sendable {
    private let state = Mutex(false)
    var isOn: Bool {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }
}
