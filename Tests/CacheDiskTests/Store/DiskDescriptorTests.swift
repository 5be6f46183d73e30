import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// A log of many files in a process that may have few open.
@Suite(.timeLimit(.minutes(10))) struct DiskDescriptorTests {
  typealias Level = DiskCacheLevel<String, Data>

  private let folder = DiskFolder()

  /// The files that are open, as far as they were opened through its calls; no more than so many are.
  private final class Descriptors: Sendable {
    struct State {
      var log: Set<Int32> = []
      var others: Set<Int32> = []
      var limit = Int.max
      var most = 0
    }

    let state = Mutex(State())

    func calls(mostSegmentFiles: Int) -> FileCalls {
      let real = FileCalls()
      var calls = FileCalls()
      calls.mostSegmentFiles = mostSegmentFiles
      let open = {
        (real: @escaping @Sendable (Int32, String, Int32) -> Int32) -> @Sendable (Int32, String, Int32) -> Int32 in
        { [self] directory, name, flags in
          state.withLock { state in
            guard state.log.count + state.others.count < state.limit else {
              errno = EMFILE
              return -1
            }
            let descriptor = real(directory, name, flags)
            guard descriptor >= 0 else { return -1 }
            if name.hasPrefix("log-") { state.log.insert(descriptor) } else { state.others.insert(descriptor) }
            state.most = max(state.most, state.log.count)
            return descriptor
          }
        }
      }
      calls.open = open(real.open)
      calls.openNow = open(real.openNow)
      calls.close = { [self] descriptor in
        state.withLock { state in
          state.log.remove(descriptor)
          state.others.remove(descriptor)
          return real.close(descriptor)
        }
      }
      return calls
    }
  }

  private func open(_ calls: FileCalls, durability: Durability = .buffered, at path: String? = nil) throws -> Level {
    try Level(
      directory: path ?? folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(),
      removalListener: nil, calls: calls)
  }

  private func check(_ level: Level) async throws {
    // Forwards and backwards: what was closed for one half is opened for the other.
    for number in Array(0..<40) + (0..<40).reversed() {
      #expect(try await level.get("\(number)") == value(number, 50_000))
    }
  }

  @Test(
    "P17 a store has only so many files of its log open, and reads, verifies and reclaims the others all the same",
    arguments: [Durability.buffered, .synced])
  func few(durability: Durability) async throws {
    let descriptors = Descriptors()
    let level = try open(descriptors.calls(mostSegmentFiles: 4), durability: durability)
    for number in 0..<40 { try await level.set(value(number, 50_000), forKey: "\(number)") }
    #expect(folder.names.count { $0.hasPrefix("log-") } > 6)
    try await check(level)
    #expect(try await level.verify().isSound)
    // The files that were closed are reclaimed.
    for number in 0..<400 { try await level.set(value(number % 40, 50_000), forKey: "\(number % 40)") }
    try await check(level)
    let crashed = try folder.copy()
    try await level.close()
    for path in [crashed.path, folder.path] {
      let again = try open(descriptors.calls(mostSegmentFiles: 4), durability: durability, at: path)
      // What the disk may not have stays open until it was waited for, and after a crash that is all.
      try await again.set(value(0, 50_000), forKey: "0")
      try await check(again)
      #expect(try await again.verify().isSound)
      try await again.close()
    }
    // One more while it is opened, and the two newest when a store is.
    #expect((2...6).contains(descriptors.state.withLock { $0.most }))
    try await turns { descriptors.state.withLock { $0.log } == [] }
  }

  @Test("P6 where the process has no descriptor left, the files of the log make room for what has to be opened")
  func none() async throws {
    let descriptors = Descriptors()
    let level = try open(descriptors.calls(mostSegmentFiles: 1_000))
    for number in 0..<20 { try await level.set(value(number, 50_000), forKey: "\(number)") }
    let (log, all) = descriptors.state.withLock { ($0.log.count, $0.log.count + $0.others.count) }
    #expect(log > 2)
    descriptors.state.withLock { $0.limit = all }
    for number in 20..<40 { try await level.set(value(number, 50_000), forKey: "\(number)") }
    try await check(level)
    // As a file of its own.
    try await level.set(value(1, 500_000), forKey: "long")
    #expect(try await level.get("long") == value(1, 500_000))
    try await level.close()
  }
}
