import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Testing

extension CoherentLevelTests {
  @Test(
    "a pool around it lets nobody join a load from before a change that was heard",
    arguments: ["key", "tag", "other keys"])
  func poolAround(_ how: String) async throws {
    let (here, there) = try await twoProcesses()
    try await there.cache.store(1, forKey: "a", terms: StoreTerms(tags: ["x"]))
    let answers = Gate()
    let slow = HoldingLevel(base: here.shared, gate: answers)
    let cache = here.memory.compose(slow, coherence: Coherence(here.client, of: here.shared), observer: nil)
    try await turns { cache.coherence.deafSince == nil }
    let observer = RecordingObserver()
    let key = how == "other keys" ? "=a" : "a"
    let level = how == "other keys" ? cache.transformKeys { String($0.dropFirst()) }.normalize() : cache.normalize()
    let pool = level.pooled(observer: observer)
    let early = Task { try await pool.get(key) }
    await answers.arrivals(1)
    if how == "tag" { try await there.cache.removeAll(tagged: "x") } else { try await there.cache.set(2, forKey: "a") }
    try await turns { cache.coherence.keys + cache.coherence.tags > 0 }
    let before = observer.events.count
    let late = Task { try await pool.get(key) }
    try await turns { observer.events.count > before }
    answers.open()
    let now = how == "tag" ? nil : 2
    #expect(try await late.value == now)
    // The one from before may find what the other one brought.
    #expect([1, now].contains(try await early.value))
  }
}
