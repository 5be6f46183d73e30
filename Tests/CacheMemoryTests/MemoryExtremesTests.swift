import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheMemory

@Suite struct MemoryExtremesTests {
  /// A clock that goes wherever it is told, back as well.
  private final class LooseClock: CacheClock {
    let place = Mutex(CacheInstant(nanoseconds: 0))
    var now: CacheInstant { place.withLock { $0 } }
    var timeSinceEpoch: Duration { .seconds(1_767_225_600) }
    var bootIdentifier: UInt64 { 1 }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {}
  }

  private static let centuries: Int64 = 300 * 365 * 86_400
  private static let lifetimes: [Expiry] = [
    .never, .after(.zero), .after(.seconds(-1)), .after(.seconds(Int64.max)), .after(.seconds(Int64.min)),
    .at(CacheInstant(nanoseconds: .min)), .at(CacheInstant(nanoseconds: .max)), .after(.milliseconds(1)),
    .after(.seconds(4)), .after(.seconds(270)), .after(.seconds(86_400 * 400)),
  ]
  private static let limits: [(capacity: Int, count: Int?)] = [
    (0, nil), (1, nil), (.max, 0), (.max, 1), (.max, 50), (100, 7), (.max, nil),
  ]

  @Test("P2 P8 no cost, lifetime, limit or step of the clock brings a level out of order", arguments: 0..<42)
  func extremes(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let clock = LooseClock()
    let limit = Self.limits[Int(seed) % Self.limits.count]
    let kept: [Duration] = [.zero, .seconds(1), .seconds(Int64.max)]
    let level = MemoryCacheLevel<Int, Int>(
      capacity: limit.capacity, countLimit: limit.count, eviction: Eviction.all[Int(seed) % Eviction.all.count],
      keepsExpired: kept[Int(seed) % kept.count], clock: clock)
    var model: [Int: (value: Int, deadline: CacheInstant?)] = [:]
    for step in 0..<1_500 {
      let key = Int.random(in: 0..<90, using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<8:
        let expiry = Self.lifetimes.randomElement(using: &generator) ?? .never
        let cost = [0, 1, 1, 2, -5, .min, .max, .max - 1].randomElement(using: &generator)
        let tags: Set<String> = step % 3 == 0 ? ["\(key % 4)"] : []
        model[key] = (step, expiry.deadline(by: clock))
        try await level.store(step, forKey: key, terms: StoreTerms(expiry: expiry, cost: cost, tags: tags))
      case 8..<14:
        // What is found is what was stored last, and it is not over.
        if let value = try await level.get(key) {
          #expect(model[key]?.value == value)
          #expect(model[key].map { $0.deadline.map { $0 > clock.now } ?? true } ?? false)
        }
        _ = try await level.lookupIncludingExpired(key)
      case 14:
        model[key] = nil
        try await level.remove(key)
      case 15: try await level.removeAll(tagged: "\(key % 4)")
      case 16:
        if model[key] != nil { model[key]?.deadline = clock.now }
        try await level.expire(key)
      case 17: try await level.removeExpired()
      case 18 where step % 40 == 0: try await level.clear()
      default:
        let step: Duration =
          [
            .milliseconds(1), .milliseconds(70), .seconds(5), .seconds(300), .seconds(-3),
            .seconds(Int64.random(in: -Self.centuries...Self.centuries, using: &generator)),
          ].randomElement(using: &generator) ?? .zero
        // The first instant of all stands for no deadline.
        clock.place.withLock { $0 = max($0.advanced(by: step), CacheInstant(nanoseconds: .min + 1)) }
      }
      if let flaw = level.flaw {
        Issue.record("step \(step): \(flaw)")
        return
      }
    }
  }
}
