package import CacheCore

package import CacheDisk

package import CacheMemory

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
}

extension DiskCacheLevel: EvictingLevel {
  package func watched(as name: String) -> HitRatioObserver.Level? {
    usage.capacity.map { HitRatioObserver.Level(name: name, capacity: $0, eviction: .lru, evictions: []) }
  }
}
