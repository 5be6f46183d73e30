package import CacheEngineHitRatio
import CacheEngine

extension CacheConfiguration {
  /// The levels that could be larger or smaller, or have another policy.
  package var levelsWithCapacity: [HitRatioObserver.Level] {
    allLevels.compactMap { level in
      switch level.kind {
      case .memory(let memory):
        guard let limit = memory.countLimit else {
          return memory.capacity > 0
            ? HitRatioObserver.Level(name: level.name, capacity: memory.capacity, eviction: memory.eviction) : nil
        }
        return limit > 0
          ? HitRatioObserver.Level(name: level.name, capacity: limit, unit: .entries, eviction: memory.eviction) : nil
      case .disk(let disk):
        return disk.capacity > 0
          ? HitRatioObserver.Level(name: level.name, capacity: disk.capacity, eviction: .lru, evictions: []) : nil
      default: return nil
      }
    }
  }
}
