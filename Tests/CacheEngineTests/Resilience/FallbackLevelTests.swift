import CacheEngine
import CacheEngineTesting
import Testing

@Suite struct FallbackLevelTests {
  let observer = RecordingObserver()
  let level = ScriptedLevel<String, Int> { key in
    switch key {
    case "held": .hit(Entry(1))
    case "down": throw CacheError(.simulated, "down")
    case "cancelled": throw CancellationError()
    default: .miss(.absent)
    }
  }

  @Test("a fallback answers misses and errors, and leaves hits and cancellation alone")
  func answers() async throws {
    let cache = level.fallback(name: "placeholder", observer: observer) { key, error in error == nil ? 10 : 20 }
    #expect(try await cache.get("held") == 1)
    #expect(try await cache.get("missing") == 10)
    #expect(try await cache.get("down") == 20)
    #expect(try await cache.lookup("down").entry?.level == "placeholder")
    await #expect(throws: CancellationError.self) { try await cache.get("cancelled") }
    #expect(observer.events.count { if case .operated(.fellBack) = $0.kind { true } else { false } } == 3)
    #expect(!level.calls.contains(.set("missing", .set)))
  }

  @Test("where the fallback has nothing, the miss or the error stands")
  func nothing() async throws {
    let cache = level.fallback { _, _ in nil }
    #expect(try await cache.lookup("missing").missReason == .absent)
    let error = await #expect(throws: CacheError.self) { try await cache.get("down") }
    #expect(error?.code == .simulated)
  }

  @Test("a fallback that fails fails the read with its own error")
  func fails() async {
    struct Broken: Error {}
    let cache = level.fallback { _, _ in throw Broken() }
    await #expect(throws: Broken.self) { try await cache.get("missing") }
  }
}
