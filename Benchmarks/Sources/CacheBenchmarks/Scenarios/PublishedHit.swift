import CacheEngine
import CacheEngineCombine

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

extension CacheBenchmarks {
  /// What the way through a publisher costs, beside the same hit by `await`.
  static func publishedHit(rounds: Int) async throws -> Comparison {
    let memory = MemoryCacheLevel<Int, Int>(capacity: 4_096)
    try await memory.set(1, forKey: 1)
    let source = PublisherFetcher { (key: Int) in Just(key) }
    var comparison = Comparison(
      title: "a hit through publishers, one after the other", operations: 20_000, rounds: rounds)
    comparison.add("memory.get") { for _ in 0..<$0 { blackHole(try await memory.get(1)) } }
    comparison.add("await Task { memory.get }.value") {
      for _ in 0..<$0 { blackHole(try await Task { try await memory.get(1) }.value) }
    }
    comparison.add("memory.publisher(for:).sink, awaited") {
      for _ in 0..<$0 { await sink(memory.publisher(for: 1, on: nil)) }
    }
    comparison.add("PublisherFetcher { Just }.get") { for _ in 0..<$0 { blackHole(try await source.get(1)) } }
    return comparison
  }

  private static func sink(_ publisher: LevelPublisher<Int>) async {
    var subscription: AnyCancellable?
    await withUnsafeContinuation { continuation in
      subscription = publisher.sink(
        receiveCompletion: { _ in continuation.resume() }, receiveValue: { blackHole($0) })
    }
    withExtendedLifetime(subscription) {}
  }
}
