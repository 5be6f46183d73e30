import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

/// Where a level runs that somebody asks from an actor.
///
/// To leave the actor and to come back costs two switches of threads, a hundred times a hit.
@Suite struct CallerActorTests {
  /// Notes whether it is asked on the main actor.
  private final class Witness: CacheLevel {
    let name = "witness"
    let places = Mutex<[Bool]>([])

    private func note(_ isolation: (any Actor)?) { places.withLock { $0.append(isolation === MainActor.shared) } }

    func get(_ key: String) async throws -> Int? {
      note(#isolation)
      return 1
    }

    func lookup(_ key: String) async throws -> Lookup<Int> {
      note(#isolation)
      return .hit(Entry(1, level: name))
    }

    func store(_ value: Int, forKey key: String, terms: StoreTerms) async throws { note(#isolation) }
    func set(_ value: Int, forKey key: String) async throws { note(#isolation) }
    func remove(_ key: String) async throws { note(#isolation) }
    func clear() async throws { note(#isolation) }
    func onMemoryWarning() async { note(#isolation) }
  }

  private func use(_ cache: some CacheLevel<String, Int>) async throws {
    _ = try await cache.get("a")
    _ = try await cache.lookup("a")
    try await cache.set(1, forKey: "a")
    try await cache.remove("a")
    try await cache.clear()
    await cache.onMemoryWarning()
  }

  @Test("a traced and observed level is asked where its caller is")
  @MainActor
  func observed() async throws {
    let witness = Witness()
    let observer = CacheStatistics()
    try await use(witness.observed(as: "witness", by: observer).traced(by: observer))
    #expect(witness.places.withLock { $0 } == Array(repeating: true, count: 6))
  }

  @Test("so is one below operators that need not wait")
  @MainActor
  func operators() async throws {
    let witness = Witness()
    let cache = witness.conditioned { _ in true }.capRequests(4).transformKeys { (key: String) in key }
    try await use(cache)
    #expect(witness.places.withLock { $0 } == Array(repeating: true, count: 6))
  }
}
