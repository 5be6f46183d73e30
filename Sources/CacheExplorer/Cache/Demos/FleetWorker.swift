import CacheEngine
import CacheEngineInspector
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

#if Redis
/// One of the three processes of the demonstration `fleet`: memory over what all share, and a slow source that one of them asks
/// for all.
package struct FleetWorker: Sendable {
  let name: String
  let seed: UInt64
  let redis: String
  let socket: String

  private static let keys = 24
  /// Everybody wants the news, and they are news every five seconds.
  private static let newsEvery: Int64 = 5

  /// Describes a worker.
  ///
  /// `redis`: The server's socket.
  /// `socket`: Where the cache is served.
  package init(name: String, seed: UInt64, redis: String, socket: String) {
    (self.name, self.seed, self.redis, self.socket) = (name, seed, redis, socket)
  }

  /// Works until standard input ends.
  package func run() async throws {
    let inspector = CacheInspector()
    let store = RedisStore(try RedisSettings(url: "redis+unix://\(redis)"))
    let shared = try SharedCacheLevel<String, Data>(
      store, namespace: "demo", name: "redis", expiry: .after(.seconds(90)), keyCoding: .canonicalText,
      valueCoding: .data)
    let source = BasicFetcher<String, Data>(name: "source") { key in
      try await ContinuousClock().sleep(for: .milliseconds(key.hasPrefix("news") ? 600 : 80))
      return Data("\(key) as the source has it".utf8)
    }
    let cache = Self.stack(shared, in: store, below: inspector, from: source).traced(by: inspector)
    let serving = try CacheInspector.serve(cache, at: socket, name: name, allowsWrites: true)
    let asking = Task { await ask(cache) }
    await Self.waitForEndOfInput()
    asking.cancel()
    await asking.value
    serving.close()
    store.close()
  }

  /// Not specialised: that would compile levels for this stack alone, which is asked some forty times a second.
  @_semantics("optimize.sil.specialize.generic.never")
  private static func stack<Value: Sendable & CostRepresentable>(
    _ shared: SharedCacheLevel<String, Value>, in store: RedisStore, below inspector: CacheInspector,
    from source: BasicFetcher<String, Value>
  ) -> BasicCache<String, Value> {
    let memory = MemoryCacheLevel<String, Value>(
      name: "memory", capacity: 64 << 10, expiry: .after(.seconds(60)),
      removalListener: inspector.removals(from: "memory"))
    return memory.observed(as: "memory", by: inspector).normalize()
      .compose(
        source.observed(as: "source", by: inspector).normalize().sharedPool(shared, observer: inspector).normalize(),
        coherence: Coherence(store, of: shared), observer: inspector
      )
      .normalize()
  }

  private func ask(_ cache: some CacheLevel<String, Data>) async {
    var generator = SeededGenerator(seed: seed)
    var turn = 0
    while !Task.isCancelled {
      turn += 1
      // Low numbers far more often than high ones.
      let place = Double.random(in: 0..<1, using: &generator)
      let key = "item:\(Int(place * place * Double(Self.keys)))"
      do {
        if turn.isMultiple(of: 40) {
          try await cache.set(Data("\(key) by \(name), change \(turn / 40)".utf8), forKey: key)
        } else {
          _ = try await cache.get(key)
        }
        let second = Int64(Date().timeIntervalSince1970) / Self.newsEvery
        _ = try await cache.get("news:\(second)")
      } catch {
        // The cache has told its observer.
      }
      do { try await ContinuousClock().sleep(for: .milliseconds(50)) } catch { return }
    }
  }

  /// The lifeline from the process that started this one.
  private static func waitForEndOfInput() async {
    do {
      try await BlockingWork.run {
        var byte: UInt8 = 0
        while unsafe read(STDIN_FILENO, &byte, 1) > 0 {}
      }
    } catch {
      // Nothing in it throws.
    }
  }
}
#endif
