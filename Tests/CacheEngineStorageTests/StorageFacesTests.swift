import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct StorageFacesTests {
  typealias User = StorageBench.User
  let bench = StorageBench()

  /// Hands a request's result to the test that made it.
  private func result<Answer: Sendable>(
    _ request: (@escaping @Sendable (Result<Answer, any Error>) -> Void) -> Void
  ) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in request { continuation.resume(with: $0) } }
  }

  @Test(
    "H48 the blocking face reads what it stored, and remove-all leaves none of 100",
    arguments: StorageBench.Tiers.allCases)
  func blocking(tiers: StorageBench.Tiers) throws {
    let storage = try bench.open(tiers, Int.self)
    for number in 0..<100 { try storage.setObject(number, forKey: "\(number)") }
    for number in 0..<100 { #expect(try storage.object(forKey: "\(number)") == number) }
    try storage.removeAll()
    for number in 0..<100 { #expect(try storage.objectExists(forKey: "\(number)") == false) }
    try storage.close()
  }

  @Test("H49 the callback face keeps the order of its requests", arguments: StorageBench.Tiers.allCases)
  func callbacks(tiers: StorageBench.Tiers) async throws {
    let storage = try bench.open(tiers, Int.self)
    let order = Calls<String>()
    let ended = AsyncStream.makeStream(of: Void.self)
    for number in 0..<50 {
      storage.async.setObject(number, forKey: "a") { _ in order.append("stored \(number)") }
      storage.async.object(forKey: "a") { result in order.append("read \((try? result.get()) ?? nil ?? -1)") }
    }
    storage.async.removeObject(forKey: "a") { _ in order.append("removed") }
    storage.async.object(forKey: "a") { result in
      order.append("read \((try? result.get()) ?? nil ?? -1)")
      ended.continuation.finish()
    }
    for await _ in ended.stream {}
    #expect(order.all == (0..<50).flatMap { ["stored \($0)", "read \($0)"] } + ["removed", "read -1"])
    try storage.close()
  }

  @Test("H49 every request of the callback face is answered")
  func allCallbacks() async throws {
    let storage = try bench.open()
    let face = storage.async
    try await result { face.setObject(bench.ada, forKey: "a", expiry: .seconds(1), completion: $0) }
    #expect(try await result { face.object(forKey: "a", completion: $0) } == bench.ada)
    #expect(try await result { face.entry(forKey: "a", completion: $0) }?.level == "memory")
    #expect(try await result { face.objectExists(forKey: "a", completion: $0) })
    bench.clock.advance(by: .seconds(1))
    #expect(try await result { face.removeExpiredObjects(completion: $0) } == 2)
    #expect(try await result { face.objectExists(forKey: "a", completion: $0) } == false)
    try await result { face.setObject(bench.ada, forKey: "b", completion: $0) }
    try await result { face.removeObject(forKey: "b", completion: $0) }
    try await result { face.setObject(bench.ada, forKey: "c", completion: $0) }
    try await result { face.removeAll(completion: $0) }
    #expect(try storage.allKeys == [])
    try storage.close()
  }

  @Test(
    "H50 H51 the awaited face reads what it stored, and exists answers false for a missing key",
    arguments: StorageBench.Tiers.allCases)
  func awaited(tiers: StorageBench.Tiers) async throws {
    let storage = try bench.open(tiers)
    let face = storage.async
    try await face.setObject(bench.ada, forKey: "a")
    try await face.setObject(bench.ada, forKey: "b", expiry: .seconds(1))
    #expect(try await face.object(forKey: "a") == bench.ada)
    #expect(try await face.entry(forKey: "b")?.deadline == bench.clock.now.advanced(by: .seconds(1)))
    #expect(try await face.objectExists(forKey: "a"))
    #expect(try await face.objectExists(forKey: "missing") == false)
    bench.clock.advance(by: .seconds(1))
    #expect(try await face.removeExpiredObjects() == (tiers == .both ? 2 : 1))
    try await face.removeInMemoryObject(forKey: "a")
    #expect(try await face.object(forKey: "a") == (tiers == .memory ? nil : bench.ada))
    try await face.setObject(bench.grace, forKey: "c")
    try await face.removeObject(forKey: "c")
    #expect(try await face.allKeys() == (tiers == .memory ? [] : ["a"]))
    try await face.removeAll()
    #expect(try await face.objectExists(forKey: "a") == false)
    try await face.close()
  }

  @Test("H50 a cancelled task is told so, and leaves the storage usable")
  func cancellation() async throws {
    let storage = try bench.open(User.self, memory: nil)
    let gate = Gate()
    let task = Task {
      try? await gate.pass()
      try await storage.async.setObject(bench.ada, forKey: "a")
    }
    await gate.arrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try storage.setObject(bench.grace, forKey: "a")
    #expect(try storage.object(forKey: "a") == bench.grace)
    try storage.close()
  }

  @Test(
    "H53 the blocking face may be called from completions, observers, transformers and tasks",
    arguments: StorageBench.Tiers.allCases)
  func reentrancy(tiers: StorageBench.Tiers) async throws {
    let storage = try bench.open(tiers, Int.self)
    let witness = Witness<Int>()
    storage.addStorageObserver(witness) { witness, change in
      guard case .add(let key) = change, let value = try? storage.object(forKey: key) else { return }
      witness.see(value)
      if value < 3 { try? storage.setObject(value + 1, forKey: key) }
    }
    storage.addObserver(witness, forKey: "a") { _, _ in _ = try? storage.object(forKey: "b") }
    try storage.setObject(1, forKey: "a")
    #expect(witness.take() == [1, 2, 3])
    try await storage.async.setObject(1, forKey: "a")
    #expect(witness.take() == [1, 2, 3])
    let read: Int? = try await result { finish in
      storage.async.setObject(3, forKey: "b") { _ in
        finish(
          Result {
            try storage.setObject(7, forKey: "c")
            return try storage.object(forKey: "c")
          })
      }
    }
    #expect(read == 7)
    let nosy = storage.transform(
      by: Transformer<String>(
        name: "nosy", toData: { Data("\((try storage.object(forKey: "c")) ?? 0) \($0)".utf8) },
        fromData: { bytes in
          try storage.setObject(8, forKey: "c")
          return String(decoding: bytes, as: UTF8.self)
        }))
    try await nosy.async.setObject("n", forKey: "n")
    #expect(
      try await nosy.transformData().transform(by: TransformerFactory.forData()).async.object(forKey: "n")
        == Data("7 n".utf8) || tiers == .memory)
    try await storage.async.close()
  }

  @Test("H53 an awaited call goes on where it was called, so that blocking after it blocks nobody else")
  func resumesWhereCalled() async throws {
    let storage = try bench.open(Int.self, memory: nil)
    try await withThrowingTaskGroup { group in
      for number in 0..<16 {
        group.addTask {
          for round in 0..<20 {
            try await storage.async.setObject(round, forKey: "\(number)")
            let value = try storage.object(forKey: "\(number)")
            #expect(value == round)
          }
        }
      }
      try await group.waitForAll()
    }
    try storage.close()
  }

  @Test("H54 requests that wait when the storage is let go of end with an error that says so")
  func deallocated() async throws {
    var storage: Storage<String, Int>? = try bench.inMemory(Int.self)
    let (isReached, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let answers = AsyncStream.makeStream(of: String.self)
    storage?.async.setObject(1, forKey: "a") { _ in
      isReached.signal()
      mayGoOn.wait()
    }
    for _ in 0..<3 {
      storage?.async.object(forKey: "a") { result in
        switch result {
        case .success: answers.continuation.yield("answered")
        case .failure(let error): answers.continuation.yield((error as? CacheError)?.code.rawValue ?? "\(error)")
        }
      }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        isReached.wait()
        continuation.resume()
      }
    }
    storage = nil
    mayGoOn.signal()
    var seen: [String] = []
    for await answer in answers.stream {
      seen.append(answer)
      // The first one was being carried out: its storage lives until its completion has returned.
      if seen.count == 3 { break }
    }
    #expect(seen == ["deallocated", "deallocated", "deallocated"])
  }
}
