/// A level whose entries count only up to an age, whatever their deadlines say.
///
/// Built by ``CacheLevel/maximumAge(_:clock:)``. The age is judged when an entry is read, so that a changed limit holds at
/// once for everything that is stored already.
///
/// | the entry | a read gives |
/// |---|---|
/// | younger than the limit | the entry; its deadline is at most when it reaches the limit |
/// | as old as the limit, or older | a miss, ``MissReason/expired``; stale, if stale values were asked for |
/// | of unknown age | the entry: whoever just fetched it knows none |
/// | stored at a time to come, by another clock | the entry, as one that was stored now |
/// | expired, and given all the same by an operator inside | by its age, as any other |
///
/// It takes no stores on a condition: what is too old here is still there for the level inside, whose condition it would be.
public struct AgeLimitedLevel<Base: CacheLevel>: LevelDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base
  /// How old an entry may become.
  public let maximumAge: Duration

  @usableFromInline let clock: any CacheClock
  let loads = LoadScope()

  init(base: Base, maximumAge: Duration, clock: any CacheClock) {
    self.base = base
    self.maximumAge = maximumAge
    self.clock = clock
  }

  /// Returns the value held for a key, if it is young enough.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Returns the entry for a key, if it is young enough.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> { limited(try await base.lookup(key)) }

  @inlinable
  func limited(_ answer: Lookup<Value>) -> Lookup<Value> {
    // A stale entry from inside is given by somebody's leave: only its age is judged here.
    guard case .hit(let entry) = answer, let limit = limit(of: entry) else { return answer }
    return limit <= clock.now ? .miss(.expired) : .hit(limited(entry, to: limit))
  }

  /// Returns the entry for a key, marked stale if it is too old.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    let answer = try await base.lookupIncludingExpired(key)
    guard case .hit(let entry) = answer, let limit = limit(of: entry) else { return answer }
    var limited = limited(entry, to: limit)
    limited.isStale = entry.isStale || limit <= clock.now
    return .hit(limited)
  }

  /// When an entry is too old: one of a time to come, by another clock, has no age yet.
  @inlinable
  func limit(of entry: Entry<Value>) -> CacheInstant? {
    entry.created.map { min($0, clock.now).advanced(by: maximumAge) }
  }

  @inlinable
  func limited(_ entry: Entry<Value>, to limit: CacheInstant) -> Entry<Value> {
    var limited = entry
    limited.deadline = entry.deadline.map { min($0, limit) } ?? limit
    return limited
  }
}

extension AgeLimitedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension AgeLimitedLevel: TaggedLevel where Base: TaggedLevel {}
extension AgeLimitedLevel: InvalidatableLevel where Base: InvalidatableLevel {}

extension AgeLimitedLevel: RenewingLevel where Base: RenewingLevel {
  /// Returns the entry for a key, if it is young enough; the level inside may renew an expired one.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    limited(try await base.lookup(key, renewing: old))
  }
}

extension AgeLimitedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload a key, and returns the entry if it is young enough.
  public func reload(_ key: Key) async throws -> Lookup<Value> { limited(try await base.reload(key)) }
}

extension CacheLevel {
  /// Counts entries of this level only up to an age, judged when they are read.
  ///
  /// - Parameters:
  ///   - age: How old an entry may become. Zero and less let nothing through.
  ///   - clock: The clock of the level inside.
  /// - Returns: The limited level.
  public func maximumAge(_ age: Duration, clock: any CacheClock = SystemClock()) -> AgeLimitedLevel<Self> {
    AgeLimitedLevel(base: self, maximumAge: age, clock: clock)
  }
}

extension AgeLimitedLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}

extension AgeLimitedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("maximumAge", setting: maximumAge.text), base) }
}

extension AgeLimitedLevel: EndingLevel {}

extension AgeLimitedLevel: LoadingLevel { package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) } }
