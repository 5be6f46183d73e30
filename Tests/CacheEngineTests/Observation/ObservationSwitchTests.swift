import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

@Suite struct ObservationSwitchTests {
  /// Listens when it is told to.
  private final class Listener: CacheObserver {
    let own = ObservationSwitch()
    private let log = Mutex<[CacheEvent]>([])

    var attention: ObservationSwitch? { own }
    var events: [CacheEvent] { log.withLock { $0 } }

    func record(_ event: CacheEvent) { log.withLock { $0.append(event) } }
  }

  /// Counts how often somebody makes a text of it.
  private struct Key: Hashable, Sendable, CustomStringConvertible {
    static let told = Atomic<Int>(0)

    var description: String {
      Self.told.add(1, ordering: .relaxed)
      return "key"
    }
  }

  @Test("while nobody listens nothing is told, no key becomes text, and what can be peeked is")
  func silent() async throws {
    let listener = Listener()
    let clock = ManualClock()
    let memory = MemoryCacheLevel<Key, Int>(
      name: "memory", capacity: 1, clock: clock, removalListener: listener.removals(from: "memory"))
    let cache = memory.observed(as: "upper", by: listener)
      .compose(BasicFetcher<Key, Int> { _ in 1 }.observed(as: "lower", by: listener))
      .pooled(observer: listener).capRequests(2, observer: listener).traced(by: listener)
    for _ in 0..<2 {
      #expect(try await cache.get(Key()) == 1)
      #expect(try await cache.lookup(Key()).entry?.level == "upper")
      try await cache.set(2, forKey: Key())
      #expect(cache.base.base.peek(Key()) == 2)
      try await cache.remove(Key())
      try await cache.clear()
      await cache.onMemoryWarning()
      #expect(try await cache.lookupIncludingExpired(Key()).entry?.value == 1)
    }
    #expect(listener.events.isEmpty)
    #expect(Key.told.load(ordering: .relaxed) == 0)
  }

  @Test("once somebody listens all is told, and it ends when the last one leaves")
  func loud() async throws {
    let listener = Listener()
    let cache = MemoryCacheLevel<String, Int>(name: "memory", capacity: 10)
      .observed(as: "memory", by: listener).traced(by: listener)
    listener.own.begin()
    listener.own.begin()
    #expect(try await cache.get("a") == nil)
    #expect(cache.peek("a") == nil)
    try await cache.set(1, forKey: "a")
    #expect(cache.peek("a") == nil)
    let count = listener.events.count
    #expect(count == 4 + 3)
    #expect(listener.events.allSatisfy { $0.request != nil })
    listener.own.end()
    #expect(listener.own.isOn)
    listener.own.end()
    #expect(cache.peek("a") == 1)
    #expect(try await cache.get("a") == 1)
    #expect(listener.events.count == count)
  }

  @Test("an observer without a switch always listens, also beside one that has one")
  func beside() async throws {
    let (listener, recording) = (Listener(), RecordingObserver())
    let both = CacheObservers([listener, recording])
    #expect(both.attention == nil)
    #expect(CacheObservers([listener]).attention === listener.own)
    let memory = MemoryCacheLevel<String, Int>(name: "memory", capacity: 10).observed(as: "memory", by: both)
    _ = try await memory.get("a")
    #expect(recording.events.count == 2)
  }
}
