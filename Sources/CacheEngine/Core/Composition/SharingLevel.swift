/// A level whose simultaneous reads of a key share one, so that what their callers do with the answer can be shared as well.
@usableFromInline
protocol SharingLevel<Key, Value>: CacheLevel {
  var sharedReads: SharedReads<Key, Value> { get }
}

/// The reads of a pool, for a composition above it, which knows the types of keys and values and not the pool's own.
///
/// They are those of a ``PoolReads``.
@usableFromInline
class SharedReads<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {  // all of it is constant
  @usableFromInline let loads: SharedLoads<Key, SharedAnswer<Value>>
  /// Asks the level below the pool, given these reads.
  ///
  /// A closure with a capture list would wait in a function of its own.
  @usableFromInline let ask: @Sendable (SharedReads, Key) async throws -> Lookup<Value>
  /// The same, if it makes use of what has expired above.
  @usableFromInline let renewer: (any RenewingLevel<Key, Value>)?

  @inlinable
  init(
    _ loads: SharedLoads<Key, SharedAnswer<Value>>, renewer: (any RenewingLevel<Key, Value>)?,
    asking ask: @escaping @Sendable (SharedReads, Key) async throws -> Lookup<Value>
  ) {
    self.loads = loads
    self.renewer = renewer
    self.ask = ask
  }

  @inlinable
  deinit {}
}

/// The reads of a pool that know the level below it.
@usableFromInline
final class PoolReads<Base: CacheLevel>: SharedReads<Base.Key, Base.Value>, @unchecked Sendable {  // constant, too
  @usableFromInline let base: Base

  @inlinable
  init(_ loads: SharedLoads<Base.Key, SharedAnswer<Base.Value>>, of base: Base) {
    self.base = base
    super.init(loads, renewer: base.renewer) { reads, key in
      try await unsafe unsafeDowncast(reads, to: PoolReads.self).base.lookup(key)
    }
  }

  @inlinable
  deinit {}
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
