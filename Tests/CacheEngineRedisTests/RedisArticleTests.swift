#if Redis
import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import Foundation
import TestRedis
import Testing

/// The code of the article about several processes, compiled and run over a server; `PagesTests` finds it here.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct RedisArticleTests {
  private let origin = ScriptedLevel<String, Data> { key in .hit(Entry(Data(key.utf8))) }

  /// Only compiled, since a test's server is not at this place.
  private func settings() throws -> RedisStore {
    // Article
    let redis = RedisStore(try RedisSettings(url: "redis://localhost"))
    // end
    return redis
  }

  private func settingsWithTLS() throws -> RedisSettings {
    // Article
    var settings = try RedisSettings(url: "rediss://cache.example.com")
    settings.tls = .init(authorities: "ca.pem", certificate: "client.pem", privateKey: "client.key")
    // end
    return settings
  }

  private func settings(token: @escaping @Sendable () async throws -> String) throws -> RedisSettings {
    // Article
    var settings = try RedisSettings(url: "rediss://cache.example.com")
    settings.credentials = { RedisSettings.Credentials(user: "app", password: try await token()) }
    // end
    return settings
  }

  @Test("the stacks of the article read from the source once, and share what they read")
  func stacks() async throws {
    let server = try await TestRedis()
    let redis = server.store()
    // Article
    let shared = try SharedCacheLevel<String, Data>(
      redis, namespace: "photos", expiry: .after(.seconds(3_600)), valueCoding: .data)
    let memory = MemoryCacheLevel<String, Data>(capacity: 64 << 20)

    let photos = memory.compose(
      origin.sharedPool(shared, lease: .seconds(5)),
      coherence: Coherence(redis, of: shared, whileDeaf: .serve(for: .seconds(5))))
    // end
    #expect(try await photos.get("a") == Data("a".utf8))
    #expect(try await shared.get("a") == Data("a".utf8))
    do {
      let memory = MemoryCacheLevel<String, Data>(capacity: 64 << 20)
      // Article
      let careful = shared.timeout(after: .milliseconds(50), writes: .milliseconds(50)).circuitBreaker().optional()
      let photos = memory.compose(careful, coherence: Coherence(redis, of: shared)).compose(origin)
      // end
      #expect(try await photos.get("b") == Data("b".utf8))
    }
    #expect(origin.calls.count == 2)
  }
}
#endif
