#if Combine || canImport(Combine)
import CacheEngine
import CacheEngineCombine
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite(.timeLimit(.minutes(10))) struct PublisherFetcherTests {
  struct Broken: Error {}

  @Test("C1 C2 a read makes the publisher for its key, once, and gives its value")
  func value() async throws {
    let keys = Mutex<[String]>([])
    let source = PublisherFetcher { (key: String) in
      keys.withLock { $0.append(key) }
      return Just(key.count)
    }
    #expect(keys.withLock { $0 }.isEmpty)
    #expect(try await source.get("abc") == 3)
    #expect(keys.withLock { $0 } == ["abc"])
  }

  @Test("a source that is made on an actor is asked there, from wherever it is read")
  @MainActor
  func onActor() async throws {
    let asked = Asked()
    let source = PublisherFetcher(on: MainActor.shared) { (key: String) in
      MainActor.assertIsolated()
      asked.keys.append(key)
      return Just(key.count)
    }
    let answer = Task.detached { try await source.normalizeFetcher().get("abc") }
    #expect(try await answer.value == 3)
    #expect(asked.keys == ["abc"])
  }

  /// A class that says nothing of threads.
  private final class Asked {
    var keys: [String] = []
  }

  @Test("a publisher that finishes without a value is a miss")
  func miss() async throws {
    let source = PublisherFetcher { (_: String) in Empty<Int, Never>() }
    #expect(try await source.lookup("a").missReason == .absent)
  }

  @Test("C3 a publisher that fails fails the read with its own error")
  func failure() async {
    let source = PublisherFetcher { (_: String) in Fail<Int, Broken>(error: Broken()) }
    await #expect(throws: Broken.self) { try await source.get("a") }
  }

  @Test("the first value wins, and the publisher is not asked for more")
  func firstValue() async throws {
    let probe = ProbePublisher()
    let source = PublisherFetcher { (_: String) in probe }
    async let answer = source.get("a")
    try await probe.subscribed.pass()
    #expect(probe.demanded == .max(1))
    // A publisher that oversteps the demand, and goes on after it was cancelled.
    probe.send(1)
    probe.send(2)
    probe.send(completion: .failure(Broken()))
    #expect(try await answer == 1)
    #expect(probe.cancellations == 1)
  }

  @Test("C4 cancelling the task that reads cancels the subscription, once")
  func cancels() async throws {
    let probe = ProbePublisher()
    let source = PublisherFetcher { (_: String) in probe }
    let reading = Task { try await source.get("a") }
    try await probe.subscribed.pass()
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    #expect(probe.cancellations == 1)
    probe.send(1)
  }

  @Test("C4 in a task that is cancelled already no publisher is made")
  func cancelledBefore() async {
    let made = Tally()
    let source = PublisherFetcher { (_: String) in
      made.add()
      return Just(1)
    }
    let reading = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await source.get("a")
    }
    await #expect(throws: CancellationError.self) { try await reading.value }
    #expect(made.count == 0)
  }

  @Test("C4 a task that is cancelled while the publisher is made does not wait for it")
  func cancelledWhileMaking() async {
    let probe = ProbePublisher()
    let source = PublisherFetcher { (_: String) in
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return probe
    }
    let reading = Task { try await source.get("a") }
    await #expect(throws: CancellationError.self) { try await reading.value }
    #expect(probe.cancellations == 1)
    #expect(probe.demanded == .none)
  }

  @Test("C4 when a cancel races with the value the read ends once, with either")
  func races() async throws {
    for round in 0..<1_000 {
      let probe = ProbePublisher()
      let source = PublisherFetcher { (_: String) in probe }
      let reading = Task { try await source.get("a") }
      try await probe.subscribed.pass()
      async let send: Void = probe.send(1)
      async let cancel: Void = cancel(reading, afterYields: round % 4)
      _ = await (send, cancel)
      switch await reading.result {
      case .success(let value): #expect(value == 1)
      case .failure(let error): #expect(error is CancellationError)
      }
      #expect(probe.cancellations == 1)
    }
  }

  private func cancel(_ reading: Task<Int?, any Error>, afterYields count: Int) async {
    for _ in 0..<count { await Task.yield() }
    reading.cancel()
  }

  @Test("C10 C11 storing and removing succeed and reach nobody")
  func writes() async throws {
    let made = Tally()
    let source = PublisherFetcher { (_: String) in
      made.add()
      return Just(1)
    }
    try await source.set(2, forKey: "a")
    try await source.remove("a")
    try await source.clear()
    await source.onMemoryWarning()
    #expect(made.count == 0)
    #expect(try await source.get("a") == 1)
  }

  @Test("under a memory level it is asked once for each key")
  func composes() async throws {
    let keys = Mutex<[String]>([])
    let cache = MemoryCacheLevel<String, Int>().compose(
      PublisherFetcher { (key: String) in
        keys.withLock { $0.append(key) }
        return Just(key.count)
      })
    for _ in 0..<3 { #expect(try await cache.require("abc") == 3) }
    #expect(keys.withLock { $0 } == ["abc"])
  }

  @Test("C4 a level published and fetched again hands values, misses and cancels through")
  func roundTrip() async throws {
    let (gate, cancelled) = (Gate(), Gate())
    let level = ScriptedLevel<String, Int>(onGet: { key in
      if key == "hit" { return .hit(Entry(3)) }
      if key == "miss" { return .miss(.absent) }
      do { try await gate.pass() } catch {
        cancelled.open()
        throw error
      }
      return .miss(.absent)
    })
    let source = PublisherFetcher { (key: String) in level.publisher(for: key, on: nil) }
    #expect(try await source.get("hit") == 3)
    let error = await #expect(throws: CacheError.self) { try await source.get("miss") }
    #expect(error?.code == .valueNotInCache)
    let reading = Task { try await source.get("wait") }
    await gate.arrivals(1)
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    try await cancelled.pass()
  }
}

/// A publisher that sends what a test says, to its one subscriber, without minding demand or cancellation.
private final class ProbePublisher: Publisher, Sendable {
  typealias Output = Int
  typealias Failure = any Error

  private struct Downstream: @unchecked Sendable {  // a test sends from one thread at a time
    let subscriber: AnySubscriber<Int, any Error>
  }

  private final class Probe: Subscription, Sendable {
    let publisher: ProbePublisher

    init(publisher: ProbePublisher) { self.publisher = publisher }

    func request(_ demand: Subscribers.Demand) { publisher.state.withLock { $0.demanded += demand } }
    func cancel() { publisher.state.withLock { $0.cancellations += 1 } }
  }

  private struct State {
    var downstream: Downstream?
    var demanded = Subscribers.Demand.none
    var cancellations = 0
  }

  let subscribed = Gate()
  private let state = Mutex(State())

  var demanded: Subscribers.Demand { state.withLock { $0.demanded } }
  var cancellations: Int { state.withLock { $0.cancellations } }

  func receive(subscriber: some Subscriber<Int, any Error>) {
    let downstream = Downstream(subscriber: AnySubscriber(subscriber))
    state.withLock { $0.downstream = downstream }
    subscriber.receive(subscription: Probe(publisher: self))
    subscribed.open()
  }

  func send(_ value: Int) { _ = state.withLock { $0.downstream }?.subscriber.receive(value) }

  func send(completion: Subscribers.Completion<any Error>) {
    state.withLock { $0.downstream }?.subscriber.receive(completion: completion)
  }
}
#endif
