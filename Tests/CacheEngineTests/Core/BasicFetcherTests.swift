import CacheEngine
import CacheEngineTesting
import Testing

@Suite struct BasicFetcherTests {
  @Test("C10 C11 a fetcher takes every write and keeps nothing")
  func readOnly() async throws {
    let fetcher = BasicFetcher<String, Int>(name: "length") { $0.isEmpty ? nil : $0.count }
    try await fetcher.set(100, forKey: "four")
    #expect(try await fetcher.get("four") == 4)
    #expect(try await fetcher.lookup("").missReason == .absent)
    try await fetcher.remove("four")
    try await fetcher.clear()
    await fetcher.onMemoryWarning()
    #expect(try await fetcher.removeAll { _ in true } == 0)
    #expect(try await fetcher.removeAll(tagged: "any") == 0)
    #expect(try await fetcher.get("four") == 4)
  }

  @Test("C103 C104 normalising a fetcher keeps its name, its reasons and its being one")
  func normalises() async throws {
    let origin = SimulatedOrigin(name: "origin", latency: .zero ... .zero, missing: 1, clock: ManualClock())
    let fetcher = origin.normalizeFetcher()
    #expect(fetcher.name == "origin")
    #expect(try await fetcher.lookup("a").missReason == .absent)
    #expect(fetcher.normalizeFetcher() === fetcher)
  }

  @Test("a fetcher whose type is hidden answers every question as before")
  func answersAlike() async throws {
    struct Old: Fetcher {
      let warned: Gate
      func get(_ key: String) async throws -> Int? { nil }
      func lookupIncludingExpired(_ key: String) async throws -> Lookup<Int> {
        var entry = Entry(1)
        entry.isStale = true
        return .hit(entry)
      }
      func peek(_ key: String) -> Int? { key == "at once" ? 2 : nil }
      func onMemoryWarning() async { warned.open() }
    }
    let warned = Gate()
    let fetcher = Old(warned: warned).normalizeFetcher()
    #expect(try await fetcher.lookupIncludingExpired("a").entry?.isStale == true)
    #expect(fetcher.peek("at once") == 2)
    let doubled = Old(warned: warned).transformValues(OneWayTransformationBox<Int, Int> { $0 * 2 })
    #expect(try await doubled.lookupIncludingExpired("a").entry?.value == 2)
    await fetcher.onMemoryWarning()
    try await warned.pass()
  }
}
