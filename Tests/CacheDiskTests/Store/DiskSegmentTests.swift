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

  private func open(_ durability: Durability = .buffered, calls: FileCalls = FileCalls()) throws -> Level {
    try Level(
      directory: folder.path, capacity: 1 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
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
}
