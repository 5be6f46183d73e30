import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheCore

@Suite(.timeLimit(.minutes(10)))
struct MemoryWarningSubscriptionTests {
  private let pressure = ManualPressureSource()
  private let clock = ManualClock()

  @Test("C155 while listening, one pressure causes one warning and no clear", arguments: MemoryPressure.allCases)
  func warnsOnce(kind: MemoryPressure) async throws {
    let level = ScriptedLevel<String, Int>()
    let listening = level.listenToMemoryWarnings(from: pressure)
    pressure.send(kind)
    try await idle(listening)
    #expect(level.calls == [.warn])
  }

  @Test("C155 a memory level is empty after pressure, and works on")
  func empties() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    let listening = memory.listenToMemoryWarnings(from: pressure)
    try await memory.set(1, forKey: "a")
    pressure.send()
    try await idle(listening)
    #expect(memory.usage.count == 0)
    try await memory.set(2, forKey: "a")
    #expect(memory.peek("a") == 2)
  }

  @Test("C156 by default pressure causes no call")
  func deafByDefault() {
    let level = ScriptedLevel<String, Int>()
    let other = level.compose(ScriptedLevel<String, Int>())
    #expect(pressure.subscriberCount == 0)
    pressure.send(.critical)
    #expect(other.upper.calls.isEmpty)
  }

  @Test("C156 after cancelling, pressure causes no call, and cancelling again is harmless")
  func cancels() async throws {
    let level = ScriptedLevel<String, Int>()
    let listening = level.listenToMemoryWarnings(from: pressure, minimumInterval: .zero)
    let other = ScriptedLevel<String, Int>()
    let stillListening = other.listenToMemoryWarnings(from: pressure, minimumInterval: .zero)
    pressure.send()
    try await idle(listening)
    listening.cancel()
    listening.cancel()
    #expect(pressure.subscriberCount == 1)
    pressure.send()
    try await idle(stillListening)
    #expect(level.calls == [.warn])
    #expect(other.calls.contains(.warn))
  }

  @Test("C156 releasing the subscription ends it as cancelling does")
  func releases() {
    let level = ScriptedLevel<String, Int>()
    _ = level.listenToMemoryWarnings(from: pressure)
    #expect(pressure.subscriberCount == 0)
  }

  @Test("C157 a composed cache hands one pressure to each of its levels once")
  func reachesAll() async throws {
    let levels = (0..<4).map { ScriptedLevel<String, Int>(name: "\($0)") }
    let cache = levels[0].compose(levels[1].pooled()).compose(levels[2].conditioned { _ in false })
      .compose(levels[3].normalize())
    let listening = cache.listenToMemoryWarnings(from: pressure)
    pressure.send()
    try await idle(listening)
    for level in levels { #expect(level.calls == [.warn]) }
  }

  @Test("C158 listening keeps no cache that is an object alive, even while the subscription is kept")
  func holdsNoObject() async throws {
    let (listening, freed) = listen { MemoryCacheLevel<String, Int>() }
    #expect(freed())
    pressure.send()
    try await idle(listening)
    #expect(pressure.subscriberCount == 1)
  }

  @Test("C158 a composition, which is a value, is free once its subscription is released")
  func holdsNoValue() async throws {
    weak var inside: MemoryCacheLevel<String, Int>?
    do {
      let memory = MemoryCacheLevel<String, Int>()
      inside = memory
      let listening = memory.compose(ScriptedLevel<String, Int>()).listenToMemoryWarnings(from: pressure)
      #expect(pressure.subscriberCount == 1)
      listening.cancel()
    }
    #expect(inside == nil)
  }

  @Test("C158 a source that never lets go of what it is given keeps no cache alive either")
  func distrustsTheSource() async {
    let hoarder = Hoarder()
    weak var inside: MemoryCacheLevel<String, Int>?
    do {
      let memory = MemoryCacheLevel<String, Int>()
      inside = memory
      let listening = memory.compose(ScriptedLevel<String, Int>()).listenToMemoryWarnings(from: hoarder)
      #expect(inside != nil)
      listening.cancel()
    }
    hoarder.send()
    #expect(inside == nil)
  }

  @Test("Pressure that comes while a warning is handled causes one further warning, however much it was")
  func coalesces() async throws {
    let level = SlowLevel()
    let listening = level.listenToMemoryWarnings(from: pressure, minimumInterval: .zero, clock: clock)
    pressure.send()
    await level.gate.arrivals(1)
    for _ in 0..<20 { pressure.send(.critical) }
    #expect(level.warnings == 1)
    level.gate.open()
    try await idle(listening)
    #expect(level.warnings == 2)
  }

  @Test("When listening ends, a warning under way is carried through, not cancelled; what came meanwhile is dropped")
  func carriesThrough() async throws {
    let level = SlowLevel()
    let listening = level.listenToMemoryWarnings(from: pressure, minimumInterval: .zero, clock: clock)
    pressure.send()
    await level.gate.arrivals(1)
    pressure.send()
    listening.cancel()
    level.gate.open()
    try await turns { level.handled == 1 }
    #expect(level.warnings == 1)
  }

  @Test("Warnings begin the minimum interval apart, and what came meanwhile is not lost")
  func isRateLimited() async throws {
    let level = ScriptedLevel<String, Int>()
    let listening = level.listenToMemoryWarnings(from: pressure, minimumInterval: .seconds(5), clock: clock)
    pressure.send()
    try await idle(listening)
    pressure.send()
    pressure.send()
    await clock.waitForSleepers()
    clock.advance(by: .seconds(4))
    #expect(level.count(of: .warn) == 1)
    clock.advance(by: .seconds(1))
    try await idle(listening)
    #expect(level.calls == [.warn, .warn])
  }

  @Test("A warning that waits for its time is dropped with the subscription, and the cache with it")
  func dropsTheWaiting() async throws {
    weak var inside: ScriptedLevel<String, Int>?
    do {
      let level = ScriptedLevel<String, Int>()
      inside = level
      let listening = level.compose(ScriptedLevel<String, Int>())
        .listenToMemoryWarnings(from: pressure, minimumInterval: .seconds(5), clock: clock)
      pressure.send()
      try await idle(listening)
      pressure.send()
      await clock.waitForSleepers()
      listening.cancel()
      #expect(level.calls == [.warn])
    }
    // The task that slept ends by itself now, and releases what it held.
    try await turns { inside == nil }
    #expect(pressure.subscriberCount == 0)
  }

  @Test("Pressure and cancelling from many threads at once neither crash nor leave a subscription behind")
  func races() async throws {
    let level = ScriptedLevel<String, Int>()
    for _ in 0..<200 {
      let listening = level.listenToMemoryWarnings(from: pressure, minimumInterval: .zero)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { pressure.send() } }
        group.addTask { listening.cancel() }
      }
      #expect(pressure.subscriberCount == 0)
    }
    #expect(level.count(of: .warn) <= 800)
  }

  private func idle(_ listening: MemoryWarningSubscription) async throws {
    try await turns { listening.isIdle }
  }

  /// Listens on a cache that nobody else holds.
  private func listen<Level: CacheLevel & AnyObject>(
    on make: () -> Level
  ) -> (MemoryWarningSubscription, freed: () -> Bool) {
    let level = make()
    return (level.listenToMemoryWarnings(from: pressure), { [weak level] in level == nil })
  }
}

/// A source that keeps every closure for ever.
private final class Hoarder: MemoryPressureSource {
  let isAvailable = true
  let explanation = "keeps everything"
  private let kept = Mutex<[@Sendable (MemoryPressure) -> Void]>([])

  func subscribe(_ receive: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription {
    kept.withLock { $0.append(receive) }
    return MemoryPressureSubscription {}
  }

  func send() { for receive in kept.withLock({ $0 }) { receive(.warning) } }
}

/// A level that handles a warning only when the test lets it.
private final class SlowLevel: CacheLevel {
  let gate = Gate()
  private let counts = Mutex((warnings: 0, handled: 0))

  var warnings: Int { counts.withLock { $0.warnings } }
  var handled: Int { counts.withLock { $0.handled } }
  func get(_ key: String) async throws -> Int? { nil }
  func set(_ value: Int, forKey key: String) async throws {}
  func remove(_ key: String) async throws {}
  func clear() async throws {}
  func onMemoryWarning() async {
    counts.withLock { $0.warnings += 1 }
    do { try await gate.pass() } catch { Issue.record("a warning under way was cancelled") }
    counts.withLock { $0.handled += 1 }
  }
}
