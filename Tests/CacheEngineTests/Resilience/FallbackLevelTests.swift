import CacheEngine
import CacheEngineTesting
import Synchronization
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

  @Test("what stands in for a value that cannot be read keeps no loaded one from being stored")
  func loads() async throws {
    let isDown = Atomic(false)
    let level = ScriptedLevel<String, Int> { _ in
      if isDown.load(ordering: .relaxed) { throw CacheError(.simulated, "down") }
      return .miss(.absent)
    }
    let cache = level.fallback { _, error in error == nil ? nil : 0 }
    let value = try await cache.value(forKey: "a") { _ in
      isDown.store(true, ordering: .relaxed)
      return .value(1)
    }
    #expect(value == 1)
    #expect(level.calls.contains(.set("a", .set)))
  }
}
