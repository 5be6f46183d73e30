import CacheEngine
@testable import CacheEngineStorage
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import Testing

/// Who runs observers, and for how long.
@Suite(.timeLimit(.minutes(10))) struct StorageTellingTests {
  typealias Change = StorageChange<String>
  let bench = StorageBench()

  /// What the thread is called that runs this now.
  @TaskLocal private static var thread = ""

  /// An observer that stops at its first change until it is let go on.
  private final class SlowObserver: Sendable {
    let isStopped = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    private let isFirst = Atomic(true)

    func see() {
      guard isFirst.exchange(false, ordering: .relaxed) else { return }
      isStopped.signal()
      mayGoOn.wait()
    }
  }

  /// Runs a body on a thread of its own, and returns when it has ended.
  private func onThread(_ name: String = "", _ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try Self.$thread.withValue(name, operation: body) }) }.start()
    }
  }

  @Test("a set whose observer was slow returns when that has ended, whatever others have written meanwhile")
  func slowObserver() async throws {
    let storage = try bench.inMemory(Int.self)
    let (slow, witness) = (SlowObserver(), Witness<String>())
    let all = storage.changes()
    storage.addStorageObserver(slow) { slow, _ in slow.see() }
    storage.addStorageObserver(witness) { witness, _ in witness.see(Self.thread) }
    async let first: Void = onThread("writer") { try storage.setObject(1, forKey: "a") }
    await withCheckedContinuation { continuation in
      Thread {
        slow.isStopped.wait()
        continuation.resume()
      }.start()
    }
    // These return although somebody is being told.
    try await onThread { for number in 0..<100 { try storage.setObject(number, forKey: "b") } }
    slow.mayGoOn.signal()
    try await first
    for await change in all.prefix(101) { _ = change }
    #expect(witness.seen.first == "writer")
    #expect(!witness.seen.dropFirst().contains("writer"))
    #expect(witness.seen.count >= 100)
  }

  @Test("who only reads runs no observer", arguments: StorageBench.Tiers.allCases)
  func readers(tiers: StorageBench.Tiers) async throws {
    let storage = try bench.open(tiers, Int.self)
    let (slow, threads) = (SlowObserver(), Witness<String>())
    for number in 0..<4 { try storage.setObject(number, forKey: "\(number)", expiry: .seconds(1)) }
    let all = storage.changes()
    storage.addStorageObserver(threads) { threads, _ in threads.see(Self.thread) }
    storage.addStorageObserver(slow) { slow, _ in slow.see() }
    bench.clock.advance(by: .seconds(1))
    // Each finds expired what nobody has told of; none of them waits for the observer.
    try await onThread("reader") { () throws -> Void in
      #expect(try storage.object(forKey: "0") == nil)
      #expect(try storage.requiredOrNil("1") == nil)
      #expect(try storage.entry(forKey: "2") == nil)
      #expect(try storage.allKeys == [])
    }
    slow.mayGoOn.signal()
    var lost = 0
    for await change in all {
      if case .lost = change { lost += 1 }
      if lost == (tiers == .both ? 6 : 3) { break }
    }
    #expect(!threads.seen.isEmpty && !threads.seen.contains("reader"))
    try storage.close()
  }

  @Test("more changes than may wait are told together: how many, and what became of each observed key")
  func missedChanges() async throws {
    let storage = try bench.inMemory(Int.self)
    let (slow, keys, all) = (SlowObserver(), Witness<KeyChange<Int>>(), Witness<Change>())
    let gone = Witness<KeyChange<Int>>()
    storage.addStorageObserver(slow) { slow, _ in slow.see() }
    storage.addStorageObserver(all) { $0.see($1) }
    storage.addObserver(keys, forKey: "k") { $0.see($1) }
    storage.addObserver(gone, forKey: "g") { $0.see($1) }
    let end = storage.changes(bufferingPolicy: .unbounded)
    async let first: Void = onThread { try storage.setObject(-1, forKey: "first") }
    await withCheckedContinuation { continuation in
      Thread {
        slow.isStopped.wait()
        continuation.resume()
      }.start()
    }
    try await onThread {
      try storage.setObject(1, forKey: "k")
      for number in 0..<4_095 { try storage.setObject(number, forKey: "b") }
      for number in 2...1_001 { try storage.setObject(number, forKey: "k") }
      try storage.setObject(1, forKey: "g")
      try storage.removeObject(forKey: "g")
    }
    slow.mayGoOn.signal()
    try await first
    for await change in end {
      if case .missed = change { break }
    }
    #expect(all.seen.count == 4_097)
    #expect(all.seen.last == .missed(1_003))
    #expect(keys.seen == [.edit(before: nil, after: 1), .edit(before: 1, after: 1_001)])
    #expect(gone.seen == [.edit(before: nil, after: 1), .remove(cause: .removed)])
  }

  @Test("A value that was told as gone while another one took its place is not told once more as the one before")
  func goneBefore() async throws {
    let storage = try bench.inMemory(Int.self)
    let keys = Witness<KeyChange<Int>>()
    storage.addObserver(keys, forKey: "k") { $0.see($1) }
    try storage.setObject(1, forKey: "k", expiry: .seconds(1))
    // As a store does, which looks what there is before it waits for the disk.
    let before = try await storage.core.lookup("k").entry?.value
    bench.clock.advance(by: .seconds(1))
    #expect(try await storage.async.removeExpiredObjects() == 1)
    let after = try StoredObject(2, by: TransformerFactory.forCodable(ofType: Int.self), isEncoded: false)
    try await storage.core.run { [core = storage.core] in
      core.changes.note(.stored("k", before: before, after: after))
    }
    #expect(keys.seen == [.edit(before: nil, after: 1), .remove(cause: .expired), .edit(before: nil, after: 2)])
  }

  @Test("what an observer writes is told when it has returned, before the call that it was told of returns")
  func nested() throws {
    let storage = try bench.inMemory(Int.self)
    let all = Witness<Change>()
    storage.addStorageObserver(all) { [weak storage] all, change in
      if change == .add("a") { try? storage?.setObject(2, forKey: "b") }
      all.see(change)
    }
    try storage.setObject(1, forKey: "a")
    #expect(all.seen == [.add("a"), .add("b")])
  }
}

extension Storage {
  fileprivate func requiredOrNil(_ key: Key) throws -> Value? {
    do { return try requiredObject(forKey: key) } catch let error as CacheError where error.code == .valueNotInCache {
      return nil
    }
  }
}
