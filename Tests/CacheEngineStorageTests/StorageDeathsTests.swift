import CacheEngine
@testable import CacheEngineStorage
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Values whose deinitialisers use their storage in the blocking face.
@Suite(.timeLimit(.minutes(10))) struct StorageDeathsTests {
  let bench = StorageBench()

  private final class Will: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    deinit { body() }
  }

  /// Is written as nothing, and has a last will.
  private struct Mortal: Sendable {
    var will: Will?

    static let transformer = Transformer<Mortal>(
      name: "mortal", toData: { _ in Data([1]) }, fromData: { _ in Mortal() })
  }

  private func open(_ tiers: StorageBench.Tiers, countLimit: Int = 0) throws -> Storage<String, Mortal> {
    let memory = tiers == .disk ? nil : MemoryConfig(countLimit: countLimit)
    return tiers == .memory
      ? Storage(
        memoryConfig: MemoryConfig(countLimit: countLimit), transformer: Mortal.transformer, sweepInterval: nil,
        clock: bench.clock)
      : try Storage(
        diskConfig: bench.diskConfig, memoryConfig: memory, transformer: Mortal.transformer, sweepInterval: nil,
        clock: bench.clock)
  }

  /// Runs a body on a thread of its own: a body that never ends keeps only that.
  private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }

  @Test(
    "a value may write its own key and others when it dies: replaced, removed, evicted, cleared, expired, or let go",
    arguments: StorageBench.Tiers.allCases)
  func lastWills(tiers: StorageBench.Tiers) async throws {
    let storage = try open(tiers, countLimit: 3)
    let deaths = Calls<String>()
    let changes: [(String, @Sendable () throws -> Void)] = [
      ("replaced", { try storage.setObject(Mortal(), forKey: "key") }),
      ("removed", { try storage.removeObject(forKey: "key") }),
      ("dropped", { try storage.removeInMemoryObject(forKey: "key") }),
      ("evicted", { for number in 0..<3 { try storage.setObject(Mortal(), forKey: "\(number)") } }),
      ("cleared", { try storage.removeAll() }),
      ("read expired", { _ = try storage.object(forKey: "key") }),
      ("expired", { try storage.removeExpiredObjects() }),
    ]
    for (name, change) in changes {
      try await onThread {
        let will = Will {
          // The key that is being written, another one, and everything.
          for key in ["key", "other"] { try? storage.setObject(Mortal(), forKey: key) }
          try? storage.removeAll()
          _ = try? storage.object(forKey: "key")
          deaths.append(name)
        }
        try storage.setObject(Mortal(will: will), forKey: "key", expiry: .seconds(60))
      }
      if name.hasSuffix("expired") { bench.clock.advance(by: .seconds(60)) }
      try await onThread(change)
      try await turns { deaths.all.contains(name) }
      try await storage.async.removeAll()
    }
    try await storage.async.close()
  }

  @Test(
    "two values that write each other's keys when they die, replaced at once, keep nobody", arguments: [false, true])
  func crossedWills(isAwaited: Bool) async throws {
    let storage = try open(.both)
    let deaths = Calls<Int>()
    for round in 0..<50 {
      for (own, other) in [("a", "b"), ("b", "a")] {
        let will = Will {
          try? storage.setObject(Mortal(), forKey: other)
          deaths.append(round)
        }
        try await storage.async.setObject(Mortal(will: will), forKey: own)
      }
      async let first: Void =
        isAwaited
        ? storage.async.setObject(Mortal(), forKey: "a") : onThread { try storage.setObject(Mortal(), forKey: "a") }
      async let second: Void =
        isAwaited
        ? storage.async.setObject(Mortal(), forKey: "b") : onThread { try storage.setObject(Mortal(), forKey: "b") }
      _ = try await (first, second)
    }
    try await turns { deaths.count == 100 }
    try await storage.async.close()
  }

  @Test("no value dies on the thread of a storage, however quickly it is taken from there")
  func neverOnItsThread() async throws {
    let places = Calls<Bool>()
    // In a function of its own, so that the object alone holds the value.
    @Sendable @inline(never) func object() throws -> StoredObject {
      let will = Will { places.append(StorageExecutor.isCurrent) }
      return try StoredObject(Mortal(will: will), by: Transformer<Mortal>?.none, isEncoded: false)
    }
    let task = Task(executorPreference: StorageExecutor()) {
      for _ in 0..<100_000 { _ = try object() }
    }
    try await task.value
    try await turns { places.count == 100_000 }
    let onItsThread = places.all.count { $0 }
    #expect(onItsThread == 0)
  }

  @Test("what is left of a value dies where it was handed to, though somebody else still holds it")
  func diesWhereItIsHandedTo() async throws {
    let deaths = Calls<String>()
    let afterlife = Afterlife()
    let (kept, late) = (Remains(Will { deaths.append("kept") }), Remains(Will { deaths.append("late") }))
    Afterlife.$current.withValue(afterlife) { Afterlife.receive(kept) }
    #expect(deaths.all == [])
    afterlife.end()
    #expect(deaths.all == ["kept"])
    Afterlife.$current.withValue(afterlife) { Afterlife.receive(late) }
    try await turns { deaths.all == ["kept", "late"] }
    withExtendedLifetime((kept, late)) {}
  }
}
