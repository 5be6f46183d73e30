#if Combine || canImport(Combine)
import CacheEngine
import CacheEngineCombine
import CacheEngineTesting
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite(.timeLimit(.minutes(10))) struct LevelSubscriptionTests {
  let lifetime = Lifetime()
  let gate = Gate()
  let asked = Tally()

  /// A level that answers when the gate is open, and is gone when nobody needs it for an answer.
  private func held(failing: Bool = false) -> some CacheLevel<String, Int> {
    let token = lifetime.token()
    return ScriptedLevel<String, Int>(onGet: { [gate, asked] _ in
      defer { withExtendedLifetime(token) {} }
      asked.add()
      try await gate.pass()
      if failing { throw CacheError(.simulated, "down") }
      return .hit(Entry(1))
    })
  }

  /// As ``held(failing:)``, for writes.
  private func heldForWriting() -> some CacheLevel<String, Int> {
    let token = lifetime.token()
    return ScriptedLevel<String, Int>(onSet: { [gate] _, _ in
      defer { withExtendedLifetime(token) {} }
      try await gate.pass()
    })
  }

  /// As ``held(failing:)``, but one that goes on after a cancellation until the answer is let out.
  private func stubborn(answer: Gate) -> some CacheLevel<String, Int> {
    let token = lifetime.token()
    return ScriptedLevel<String, Int>(onGet: { [gate] _ in
      defer { withExtendedLifetime(token) {} }
      try? await gate.pass()
      try? await Task { try await answer.pass() }.value
      return .hit(Entry(1))
    })
  }

  @Test("nothing is asked before a value is demanded, and then it is asked once")
  func respectsDemand() async throws {
    let subscriber = RecordingSubscriber<Int>(onSubscription: { _ in })
    let level = ScriptedLevel<String, Int>(onGet: { _ in .hit(Entry(1)) })
    level.publisher(for: "a").subscribe(subscriber)
    #expect(level.calls.isEmpty)
    subscriber.request(1)
    subscriber.request(5)
    #expect(try await subscriber.outcome() == ["value 1", "finished"])
    #expect(level.calls == [.get("a")])
  }

  @Test("a demand of nothing asks nothing")
  func demandsNothing() async throws {
    let subscriber = RecordingSubscriber<Int>(onSubscription: { $0.request(0) })
    held().publisher(for: "a").subscribe(subscriber)
    subscriber.request(0)
    subscriber.cancel()
    // Had a task been started, it would have come to the gate before it let go of the level.
    try await lifetime.end()
    #expect(asked.count == 0)
  }

  @Test("no value comes before the subscriber knows its subscription")
  func opensAfterSubscription() async throws {
    let level = ScriptedLevel<String, Int>(onGet: { _ in .hit(Entry(1)) })
    for _ in 0..<100 {
      let subscriber = RecordingSubscriber<Int>()
      level.publisher(for: "a").subscribe(subscriber)
      #expect(try await subscriber.outcome() == ["value 1", "finished"])
      #expect(!subscriber.overlapped)
    }
  }

  @Test("C4 cancelling a read delivers neither value nor error and cancels the level's work")
  func cancels() async throws {
    let subscriber = RecordingSubscriber<Int>()
    held().publisher(for: "a").subscribe(subscriber)
    await gate.arrivals(1)
    subscriber.cancel()
    // The gate stays shut: only the cancelled task lets go of the level.
    try await lifetime.end()
    #expect(subscriber.calls.isEmpty)
  }

  @Test("C4 dropping what sink returned cancels the level's work")
  func dropping() async throws {
    do {
      let cancellable = held().publisher(for: "a")
        .sink(receiveCompletion: { _ in Issue.record("ended") }, receiveValue: { _ in Issue.record("delivered") })
      await gate.arrivals(1)
      withExtendedLifetime(cancellable) {}
    }
    try await lifetime.end()
  }

  @Test("C6 cancelling a write cancels the level's write")
  func cancelsWrite() async throws {
    let subscriber = RecordingSubscriber<Void>()
    heldForWriting().setPublisher(1, forKey: "a").subscribe(subscriber)
    await gate.arrivals(1)
    subscriber.cancel()
    try await lifetime.end()
    #expect(subscriber.calls.isEmpty)
  }

  @Test("a level that overlooks the cancellation and answers all the same is not heard")
  func answersAfterCancel() async throws {
    let answer = Gate()
    let subscriber = RecordingSubscriber<Int>()
    stubborn(answer: answer).publisher(for: "a").subscribe(subscriber)
    await gate.arrivals(1)
    subscriber.cancel()
    answer.open()
    try await lifetime.end()
    #expect(subscriber.calls.isEmpty)
  }

  @Test("a subscriber that cancels before it demands, or in the same breath, asks nothing", arguments: [false, true])
  func cancelsAtOnce(demandsFirst: Bool) async throws {
    let subscriber = RecordingSubscriber<Int>(onSubscription: { handle in
      if demandsFirst { handle.request(1) }
      handle.cancel()
      handle.request(1)
    })
    held().publisher(for: "a").subscribe(subscriber)
    subscriber.cancel()
    try await lifetime.end()
    #expect(asked.count == 0)
    #expect(subscriber.calls.isEmpty)
  }

  @Test("a subscriber that cancels while it receives the value is not told of the end")
  func cancelsInside() async throws {
    let received = Gate()
    let subscriber = RecordingSubscriber<Int>(onValue: { handle in
      handle.cancel()
      received.open()
      return .unlimited
    })
    gate.open()
    held().publisher(for: "a").subscribe(subscriber)
    try await received.pass()
    subscriber.cancel()
    // An end would come before the task lets go of the level.
    try await lifetime.end()
    #expect(subscriber.calls == ["value 1"])
  }

  @Test("a subscriber that demands more while it receives the value gets the end and no second value")
  func demandsInside() async throws {
    let level = ScriptedLevel<String, Int>(onGet: { _ in .hit(Entry(1)) })
    let subscriber = RecordingSubscriber<Int>(onValue: { handle in
      handle.request(1)
      return .max(1)
    })
    level.publisher(for: "a").subscribe(subscriber)
    #expect(try await subscriber.outcome() == ["value 1", "finished"])
    #expect(level.calls == [.get("a")])
  }

  @Test("after a value and after a failure nothing is kept", arguments: [false, true])
  func keepsNothing(failing: Bool) async throws {
    gate.open()
    let subscriber = RecordingSubscriber<Int>()
    held(failing: failing).publisher(for: "a").subscribe(subscriber)
    #expect(try await subscriber.outcome().count == (failing ? 1 : 2))
    try await lifetime.end()
  }

  @Test("a subscription without demand is gone when it is cancelled")
  func keepsNothingUnasked() async throws {
    let subscriber = RecordingSubscriber<Int>(onSubscription: { _ in })
    held().publisher(for: "a").subscribe(subscriber)
    subscriber.cancel()
    try await lifetime.end()
  }

  @Test("the subscriber is gone once it was told the end")
  func releasesSubscriber() async throws {
    let level = ScriptedLevel<String, Int>(onGet: { _ in .hit(Entry(1)) })
    do {
      let token = lifetime.token()
      let subscriber = RecordingSubscriber<Int>(onValue: { _ in withExtendedLifetime(token) { .none } })
      level.publisher(for: "a").subscribe(subscriber)
      _ = try await subscriber.outcome()
    }
    try await lifetime.end()
  }

  @Test(
    "C4 when a cancel races with the answer there is at most one outcome", arguments: [false, true])
  func races(failing: Bool) async throws {
    for round in 0..<1_000 {
      let lifetime = Lifetime()
      let subscriber = RecordingSubscriber<Int>(onSubscription: { _ in })
      subscribe(subscriber, failing: failing, token: lifetime.token())
      async let demand: Void = subscriber.request(1)
      async let cancel: Void = cancel(subscriber, afterYields: round % 8)
      _ = await (demand, cancel)
      try await lifetime.end()
      let possible = failing ? [[], ["failed down"]] : [[], ["value 1"], ["value 1", "finished"]]
      #expect(possible.contains(subscriber.calls))
      #expect(!subscriber.overlapped)
    }
  }

  @Test("C4 when a cancel races with the start of the work, the work is cancelled all the same")
  func racesWithStart() async throws {
    for round in 0..<1_000 {
      // Each has a gate of its own, which stays shut.
      let test = LevelSubscriptionTests()
      let subscriber = RecordingSubscriber<Int>(onSubscription: { _ in })
      test.held().publisher(for: "a").subscribe(subscriber)
      async let demand: Void = subscriber.request(1)
      async let cancel: Void = cancel(subscriber, afterYields: round % 2)
      _ = await (demand, cancel)
      try await test.lifetime.end()
      #expect(subscriber.calls.isEmpty)
    }
  }

  private func cancel(_ subscriber: RecordingSubscriber<Int>, afterYields count: Int) async {
    for _ in 0..<count { await Task.yield() }
    subscriber.cancel()
  }

  private func subscribe(_ subscriber: RecordingSubscriber<Int>, failing: Bool, token: Lifetime.Token) {
    ScriptedLevel<String, Int>(onGet: { _ in
      defer { withExtendedLifetime(token) {} }
      if failing { throw CacheError(.simulated, "down") }
      return .hit(Entry(1))
    }).publisher(for: "a").subscribe(subscriber)
  }
}
#endif
