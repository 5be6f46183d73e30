#if Combine || canImport(Combine)
import CacheEngine
import CacheEngineCombine
import CacheEngineTesting
import Dispatch
import Testing

#if canImport(Combine)
import Combine

@MainActor private let mainQueue = DispatchQueue.main
#else
import OpenCombine
import OpenCombineDispatch

@MainActor private let mainQueue = DispatchQueue.main.ocombine
#endif

/// Publishers made where nobody is isolated, as in a plain class that wraps a cache.
private struct Repository: Sendable {
  let level = ScriptedLevel<String, Int>(onGet: { key in .hit(Entry(key.count)) })

  func anywhere() -> LevelPublisher<Int> { level.publisher(for: "abc") }
  func onMain() -> LevelPublisher<Int> { level.publisher(for: "abc", on: MainActor.shared) }
}

// Swift stops the process when a closure that belongs to the main actor is called elsewhere. All closures here do,
// none is marked in any way, as an application would write them.
@MainActor @Suite(.timeLimit(.minutes(10))) final class MainActorTests {
  let level = ScriptedLevel<String, Int>(onGet: { key in .hit(Entry(key.count)) })
  var values: [Int] = []
  var cancellables: Set<AnyCancellable> = []

  @Test("made on the main actor, a publisher calls the plain closures of operators and sink there")
  func plainSink() async {
    await withCheckedContinuation { continuation in
      level.publisher(for: "abc")
        .map { value in
          MainActor.assertIsolated()
          return value * 2
        }
        .sink(receiveCompletion: { _ in continuation.resume() }, receiveValue: { self.values.append($0) })
        .store(in: &cancellables)
    }
    #expect(values == [6])
  }

  @Test("the answer never comes inside sink")
  func comesLater() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    try await memory.set(1, forKey: "a")
    await withCheckedContinuation { continuation in
      memory.publisher(for: "a")
        .sink(receiveCompletion: { _ in continuation.resume() }, receiveValue: { self.values.append($0) })
        .store(in: &cancellables)
      #expect(values.isEmpty)
    }
    #expect(values == [1])
  }

  @Test("made elsewhere, a publisher comes to the main actor by receive(on:)")
  func receiveOn() async {
    await withCheckedContinuation { continuation in
      Repository().anywhere()
        .receive(on: mainQueue)
        .map { $0 * 2 }
        .sink(receiveCompletion: { _ in continuation.resume() }, receiveValue: { self.values.append($0) })
        .store(in: &cancellables)
    }
    #expect(values == [6])
  }

  @Test("made elsewhere for the main actor, a publisher needs no receive(on:)")
  func madeForMain() async {
    await withCheckedContinuation { continuation in
      Repository().onMain()
        .map { $0 * 2 }
        .sink(receiveCompletion: { _ in continuation.resume() }, receiveValue: { self.values.append($0) })
        .store(in: &cancellables)
    }
    #expect(values == [6])
  }

  @Test("writes, removals, clears and look-ups answer on the main actor as well")
  func everyPublisher() async {
    for publisher in [level.setPublisher(1, forKey: "a"), level.removePublisher("a"), level.clearPublisher()] {
      await withCheckedContinuation { continuation in
        publisher
          .sink(receiveCompletion: { _ in continuation.resume() }, receiveValue: { self.values.append(0) })
          .store(in: &cancellables)
      }
    }
    await withCheckedContinuation { continuation in
      level.lookupPublisher(for: "abc")
        .sink(
          receiveCompletion: { _ in continuation.resume() },
          receiveValue: { self.values.append($0.entry?.value ?? -1) }
        )
        .store(in: &cancellables)
    }
    #expect(values == [0, 0, 0, 3])
  }

  @Test("C4 on the main actor nothing at all arrives after a cancel, however close the race")
  func cancelIsFinal() async throws {
    for round in 0..<1_000 {
      let lifetime = Lifetime()
      var isCancelled = false
      let cancellable = subscribe(token: lifetime.token()) {
        #expect(!isCancelled)
      }
      for _ in 0..<(round % 16) { await Task.yield() }
      cancellable.cancel()
      isCancelled = true
      // The task that delivers, if it still wants to, ends before the level is gone.
      try await lifetime.end()
    }
  }

  private func subscribe(token: Lifetime.Token, _ called: @escaping () -> Void) -> AnyCancellable {
    ScriptedLevel<String, Int>(onGet: { key in
      defer { withExtendedLifetime(token) {} }
      return .hit(Entry(key.count))
    })
    .publisher(for: "a")
    .sink(receiveCompletion: { _ in called() }, receiveValue: { _ in called() })
  }
}

@Suite(.timeLimit(.minutes(10))) struct ActorTests {
  private actor Counter {
    private let level = ScriptedLevel<String, Int>(onGet: { key in .hit(Entry(key.count)) })
    private var values: [Int] = []
    private var cancellables: Set<AnyCancellable> = []

    func count(_ key: String) async -> [Int] {
      await withCheckedContinuation { continuation in
        level.publisher(for: key)
          .map { value in
            self.assertIsolated()
            return value
          }
          .sink(receiveCompletion: { _ in continuation.resume() }, receiveValue: { self.values.append($0) })
          .store(in: &cancellables)
      }
      return values
    }
  }

  @Test("made on an actor, a publisher calls plain closures on that actor")
  func actor() async {
    let counter = Counter()
    #expect(await counter.count("abc") == [3])
    #expect(await counter.count("a") == [3, 1])
  }
}
#endif
