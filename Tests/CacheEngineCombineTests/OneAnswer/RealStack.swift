#if Combine || canImport(Combine)
import CacheEngine
import CacheEngineCombine
import CacheEngineTesting
import Synchronization

/// A stack of real levels, each of which can be asked in every way.
final class RealStack: Sendable {
  /// In which way a level is asked.
  enum Face: CaseIterable, Sendable {
    case get, lookup, require, peek
    case erasedGet, erasedLookup, erasedRequire, erasedPeek
    case pooledGet, pooledLookup
    case publisher, lookupPublisher

    /// It tells more than the value.
    var tellsAll: Bool { [.lookup, .erasedLookup, .pooledLookup, .lookupPublisher].contains(self) }
    var isRequiring: Bool { [.require, .erasedRequire, .publisher].contains(self) }
  }

  /// What a call gave, as far as the way of asking can tell.
  enum Outcome: Equatable, Sendable {
    case value(Int)
    case entry(Int, isStale: Bool, deadline: Int?)
    case miss(String)
    case failed(String)
    case done(Bool)
  }

  /// A level, in every way that it can be asked and told.
  struct Node: Sendable {
    let read: @Sendable (Face, String) async throws -> Outcome
    let readStale: @Sendable (Face, String) async throws -> Outcome
    let write: @Sendable (Face, Step) async throws -> Outcome
  }

  struct World: Sendable {
    var behaviours: [Int: [String: Step.Behaviour]] = [:]
    var asked: [Int: Int] = [:]
    var down: Set<Int> = []
  }

  let clock = ManualClock()
  private let start: CacheInstant
  private let world = Mutex(World())
  private let observer = RecordingObserver()
  private let deaf = Deaf()
  private let parts = Mutex<(nodes: [Node], refreshes: [@Sendable () -> Int])>(([], []))

  private struct Deaf: CacheObserver {
    let attention: ObservationSwitch? = ObservationSwitch()
    func record(_ event: CacheEvent) {}
  }

  init(_ shape: Shape) {
    start = clock.now
    _ = build(shape)
  }

  var nodes: [Node] { parts.withLock { $0.nodes } }
  var asked: [Int: Int] { world.withLock { $0.asked } }

  func set(_ change: (inout World) -> Void) { world.withLock { change(&$0) } }

  /// Waits until nothing is read anew any more.
  func rest() async throws {
    // From the top down, since what is read anew may ask for more to be read anew below.
    let refreshes = parts.withLock { Array($0.refreshes.reversed()) }
    for count in refreshes { try await turns { count() == 0 } }
  }

  private func build(_ shape: Shape) -> BasicCache<String, Int> {
    switch shape {
    case .memory(let lifetime):
      let expiry = lifetime.map { Expiry.after(.seconds($0)) } ?? .never
      return add(MemoryCacheLevel<String, Int>(expiry: expiry, keepsExpired: .seconds(1_000_000), clock: clock))
    case .flaky(let number):
      return add(
        Flaky(base: MemoryCacheLevel(keepsExpired: .seconds(1_000_000), clock: clock)) { [self] in
          world.withLock { $0.down.contains(number) }
        })
    case .source(let number):
      return add(
        BasicFetcher<String, Int> { [self] key in
          let behaviour = world.withLock { world in
            world.asked[number, default: 0] += 1
            return world.behaviours[number]?[key] ?? .gone
          }
          switch behaviour {
          case .value(let value): return value
          case .gone: return nil
          case .down: throw CacheError(.simulated, "down")
          }
        })
    case .empty: return add(EmptyLevel<String, Int>())
    case .compose(let upper, let lower):
      let upper = build(upper)
      return add(upper.compose(build(lower), observer: nil, clock: clock))
    case .lanes(let first, let second):
      let first = build(first)
      return add(switchLevels(first, build(second)) { $0 == "a" ? .first : .second })
    case .revalidated(let upper, let lower, let policy):
      let upper = build(upper)
      let level = upper.compose(
        build(lower),
        revalidating: RevalidationPolicy(
          whileRevalidate: policy.whileRevalidate.map { .seconds($0) }, ifError: policy.ifError.map { .seconds($0) },
          ahead: policy.ahead.map { .seconds($0) }), observer: nil, clock: clock)
      parts.withLock { $0.refreshes.append { level.refreshCount } }
      return add(level)
    case .one(let kind, let inner): return wrap(build(inner), kind)
    }
  }

  private func wrap(_ level: BasicCache<String, Int>, _ kind: Shape.Unary) -> BasicCache<String, Int> {
    switch kind {
    case .observed: add(level.observed(as: "level", by: observer, clock: clock))
    case .silentlyObserved: add(level.observed(as: "level", by: deaf, clock: clock))
    case .traced: add(level.traced(by: observer, clock: clock))
    case .normalized: add(BasicCacheAgain(base: level))
    case .pooled: add(level.pooled())
    case .capped: add(level.capRequests(2))
    case .timeout: add(level.timeout(after: .seconds(1), clock: clock))
    case .retry: add(level.retry(RetryPolicy(attempts: 2, initialDelay: .zero), clock: clock))
    case .breaker: add(level.circuitBreaker(failures: 2, reset: .seconds(10), clock: clock))
    case .fallbackForErrors: add(level.fallback { key, error in error != nil && key == "a" ? 500 : nil })
    case .fallbackForMisses: add(level.fallback { key, error in error == nil && key == "b" ? 501 : nil })
    case .negative: add(level.negativeCaching(for: .seconds(5), clock: clock))
    case .negativeForErrors: add(level.negativeCaching(for: .seconds(5), clock: clock) { _ in true })
    case .expiring: add(level.expiring(after: .seconds(8), clock: clock))
    case .maximumAge: add(level.maximumAge(.seconds(6), clock: clock))
    case .conditioned: add(level.conditioned { $0 != "c" })
    case .transformValues:
      add(
        level.transformValues(
          TwoWayTransformationBox<Int, Int>(transform: { $0 + 1_000 }, inverseTransform: { $0 - 1_000 })))
    case .transformKeys:
      add(
        level.transformKeys(
          TwoWayTransformationBox<String, String>(transform: { exchanged($0) }, inverseTransform: { exchanged($0) })))
    case .conditionedTransform:
      add(
        level.conditionedValueTransformation(
          ConditionedTwoWayTransformationBox<String, Int, Int>(
            conditionalTransform: { $1 + 3_000 }, inverseConditionalTransform: { $1 - 3_000 })))
    case .postProcess: add(level.postProcess { $0 + 100_000 })
    case .batch:
      add(
        level.allBatch().transformKeys { (key: String) in [key] }.transformValues(
          TwoWayTransformationBox<[Int], Int>(transform: { $0[0] }, inverseTransform: { [$0] })))
    }
  }

  /// Notes how a level is asked in every way, while its type is known.
  private func add<Level: CacheLevel<String, Int>>(_ level: Level) -> BasicCache<String, Int> {
    let erased = level.normalize()
    let pooled = level.pooled()
    let start = start
    @Sendable func told(_ answer: Lookup<Int>) -> Outcome {
      switch answer {
      case .miss(let reason): .miss(reason.rawValue)
      case .hit(let entry):
        .entry(
          entry.value, isStale: entry.isStale,
          deadline: entry.deadline.map { Int(start.duration(to: $0) / .seconds(1)) })
      }
    }
    @Sendable func told(_ value: Int?) -> Outcome { value.map(Outcome.value) ?? .miss("") }
    let node = Node(
      read: { face, key in
        switch face {
        case .get: told(try await level.get(key))
        case .lookup: told(try await level.lookup(key))
        case .require: .value(try await level.require(key))
        case .peek: if let value = level.peek(key) { .value(value) } else { told(try await level.get(key)) }
        case .erasedGet: told(try await erased.get(key))
        case .erasedLookup: told(try await erased.lookup(key))
        case .erasedRequire: .value(try await erased.require(key))
        case .erasedPeek:
          if let value = erased.peek(key) { .value(value) } else { told(try await erased.lookup(key).entry?.value) }
        case .pooledGet: told(try await pooled.get(key))
        case .pooledLookup: told(try await pooled.lookup(key))
        case .publisher:
          told(try await PublisherFetcher { (key: String) in level.publisher(for: key, on: nil) }.get(key))
        case .lookupPublisher:
          told(
            try await PublisherFetcher { (key: String) in level.lookupPublisher(for: key, on: nil) }.get(key)
              ?? .miss(.absent))
        }
      },
      readStale: { face, key in
        switch face {
        case .erasedGet, .erasedLookup, .erasedRequire, .erasedPeek:
          told(try await erased.lookupIncludingExpired(key))
        case .pooledGet, .pooledLookup: told(try await pooled.lookupIncludingExpired(key))
        default: told(try await level.lookupIncludingExpired(key))
        }
      },
      write: { face, step in
        switch step {
        case .set(_, let key, let value, let lifetime, let tag):
          let expiry = lifetime.map { Expiry.after(.seconds($0)) }
          let terms = StoreTerms(expiry: expiry, tags: tag.map { [$0] } ?? [])
          switch (face, tag) {
          case (.publisher, nil):
            try await PublisherFetcher { (key: String) in
              level.setPublisher(value, forKey: key, expiry: expiry, on: nil)
            }.get(key)
          case (.erasedGet, nil) where lifetime == nil: try await erased.set(value, forKey: key)
          case (.get, nil) where lifetime == nil: try await level.set(value, forKey: key)
          case (.pooledGet, _): try await pooled.store(value, forKey: key, terms: terms)
          case (.erasedLookup, _), (.erasedRequire, _), (.erasedPeek, _):
            try await erased.store(value, forKey: key, terms: terms)
          default: try await level.store(value, forKey: key, terms: terms)
          }
        case .store(_, let key, let value, let condition):
          let terms = StoreTerms()
          guard [.get, .lookup, .peek].contains(face), let able = level as? any ConditionalLevel<String, Int> else {
            return .done(try await erased.store(value, forKey: key, terms: terms, if: condition))
          }
          return .done(try await able.store(value, forKey: key, terms: terms, if: condition))
        case .remove(_, let key):
          switch face {
          case .erasedGet, .erasedLookup: try await erased.remove(key)
          case .pooledGet: try await pooled.remove(key)
          case .publisher:
            try await PublisherFetcher { (key: String) in level.removePublisher(key, on: nil) }.get(key)
          default: try await level.remove(key)
          }
        case .removeTagged(_, let tag): try await erased.removeAll(tagged: tag)
        case .removeKey(_, let key): try await erased.removeAll { $0 == key }
        case .clear: try await face == .pooledGet ? pooled.clear() : erased.clear()
        case .read, .readStale, .advance, .source, .flaky: break
        }
        return .done(true)
      })
    parts.withLock { $0.nodes.append(node) }
    return erased
  }
}

/// Erased once more: what is erased already is not.
private struct BasicCacheAgain: LevelDecorator, SelectiveRemoval, TaggedLevel, ConditionalLevel {
  let base: BasicCache<String, Int>

  func get(_ key: String) async throws -> Int? { try await base.get(key) }
  func lookup(_ key: String) async throws -> Lookup<Int> { try await base.lookup(key) }
  func lookupIncludingExpired(_ key: String) async throws -> Lookup<Int> {
    try await base.lookupIncludingExpired(key)
  }
  func peek(_ key: String) -> Int? { base.peek(key) }
}

/// Memory that fails as long as it is down, whatever it is asked.
private struct Flaky: LevelDecorator, SelectiveRemoval, TaggedLevel, ConditionalLevel {
  let base: MemoryCacheLevel<String, Int>
  let isDown: @Sendable () -> Bool

  private func work() throws { if isDown() { throw CacheError(.simulated, "down") } }

  func get(_ key: String) async throws -> Int? {
    try work()
    return try await base.get(key)
  }
  func lookup(_ key: String) async throws -> Lookup<Int> {
    try work()
    return try await base.lookup(key)
  }
  func lookupIncludingExpired(_ key: String) async throws -> Lookup<Int> {
    try work()
    return try await base.lookupIncludingExpired(key)
  }
  func peek(_ key: String) -> Int? { isDown() ? nil : base.peek(key) }
  func set(_ value: Int, forKey key: String) async throws { try await store(value, forKey: key, terms: StoreTerms()) }
  func store(_ value: Int, forKey key: String, terms: StoreTerms) async throws {
    try work()
    try await base.store(value, forKey: key, terms: terms)
  }
  func store(_ value: Int, forKey key: String, terms: StoreTerms, if condition: StoreCondition) async throws -> Bool {
    try work()
    return try await base.store(value, forKey: key, terms: terms, if: condition)
  }
  func remove(_ key: String) async throws {
    try work()
    try await base.remove(key)
  }
  func clear() async throws {
    try work()
    try await base.clear()
  }
  func removeAll(where condition: @escaping @Sendable (String) -> Bool) async throws -> Int {
    try work()
    return try await base.removeAll(where: condition)
  }
  func removeAll(tagged tag: String) async throws -> Int {
    try work()
    return try await base.removeAll(tagged: tag)
  }
}
#endif
