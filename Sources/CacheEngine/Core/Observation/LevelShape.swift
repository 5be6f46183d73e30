/// What a level of a composition is made of, for those who show the composition.
package enum LevelShape {
  /// An operator as events and configurations know it.
  package struct Operation: Sendable, Equatable {
    /// The word for it: `capped`, `retry`.
    package var kind: String
    /// The name that its events carry.
    package var name: String
    /// What it was told, in a few words.
    package var setting = ""
    /// The most reads at once.
    package var limit: Int?

    package init(_ kind: String, name: String? = nil, setting: String = "", limit: Int? = nil) {
      self.kind = kind
      self.name = name ?? kind
      self.setting = setting
      self.limit = limit
    }
  }

  /// It holds values or fetches them by itself; `kind` is the word for it.
  case leaf(kind: String)
  /// It changes nothing that is worth showing.
  case wrapper(any CacheLevel)
  /// What the level inside is asked is told under a name.
  case observed(any CacheLevel, as: String, by: any CacheObserver)
  /// The calls of what is inside are told.
  case traced(any CacheLevel, by: any CacheObserver)
  /// One above the other.
  case stacked(any CacheLevel, any CacheLevel)
  case around(Operation, any CacheLevel)
  case lanes(Operation, any CacheLevel, any CacheLevel)
  /// What holds values, and the source that they are read anew from.
  case stale(Operation, any CacheLevel, from: any CacheLevel)
}

/// A level that can say what it is made of.
///
/// Any other level is a leaf.
package protocol ShapedLevel: CacheLevel {
  var shape: LevelShape { get }
}

extension CacheLevel {
  /// What this level is made of, as far as it can say.
  package var shapeOrLeaf: LevelShape {
    (self as? any ShapedLevel)?.shape ?? .leaf(kind: self is any Fetcher ? "source" : "level")
  }
}

extension MemoryCacheLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "memory") } }
extension DiskCacheLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "disk") } }
extension UserDefaultsCacheLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "defaults") } }
extension NetworkFetcher: ShapedLevel { package var shape: LevelShape { .leaf(kind: "network") } }
extension EmptyLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "empty") } }

extension BasicCache: ShapedLevel {
  package var shape: LevelShape { inner.map(LevelShape.wrapper) ?? .leaf(kind: "level") }
}
extension BatchLevel: ShapedLevel { package var shape: LevelShape { .wrapper(base) } }
extension ObservedLevel: ShapedLevel {
  package var shape: LevelShape { .observed(base, as: name, by: recorder.observer) }
}
extension TracedCache: ShapedLevel { package var shape: LevelShape { .traced(base, by: recorder.observer) } }

extension ComposedLevel: ShapedLevel { package var shape: LevelShape { .stacked(upper, lower) } }
extension SwitchedLevel: ShapedLevel {
  package var shape: LevelShape { .lanes(.init("lanes"), first, second) }
}
extension RevalidatedLevel: ShapedLevel {
  package var shape: LevelShape { .stale(.init("stale", name: recorder.name), base.upper, from: base.lower) }
}

extension PooledLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("pooled", name: name), base) }
}
extension CappedLevel: ShapedLevel {
  package var shape: LevelShape {
    .around(.init("capped", name: recorder.name, setting: "\(limit)", limit: limit), base)
  }
}
extension ConditionedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("conditioned", name: recorder.name), base) }
}
extension KeyTransformedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("transformKeys"), base) }
}
extension ValueTransformedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("transformValues"), base) }
}
extension ConditionedValueTransformedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("transformValues"), base) }
}
extension ValueTransformedFetcher: ShapedLevel {
  package var shape: LevelShape { .around(.init("transformValues"), base) }
}
extension OptionalLevel: ShapedLevel { package var shape: LevelShape { .wrapper(base) } }
extension PostProcessedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("postProcess"), base) }
}

extension LifetimeLevel: ShapedLevel { package var shape: LevelShape { .around(.init("expiry"), base) } }
extension AgeLimitedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("maximumAge", setting: "\(maximumAge)"), base) }
}
extension NegativeCachingLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("negative", name: recorder.name), base) }
}

extension TimeLimitedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("timeout", name: recorder.name, setting: "\(limit)"), base) }
}
extension RetriedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("retry", name: recorder.name, setting: "×\(policy.attempts)"), base) }
}
extension CircuitBreakerLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("breaker", name: recorder.name), base) }
}
extension FallbackLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("fallback", name: recorder.name), base) }
}

/// A level from which entries leave when room is needed.
///
/// It can say what would be asked about it: how it would do with another capacity or another policy.
package protocol EvictingLevel: CacheLevel {
  /// `nil` for a level without a limit that could be another.
  func watched(as name: String) -> HitRatioObserver.Level?
}

extension MemoryCacheLevel: EvictingLevel {
  package func watched(as name: String) -> HitRatioObserver.Level? {
    let (eviction, usage) = (eviction, usage)
    if let limit = usage.countLimit {
      return limit > 0 ? HitRatioObserver.Level(name: name, capacity: limit, unit: .entries, eviction: eviction) : nil
    }
    guard let capacity = usage.capacity, capacity > 0 else { return nil }
    return HitRatioObserver.Level(name: name, capacity: capacity, eviction: eviction)
  }

  private var eviction: Eviction { state.withLock { _, order in Eviction(kind: order.policy.kind) } }
}

extension DiskCacheLevel: EvictingLevel {
  package func watched(as name: String) -> HitRatioObserver.Level? {
    usage.capacity.map { HitRatioObserver.Level(name: name, capacity: $0, eviction: .lru, evictions: []) }
  }
}
