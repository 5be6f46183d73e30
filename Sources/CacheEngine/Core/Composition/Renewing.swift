// How operators hand an expired entry on to the source below. One that changes values (`postProcess`, a transformation of one
// way only) does not: it could not say what the value was before. Nor is what it has changed itself shown to any source.

extension LevelDecorator where Base: RenewingLevel {
  /// As the level inside.
  public var renews: Bool { base.renews }
}

extension ReadDecorator where Base: RenewingLevel {
  /// Reads the level inside in this decorator's way, with an expired entry to renew.
  public func lookup(_ key: Base.Key, renewing old: Entry<Base.Value>) async throws -> Lookup<Base.Value> {
    try await read(key) { try await base.lookup(key, renewing: old) }
  }
}

extension ConditionedLevel: RenewingLevel where Base: RenewingLevel {}
extension CappedLevel: RenewingLevel where Base: RenewingLevel {}

extension ComposedLevel: RenewingLevel where Lower: RenewingLevel {
  /// As the lower level.
  public var renews: Bool { lower.renews }

  /// As a read of the key; the lower level is shown the given entry, or that of the upper level if it was stored later.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    try await read(key, renewing: OfferedEntry(old))
  }
}

extension ComposedLevel {
  /// Asks the lower level with what the upper one has kept.
  @usableFromInline
  func renewBelow(
    _ key: Key, _ offered: OfferedEntry<Value>?, by renewer: any RenewingLevel<Key, Value>
  ) async throws -> Lookup<Value> {
    guard let old = try await kept(key, or: offered) else { return try await lower.lookup(key) }
    return try await renewer.lookup(key, renewing: old)
  }

  /// What the upper level keeps of a key, expired or not, or what was offered from further up if that is younger.
  @usableFromInline
  func kept(_ key: Key, or offered: OfferedEntry<Value>?) async throws -> Entry<Value>? {
    let own: Entry<Value>?
    do {
      own = try await upper.lookupIncludingExpired(key).entry
    } catch let error as CancellationError {
      throw error
    } catch {
      own = nil  // it has told its failure, being asked first
    }
    guard let own, !own.isPlaceholder, !own.isProcessed else { return offered?.entry }
    guard let offered = offered?.entry else { return own }
    guard let stored = own.created, let created = offered.created else { return own }
    return stored < created ? offered : own
  }
}

extension PooledLevel: RenewingLevel where Base: RenewingLevel {
  /// As the level below.
  public var renews: Bool { base.renews }

  /// As ``lookup(_:)``; of those who ask at the same time, the level below is shown the entry of the first.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    let load = ClosureLoad { [base] in SharedAnswer(try await base.lookup(key, renewing: old)) }
    return try await reads.answer(for: key, load).lookup
  }
}

extension SwitchedLevel: RenewingLevel {
  /// If one of the two makes use of an expired entry.
  public var renews: Bool { first.renewer != nil || second.renewer != nil }

  /// Asks the lane of the key, with an expired entry to renew if it can make use of that.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    switch selector(key) {
    case .first: try await first.lookupIfAble(key, renewing: old)
    case .second: try await second.lookupIfAble(key, renewing: old)
    }
  }
}

extension KeyTransformedLevel: RenewingLevel where Base: RenewingLevel {
  /// As the level inside.
  public var renews: Bool { base.renews }

  /// Asks for the transformed key, with an expired entry to renew.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    try await base.lookup(try await transformer.transform(key), renewing: old)
  }
}

extension ValueTransformedLevel: RenewingLevel where Base: RenewingLevel {
  /// As the level inside.
  public var renews: Bool { base.renews }

  /// Asks the level inside with the expired value converted back, or with none if that is impossible.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    let inner: Base.Value
    do {
      inner = try await transformer.inverseTransform(old.value)
    } catch let error as CancellationError {
      throw error
    } catch {
      return try await lookup(key)
    }
    return try await base.lookup(key, renewing: old.with(inner)).transformed(by: transformer)
  }
}

extension ConditionedValueTransformedLevel: RenewingLevel where Base: RenewingLevel {
  /// As the level inside.
  public var renews: Bool { base.renews }

  /// Asks the level inside with the expired value converted back, or with none if that is impossible.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    let inner: Base.Value
    do {
      inner = try await transformer.inverseConditionalTransform(key: key, value: old.value)
    } catch let error as CancellationError {
      throw error
    } catch {
      return try await lookup(key)
    }
    return try await turned(base.lookup(key, renewing: old.with(inner)), key)
  }
}
