#if Combine || canImport(Combine)
import CacheEngine
import CacheEngineCashier
import CacheEngineCombine
import CacheEngineShared
import CacheEngineTesting
import CacheEngineTransformers
import Foundation
import Synchronization

#if Encryption
import CacheEngineEncryption
import Crypto
#endif

/// A stack of real levels, each of which can be asked in every way.
final class RealStack: Sendable {
  /// In which way a level is asked.
  enum Face: CaseIterable, Sendable {
    case get, lookup, require, peek, pastPeek, batch
    case erasedGet, erasedLookup, erasedRequire, erasedPeek
    case pooledGet, pooledLookup
    case publisher, lookupPublisher

    /// It tells more than the value.
    var tellsAll: Bool { [.lookup, .pastPeek, .batch, .erasedLookup, .pooledLookup, .lookupPublisher].contains(self) }
    var isRequiring: Bool { [.require, .erasedRequire, .publisher].contains(self) }
  }

  /// What a call gave, as far as the way of asking can tell.
  enum Outcome: Equatable, Sendable {
    case value(Int)
    case entry(Int, isStale: Bool, deadline: Int?, created: Int?, tags: Set<String>, isPlaceholder: Bool)
    case miss(String)
    case failed(String)
    case done(Bool)

    var valueAlone: Outcome {
      switch self {
      case .entry(let value, _, _, _, _, _): .value(value)
      case .miss: .miss("")
      default: self
      }
    }
  }

  /// A level, in every way that it can be asked and told.
  struct Node: Sendable {
    let read: @Sendable (Face, String) async throws -> Outcome
    let readStale: @Sendable (Face, String) async throws -> Outcome
    let reload: @Sendable (Face, String) async throws -> Outcome
    let write: @Sendable (Face, Step) async throws -> Outcome
  }

  struct World: Sendable {
    var behaviours: [Int: [String: Step.Behaviour]] = [:]
    var asked: [Int: Int] = [:]
    var down: Set<Int> = []
  }

  private struct Parts: Sendable {
    var nodes: [Node] = []
    var refreshes: [@Sendable () -> Int] = []
    var disks: [DiskCacheLevel<String, Int>] = []
    var cashier: Cashier?
  }

  let clock = ManualClock()
  private let start: CacheInstant
  private let world = Mutex(World())
  private let observer = RecordingObserver()
  private let deaf = Deaf()
  private let failure = Mutex<CacheError?>(nil)
  private let statistics = CacheStatistics()
  private let common: SimulatedSharedStore
  private let parts = Mutex(Parts())
  private let folder = FileManager.default.temporaryDirectory.appending(path: "answer-\(UUID().uuidString)")

  private struct Deaf: CacheObserver {
    let attention: ObservationSwitch? = ObservationSwitch()
    func record(_ event: CacheEvent) {}
  }

  init(_ shape: Shape) async throws {
    start = clock.now
    common = SimulatedSharedStore(clock: clock)
    _ = try await build(shape)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Gives back the files of its disks, of which many stacks would have too many.
  func close() async throws {
    for disk in parts.withLock(\.disks) { try await disk.close() }
    try await parts.withLock(\.cashier)?.close()
  }

  var nodes: [Node] { parts.withLock { $0.nodes } }
  var asked: [Int: Int] { world.withLock { $0.asked } }

  /// In full, since an answer is compared by its code only.
  var lastFailure: String { failure.withLock { $0 }.map { "\($0) \($0.failures)" } ?? "none" }

  func noteFailure(_ error: CacheError) { failure.withLock { $0 = error } }

  /// What was counted of reads and stores, by what it is.
  var counts: [String: Int] {
    guard let level = statistics.snapshot.levels["counted"] else { return [:] }
    var counts = Dictionary(uniqueKeysWithValues: level.misses.map { ($0.key.rawValue, $0.value) })
    counts["hit"] = level.hits
    counts["error"] = level.errors
    counts["set"] = level.sets
    counts["copy"] = level.backFills
    return counts.filter { $0.value > 0 }
  }

  func set(_ change: (inout World) -> Void) { world.withLock { change(&$0) } }

  /// Waits until nothing is read anew any more.
  func rest() async throws {
    // From the top down, since what is read anew may ask for more to be read anew below.
    let refreshes = parts.withLock { Array($0.refreshes.reversed()) }
    for count in refreshes { try await turns { count() == 0 } }
  }

  private func build(_ shape: Shape) async throws -> BasicCache<String, Int> {
    switch shape {
    case .memory(let lifetime):
      let expiry = lifetime.map { Expiry.after(.seconds($0)) } ?? .never
      return add(MemoryCacheLevel<String, Int>(expiry: expiry, keepsExpired: .seconds(1_000_000), clock: clock))
    case .flaky(let number):
      return add(
        Flaky(base: MemoryCacheLevel(keepsExpired: .seconds(1_000_000), clock: clock)) { [weak self] in
          self?.world.withLock { $0.down.contains(number) } ?? true
        })
    case .source(let number):
      return add(
        BasicFetcher<String, Int> { [weak self] key in
          let behaviour = self?.world.withLock { world in
            world.asked[number, default: 0] += 1
            return world.behaviours[number]?[key] ?? .gone
          }
          switch behaviour {
          case .value(let value): return value
          case .gone, nil: return nil
          case .down: throw CacheError(.simulated, "down")
          }
        })
    case .disk(let isSealed):
      #if Encryption
      let cipher = isSealed ? try StoreEncryption(key: SymmetricKey(size: .bits256)) : nil
      #else
      let cipher: (any StoreCipher)? = nil
      #endif
      return add(try disk(UUID().uuidString, cipher: cipher))
    case .directory(let isApart):
      guard isApart else { return add(try disk("directory")) }
      // On a slow machine, too, the owner answers in time.
      var sharing = StoreSharing.acrossProcesses(silence: .seconds(600))
      sharing.isApart = true
      return add(try disk("apart", sharing: sharing))
    case .common:
      return add(
        try SharedCacheLevel<String, Int>(
          common.client(UUID().uuidString), namespace: "common", keepsExpired: .seconds(1_000_000), valueCoding: .json,
          clock: clock))
    case .cashier:
      let cashier = try await Cashier.open("cashier", in: .purgeable(in: folder.path), clock: clock)
      try await cashier.changeSettings { $0.lifespan = .seconds(7) }
      parts.withLock { $0.cashier = cashier }
      return add(cashier.level(of: Int.self))
    case .packed:
      return add(
        MemoryCacheLevel<String, Data>(keepsExpired: .seconds(1_000_000), clock: clock)
          .transformValues(CompressionTransformer(.gzip)).transformValues(JSONTransformer<Int>()))
    case .empty: return add(EmptyLevel<String, Int>())
    case .compose(let upper, let lower):
      let upper = try await build(upper)
      return add(try await upper.compose(build(lower), observer: nil, clock: clock))
    case .lanes(let first, let second):
      let first = try await build(first)
      return add(try await switchLevels(first, build(second)) { $0 == "a" ? .first : .second })
    case .revalidated(let upper, let lower, let policy):
      let upper = try await build(upper)
      let level = try await upper.compose(
        build(lower),
        revalidating: RevalidationPolicy(
          whileRevalidate: policy.whileRevalidate.map { .seconds($0) }, ifError: policy.ifError.map { .seconds($0) },
          ahead: policy.ahead.map { .seconds($0) }), observer: nil, clock: clock)
      parts.withLock { $0.refreshes.append { level.refreshCount } }
      return add(level)
    case .one(let kind, let inner): return try await wrap(build(inner), kind)
    }
  }

  private func disk(
    _ name: String, sharing: StoreSharing = .exclusive, cipher: (any StoreCipher)? = nil
  ) throws -> DiskCacheLevel<String, Int> {
    let disk = try DiskCacheLevel<String, Int>(
      jsonIn: folder.appending(path: name).path, keepsExpired: .seconds(1_000_000), sharing: sharing, cipher: cipher,
      clock: clock)
    parts.withLock { $0.disks.append(disk) }
    return disk
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
    case .counted: add(level.observed(as: "counted", by: statistics, clock: clock))
    case .optional: add(level.optional(observer: nil))
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
    let batch = level.allBatch()
    let start = start
    @Sendable func told(_ answer: Lookup<Int>) -> Outcome {
      switch answer {
      case .miss(let reason): .miss(reason.rawValue)
      case .hit(let entry):
        .entry(
          entry.value, isStale: entry.isStale,
          deadline: entry.deadline.map { Int(start.duration(to: $0) / .seconds(1)) },
          created: entry.created.map { Int(start.duration(to: $0) / .seconds(1)) }, tags: entry.tags,
          isPlaceholder: entry.isPlaceholder)
      }
    }
    @Sendable func single(_ answer: Lookup<[Int]>) -> Lookup<Int> {
      switch answer {
      case .miss(let reason): .miss(reason)
      case .hit(let entry): .hit(entry.with(entry.value[0]))
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
        case .pastPeek:
          if let entry = level.peekEntry(key) { told(.hit(entry)) } else { told(try await level.lookupPastPeek(key)) }
        case .batch: told(single(try await batch.lookup([key])))
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
        case .batch: told(single(try await batch.lookupIncludingExpired([key])))
        default: told(try await level.lookupIncludingExpired(key))
        }
      },
      reload: { face, key in
        switch face {
        case .get, .lookup, .require, .peek:
          guard let able = level as? any ReloadableLevel<String, Int> else { return told(try await level.lookup(key)) }
          return told(try await able.reload(key))
        case .pooledGet, .pooledLookup: return told(try await pooled.reload(key))
        default: return told(try await erased.reload(key))
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
        case .removeTagged(_, let tag):
          guard [.get, .lookup, .peek].contains(face), let able = level as? any TaggedLevel else {
            return .value(try await erased.removeAll(tagged: tag))
          }
          return .value(try await able.removeAll(tagged: tag))
        case .removeKey(_, let key):
          guard [.get, .lookup, .peek].contains(face), let able = level as? any SelectiveRemoval<String, Int> else {
            return .value(try await erased.removeAll { $0 == key })
          }
          return .value(try await able.removeAll { $0 == key })
        case .invalidate(_, let key):
          switch face {
          case .get, .lookup: try await (level as? any InvalidatableLevel<String, Int>)?.invalidate(key)
          case .pooledGet: try await pooled.invalidate(key)
          default: try await erased.invalidate(key)
          }
        case .update(_, let key, let addend):
          @Sendable func change(_ value: Int?) -> Int? { addend.map { (value ?? 0) + $0 } }
          guard [.get, .lookup, .peek].contains(face), let able = level as? any UpdatableLevel<String, Int> else {
            return .value(try await erased.update(key, change) ?? -1)
          }
          return .value(try await able.update(key, terms: StoreTerms(), change) ?? -1)
        case .warn:
          switch face {
          case .get, .lookup: await level.onMemoryWarning()
          case .pooledGet: await pooled.onMemoryWarning()
          default: await erased.onMemoryWarning()
          }
        case .clear: try await face == .pooledGet ? pooled.clear() : erased.clear()
        case .read, .readStale, .reload, .advance, .source, .flaky: break
        }
        return .done(true)
      })
    parts.withLock { $0.nodes.append(node) }
    return erased
  }
}

/// Erased once more: what is erased already is not.
private struct BasicCacheAgain: LevelDecorator, SelectiveRemoval, TaggedLevel, ConditionalLevel, InvalidatableLevel,
  ReloadableLevel
{
  let base: BasicCache<String, Int>

  func get(_ key: String) async throws -> Int? { try await base.get(key) }
  func lookup(_ key: String) async throws -> Lookup<Int> { try await base.lookup(key) }
  func lookupIncludingExpired(_ key: String) async throws -> Lookup<Int> {
    try await base.lookupIncludingExpired(key)
  }
  func peek(_ key: String) -> Int? { base.peek(key) }
  func reload(_ key: String) async throws -> Lookup<Int> { try await base.reload(key) }
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
