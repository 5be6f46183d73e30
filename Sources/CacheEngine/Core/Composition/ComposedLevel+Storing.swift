// How a value gets into both levels of a composition.
extension ComposedLevel {
  /// How far a store has come.
  @usableFromInline
  enum Written: Sendable { case neither, lower, both }

  /// Stores a value in the levels that can take it here.
  @inlinable
  func storeAtOnce(_ value: Value, _ key: Key, _ terms: StoreTerms, since began: GatePhase) -> Written {
    // Entered for both, so that a sweep waits for both.
    guard gate.enter(began) else { return .neither }
    defer { gate.leave(began) }
    guard lower.storeAtOnce(value, forKey: key, terms: terms) else { return .neither }
    let isAbove = upper.storeAtOnce(value, forKey: key, terms: terms)
    return isAbove && !gate.isSwept(key, terms.tags, since: began) ? .both : .lower
  }

  /// Stores a value in both levels at once, if the turn of its key is free and both are in memory.
  @inlinable
  public func storeAtOnce(_ value: Value, forKey key: Key, terms: StoreTerms) -> Bool {
    guard manner.isUpperImmediate, terms.load == nil else { return false }
    let turn = gate.beginWrite(key)
    guard turn.isGranted else { return false }
    defer { gate.endWrite(key, turn) }
    switch storeAtOnce(value, key, terms, since: gate.currentPhase) {
    case .neither: return false
    case .lower: forgetAtOnce(key)
    case .both: break
    }
    return true
  }

  /// Removes from the upper level what a sweep went past, as ``WriteGate/forget(_:in:)`` does.
  @usableFromInline
  func forgetAtOnce(_ key: Key) { (upper as? any ImmediateLevel<Key, Value>)?.removeAtOnce(key) }

  @inlinable
  @inline(never)
  func storeInBoth(
    _ value: Value, _ key: Key, _ terms: StoreTerms, since began: GatePhase, but written: Written = .neither
  ) async throws {
    do {
      var attempts = WriteAttempts()
      if written == .lower {
        attempts.isAnyWritten = true
      } else if manner.partialStores == .refused {
        // Once the lower level has the value, a failure above is told as any other.
        try await lower.store(value, forKey: key, terms: terms)
        attempts.isAnyWritten = true
      } else {
        try await attempts.attempt(lower.name) { try await lower.store(value, forKey: key, terms: terms) }
      }
      try await attempts.attempt(upper.name) {
        try await gate.above(key, in: upper, tags: terms.tags, since: began) {
          try await upper.store(value, forKey: key, terms: terms)
        }
      }
      if let error = attempts.error { throw error }
    } catch { throw await failure(error, key) }
  }

  @inlinable
  func removeFromBoth(_ key: Key) async throws {
    do {
      var attempts = WriteAttempts()
      try await attempts.attempt(lower.name) { try await lower.remove(key) }
      try await attempts.attempt(upper.name) { try await upper.remove(key) }
      if let error = attempts.error { throw error }
    } catch { throw await failure(error, key) }
  }

  /// What a write of a key, in its turn, fails with; if it was cancelled, the upper level forgets the key.
  ///
  /// The lower level may have carried it out all the same, and what that holds decides. Nobody waits for an upper level that takes
  /// its time, which may be why the write was cancelled: it forgets the key in a turn of its own.
  @usableFromInline
  func failure(_ error: any Error, _ key: Key) async -> any Error {
    guard error is CancellationError else { return error }
    if upper.storesAtOnce {
      await forgetAbove(key)
    } else {
      Task.detached { try? await gate.write(key) { _ in await forgetAbove(key) } }
    }
    return error
  }

  private func forgetAbove(_ key: Key) async {
    do { try await upper.remove(key) } catch {
      manner.report(.remove, of: upper.name, key: key, error, since: nil)
    }
  }

  /// What a read through both levels finds in the turn of a key; what a sweep has yet to get to above is removed there first.
  func held(_ key: Key, since began: GatePhase) async throws -> Entry<Value>? {
    if let entry = try await upper.lookup(key).entry {
      guard gate.isSweptMeanwhile(key, entry.hasUntoldTags ? nil : entry.tags, since: began) else { return entry }
      try await upper.remove(key)
    }
    return try await lower.lookup(key).entry
  }

  /// Stores what was made of an entry, if there was one, and takes it back if a removal of many keys comes in the meantime that
  /// concerns both.
  ///
  /// The lower level may have taken it after the removal, and yet it is from before.
  func storeMade(
    of entry: Entry<Value>?, _ value: Value, _ key: Key, _ terms: StoreTerms, since began: GatePhase
  ) async throws {
    let stored: Result<Void, any Error>
    do { stored = .success(try await storeInBoth(value, key, terms, since: began)) } catch {
      stored = .failure(error)
    }
    if let entry, gate.isRemovedBelow(key, entry.tags.intersection(terms.tags), since: began) {
      try await gate.forget(key, in: lower)
      try await gate.forget(key, in: upper)
    }
    try stored.get()
  }
}

extension ComposedLevel: ConditionalLevel where Upper: ConditionalLevel, Lower: ConditionalLevel {
  /// Stores a value in both levels if a condition holds for what a read through both finds.
  ///
  /// What takes the place of another value during a removal of many entries is treated as what an update makes of one.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: Its lifetime, its cost, and who stores it.
  ///   - condition: What must be true of the key.
  /// - Returns: Whether the condition held.
  /// - Throws: As ``set(_:forKey:)``; the error of a level that could not say whether it holds the key.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await gate.write(key) { began in
      let present = try await held(key, since: began)
      guard condition.holds(isHeld: present != nil) else { return false }
      try await storeMade(of: present, value, key, terms, since: began)
      return true
    }
  }
}
