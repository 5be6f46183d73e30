/// A level whose simultaneous reads of a key share one, so that what their callers do with the answer can be shared as well.
@usableFromInline
protocol SharingLevel<Key, Value>: CacheLevel {
  var sharedReads: SharedReads<Key, Value> { get }
}

/// The reads of a pool, for a composition above it, which knows the types of keys and values and not the pool's own.
@usableFromInline
final class SharedReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let loads: SharedLoads<Key, SharedAnswer<Value>>
  /// Asks the level below the pool.
  @usableFromInline let ask: @Sendable (Key) async throws -> Lookup<Value>
  /// The same, if it makes use of what has expired above.
  @usableFromInline let renewer: (any RenewingLevel<Key, Value>)?

  @inlinable
  init(
    _ loads: SharedLoads<Key, SharedAnswer<Value>>, renewer: (any RenewingLevel<Key, Value>)?,
    asking ask: @escaping @Sendable (Key) async throws -> Lookup<Value>
  ) {
    self.loads = loads
    self.renewer = renewer
    self.ask = ask
  }
}

/// The answer of a load that is shared.
@usableFromInline
struct SharedAnswer<Value: Sendable>: Sendable {
  @usableFromInline let lookup: Lookup<Value>
  /// Who made the load, if it does more than ask the level below.
  @usableFromInline let loader: ObjectIdentifier?
  /// Whether a write or a removal of many keys was under way, or came, above the pool while the load was.
  @usableFromInline let isOvertaken: Bool

  @inlinable
  init(_ lookup: Lookup<Value>, loader: ObjectIdentifier? = nil, isOvertaken: Bool = false) {
    self.lookup = lookup
    self.loader = loader
    self.isOvertaken = isOvertaken
  }
}

/// What a pool asks below, having had nothing at once.
@usableFromInline
struct LevelRead<Base: CacheLevel>: ShareableLoad {
  @usableFromInline let pool: PooledLevel<Base>
  @usableFromInline let key: Base.Key

  @inlinable
  init(_ pool: PooledLevel<Base>, _ key: Base.Key) {
    self.pool = pool
    self.key = key
  }

  @inlinable
  @inline(__always)
  func callAsFunction() async throws -> SharedAnswer<Base.Value> {
    SharedAnswer(try await pool.base.lookupPastPeek(key))
  }
}
