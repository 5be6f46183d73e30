import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import ExplorerConfiguration
import ExplorerState

extension CacheBuilder {
  #if Redis
  /// Adds a level in Redis; whoever is above it is told what others change.
  mutating func add(
    _ redis: RedisSpecification, _ specification: LevelSpecification
  ) throws -> BasicCache<String, Value> {
    var settings = try RedisSettings(url: redis.url)
    settings.name = specification.name
    settings.tls?.authorities = redis.authorities
    settings.commandLimit = redis.timeout
    settings.connectLimit = redis.connectTimeout
    let faults = FaultInjector(clock: clock)
    let store = WatchedRedis(settings, faults: faults, clock: clock)
    let level = try SharedCacheLevel<String, Value>(
      store, namespace: redis.namespace, name: specification.name, expiry: Self.expiry(redis.lifetime),
      keepsExpired: redis.keepsExpired, longestLife: redis.longestLife, keyCoding: .canonicalText,
      valueCoding: Value.coding, clock: clock)
    if redis.isCoherent {
      // The server lives by its own time, whatever this cache's clock says.
      joins.append { [observer, clock] upper, lower in
        upper.compose(
          lower, coherence: Coherence(store, of: level, whileDeaf: .serve(for: redis.whileDeaf)), told: observer,
          clock: clock
        ).normalize()
      }
    }
    let shared = SharedAccess { [weak level] in
      var status = store.status
      status.unsettled = level?.unsettledCount ?? 0
      return status
    } holds: { [weak level] key in
      try await level?.lookup(key).entry != nil
    } expire: { [weak level] key in
      try await level?.expire(key)
    } isDeaf: {
      store.isDeaf
    } turn: { isDeaf in
      store.turn(deaf: isDeaf)
    }
    return note(level.normalize(), specification, storage: nil, faults: faults, shared: shared) { store.close() }
  }
  #else
  mutating func add(
    _ redis: RedisSpecification, _ specification: LevelSpecification
  ) throws -> BasicCache<String, Value> {
    preconditionFailure("nothing reads configurations without the trait Explorer")
  }
  #endif
}
