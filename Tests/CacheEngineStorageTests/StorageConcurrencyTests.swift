import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Dispatch
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct StorageConcurrencyTests {
  let bench = StorageBench()

  /// Runs a body on so many threads of their own, none of which is one of Swift's.
  private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    await withTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread {
              body(number)
              continuation.resume()
            }.start()
          }
        }
      }
    }
  }

  @Test(
    "H52 H82 mixed operations through all faces and many threads lose no key that nobody removes",
    arguments: StorageBench.Tiers.allCases)
  func mixedFaces(tiers: StorageBench.Tiers) async throws {
    let storage = try bench.open(tiers, Int.self)
    let text = storage.transform(to: String.self)
    let witness = Witness<StorageChange<String>>()
    storage.addStorageObserver(witness) { $0.see($1) }
    storage.addObserver(witness, forKey: "shared") { _, _ in _ = try? storage.object(forKey: "shared") }
    let answered = AsyncStream.makeStream(of: Void.self)
    let (workers, rounds) = (4, 40)

    async let threads: Void = onThreads(workers) { worker in
      for round in 0..<rounds {
        let key = "thread \(worker) \(round)"
        do {
          try storage.setObject(round, forKey: key)
          try storage.setObject(round, forKey: "shared")
          _ = try? storage.object(forKey: "shared")
          if round % 8 == 0 { try storage.removeInMemoryObject(forKey: tiers == .memory ? "shared" : key) }
          if round % 16 == 0 { try storage.removeExpiredObjects() }
          #expect(try storage.object(forKey: key) == round)
        } catch { Issue.record(error) }
      }
    }
    async let tasks: Void = withThrowingTaskGroup { group in
      for worker in 0..<workers {
        group.addTask {
          for round in 0..<rounds {
            let key = "task \(worker) \(round)"
            try await storage.async.setObject(round, forKey: key)
            try await text.async.setObject("text", forKey: "shared")
            // The blocking face in a task blocks one of Swift's own threads.
            try storage.setObject(round, forKey: key + " blocking")
            if round % 5 == 0 { try await storage.async.removeObject(forKey: "shared") }
            #expect(try await storage.async.object(forKey: key) == round)
            #expect(try storage.objectExists(forKey: key + " blocking"))
          }
        }
      }
      try await group.waitForAll()
    }
    for round in 0..<rounds {
      storage.async.setObject(round, forKey: "callback \(round)") { result in
        if case .failure(let error) = result { Issue.record(error) }
      }
      storage.async.object(forKey: "callback \(round)") { result in
        #expect((try? result.get()) == .some(round))
        answered.continuation.yield()
      }
    }
    try await tasks
    await threads
    var iterator = answered.stream.makeAsyncIterator()
    for _ in 0..<rounds { await iterator.next() }

    for round in 0..<rounds {
      #expect(try storage.object(forKey: "callback \(round)") == round)
      for worker in 0..<workers {
        #expect(try storage.object(forKey: "thread \(worker) \(round)") == round)
        #expect(try storage.object(forKey: "task \(worker) \(round)") == round)
        #expect(try storage.object(forKey: "task \(worker) \(round) blocking") == round)
      }
    }
    try storage.close()
  }

  @Test(
    "H52 more tasks than there are threads may block in the blocking face, on keys that others are writing",
    arguments: StorageBench.Tiers.allCases)
  func blockedThreads(tiers: StorageBench.Tiers) async throws {
    let storage = try bench.open(tiers, Data.self)
    // Long values have files of their own, which are never read without waiting.
    let value = Data(count: 600_000)
    try await withThrowingTaskGroup { group in
      for worker in 0..<32 {
        group.addTask {
          for round in 0..<4 {
            let key = "\((worker + round) % 3)"
            if worker % 2 == 0 {
              try storage.setObject(value, forKey: key)
              try storage.removeInMemoryObject(forKey: key)
            } else {
              try await storage.async.setObject(value, forKey: key)
            }
            let read = try storage.object(forKey: key)
            #expect(read == nil || read == value)
          }
        }
      }
      try await group.waitForAll()
    }
    try storage.close()
  }

  @Test("the observers of a key are told of its writes in the order in which they took effect")
  func orderOfChanges() async throws {
    let storage = try bench.open(Int.self)
    let witness = Witness<KeyChange<Int>>()
    storage.addObserver(witness, forKey: "a") { $0.see($1) }
    await onThreads(4) { worker in
      for round in 0..<50 {
        do { try storage.setObject(worker * 1_000 + round, forKey: "a") } catch { Issue.record(error) }
      }
    }
    // A last change: when it has been told, all have.
    let told = storage.changes(forKey: "a")
    try storage.setObject(-1, forKey: "a")
    for await change in told {
      if case .edit(_, after: -1) = change { break }
    }
    var last: Int?
    for change in witness.seen {
      guard case .edit(let before, let after) = change else {
        Issue.record("\(change)")
        continue
      }
      #expect(before == last)
      last = after
    }
    #expect(witness.seen.count == 201)
    #expect(last == -1)
    try storage.close()
  }

  @Test("a storage that is let go of in the middle of its work leaves nothing behind")
  func lifetime() async throws {
    weak var core: Storage<String, Int>?
    do {
      let storage = try bench.open(Int.self)
      core = storage
      let witness = Witness<StorageChange<String>>()
      storage.addStorageObserver(witness) { $0.see($1) }
      try await storage.async.setObject(1, forKey: "a")
      try storage.setObject(2, forKey: "b")
    }
    #expect(core == nil)
    // The folder is free again, and holds what was stored.
    let again = try bench.open(Int.self)
    #expect(try again.object(forKey: "a") == 1)
    #expect(try again.object(forKey: "b") == 2)
    try again.close()
  }
}
