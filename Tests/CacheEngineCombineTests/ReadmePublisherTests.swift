#if Combine || canImport(Combine)
import CacheEngine
import CacheEngineCombine
import Testing

/// The code with publishers of *Coming from Carlos* and of the product's first page, compiled and run, which `PagesTests` finds here.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ReadmePublisherTests {
  /// As such caches are: a class that says nothing of threads.
  private final class Names {
    var asked = 0

    func get(_ key: String) -> AnyPublisher<String, any Error> {
      asked += 1
      return Just(key.uppercased()).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
  }

  @Test("a cache of publishers becomes a level, and a level is read through publishers")
  func publishers() async throws {
    let oldCache = Names()
    var cancellables: Set<AnyCancellable> = []
    var shown: String?
    var done: (() -> Void)?
    func show(_ name: String) { shown = name }
    func report(_ completion: Subscribers.Completion<any Error>) { done?() }
    // README
    let names = MemoryCacheLevel<String, String>()
      .compose(PublisherFetcher(on: MainActor.shared) { (key: String) in oldCache.get(key) })

    names.publisher(for: "ada")
      .map { name in "Hello, \(name)!" }
      .sink(receiveCompletion: { report($0) }, receiveValue: { show($0) })
      .store(in: &cancellables)
    // end
    await withCheckedContinuation { continuation in done = { continuation.resume() } }
    #expect(shown == "Hello, ADA!")
    #expect(names.peek("ada") == "ADA")
    #expect(oldCache.asked == 1)
  }

  @Test("what a level has is shown, and what it stores is waited for, through publishers")
  func levels() async throws {
    let memory = MemoryCacheLevel<String, String>()
    var cancellables: Set<AnyCancellable> = []
    var shown: [String] = []
    var done: (() -> Void)?
    func show(_ name: String) { shown.append(name) }
    func report(_ completion: Subscribers.Completion<any Error>) { done?() }
    // Article
    memory.setPublisher("Ada", forKey: "user")
      .flatMap { memory.publisher(for: "user") }
      .sink(receiveCompletion: { report($0) }, receiveValue: { show($0) })
      .store(in: &cancellables)
    // end
    await withCheckedContinuation { continuation in done = { continuation.resume() } }
    #expect(shown == ["Ada"])
  }

  @Test("each call of Carlos has its counterpart, with publishers and with async")
  func counterparts() async throws {
    let cache = MemoryCacheLevel<String, Int>()
    try await cache.set(1, forKey: "k", expiry: .after(.seconds(60)))
    #expect(try await cache.require("k") == 1)
    #expect(try await cache.get("k") == 1)
    try await cache.remove("k")
    try await cache.clear()
    try await finish(cache.setPublisher(1, forKey: "k", expiry: .after(.seconds(60))))
    try await finish(cache.publisher(for: "k"))
    try await finish(cache.lookupPublisher(for: "k"))
    try await finish(cache.removePublisher("k"))
    try await finish(cache.clearPublisher())
    #expect(try await cache.get("k") == nil)
  }

  private func finish(_ publisher: LevelPublisher<some Sendable>) async throws {
    var subscription: AnyCancellable?
    try await withCheckedThrowingContinuation { continuation in
      subscription = publisher.sink(
        receiveCompletion: { completion in
          switch completion {
          case .finished: continuation.resume()
          case .failure(let error): continuation.resume(throwing: error)
          }
        }, receiveValue: { _ in })
    }
    withExtendedLifetime(subscription) {}
  }
}
#endif
