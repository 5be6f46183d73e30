/// A level that is asked for many keys at once.
///
/// Built by ``CacheLevel/allBatch()``. Its keys are lists of keys, its values lists of values in the same order.
///
/// | the level inside | a read gives |
/// |---|---|
/// | hits for all keys | all values, in the order of the keys |
/// | a miss for some key | a miss, with the reason of the first key in order that missed |
/// | fails for some key | the first error; the other reads are cancelled |
/// | no keys | no values |
///
/// Callers of `value(forKey:orLoad:)` who give the same list at once share one load; lists that merely have keys in common do not.
///
/// A key that is in the list twice is asked for once. A ``BulkLevel`` is asked one question for all keys, any other
/// level key by key, 64 at once. Cancelling a read or write cancels all of it.
///
/// Entries can be removed by their tags. Nobody can count the lists by which an entry can be read, and a list is not
/// stored in one moment: to remove by what keys look like, or to store on a condition, use ``base``.
public struct BatchLevel<Base: CacheLevel>: CacheLevel {
  /// Lists of keys.
  public typealias Key = [Base.Key]
  /// Lists of values, in the order of the keys.
  public typealias Value = [Base.Value]

  /// The level that is asked for each key.
  public let base: Base

  init(base: Base) { self.base = base }

  /// The name of the level inside.
  public var name: String { base.name }

  /// Returns the values for all keys, or `nil` if one is missing.
  ///
  /// - Parameter keys: The keys to look up.
  /// - Returns: The values in the order of the keys, or `nil`.
  /// - Throws: The first error of the level inside.
  public func get(_ keys: [Base.Key]) async throws -> [Base.Value]? { try await lookup(keys).entry?.value }

  /// Returns the values for all keys as one entry, or the reason of the first miss.
  ///
  /// - Parameter keys: The keys to look up.
  /// - Returns: An entry that expires when the first of its values does, has the tags of all, has their validator if all have
  ///   the same one, and is a placeholder if one of them is; or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  public func lookup(_ keys: [Base.Key]) async throws -> Lookup<[Base.Value]> {
    Self.joined(try await base.answers(for: keys, stopsAtFailure: true).map { try $0.result.get() })
  }

  /// Returns the values for all keys as one entry, expired ones included.
  ///
  /// - Parameter keys: The keys to look up.
  /// - Returns: An entry that is stale if one of its values is, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  public func lookupIncludingExpired(_ keys: [Base.Key]) async throws -> Lookup<[Base.Value]> {
    Self.joined(
      try await keys.bounded(by: Base.bulkWidth) { [base] in try await base.lookupIncludingExpired($0) })
  }

  /// Returns the values if the level inside can give all of them at once.
  ///
  /// - Parameter keys: The keys to look up.
  /// - Returns: The values, or `nil` if only ``get(_:)`` can tell.
  public func peek(_ keys: [Base.Key]) -> [Base.Value]? {
    var values: [Base.Value] = []
    for key in keys {
      guard let value = base.peek(key) else { return nil }
      values.append(value)
    }
    return values
  }

  /// Stores each value under the key in its place.
  ///
  /// - Parameters:
  ///   - values: As many values as there are keys.
  ///   - keys: The keys to store them under. Of a key that is there twice the last value counts.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/unequalCounts``, and nothing is written; else the first error
  ///   of the level inside, and some values may be written.
  public func set(_ values: [Base.Value], forKey keys: [Base.Key]) async throws {
    try await store(values, forKey: keys, terms: StoreTerms())
  }

  /// Stores each value under the key in its place, on terms of its own.
  ///
  /// - Parameters:
  ///   - values: As many values as there are keys.
  ///   - keys: The keys to store them under.
  ///   - terms: How long they may live, and who stores them.
  /// - Throws: As ``set(_:forKey:)``.
  public func store(_ values: [Base.Value], forKey keys: [Base.Key], terms: StoreTerms) async throws {
    guard values.count == keys.count else {
      throw CacheError(
        .unequalCounts, "\(values.count) values cannot be stored under \(keys.count) keys; nothing was written",
        level: name)
    }
    if let parts = (terms.load as? LoadTicket)?.parts, !parts.isEmpty {
      return try await storeLoaded(values, keys, terms, parts)
    }
    let entries = zip(keys, values).map { (key: $0, value: $1) }
    guard let bulk = base.asBulk else { return try await base.storeKeyByKey(entries, terms: terms) }
    try await bulk.store(entries, terms: terms.withoutCost)
  }

  /// Stores what a load gave, but for the keys that somebody wrote meanwhile.
  private func storeLoaded(
    _ values: [Base.Value], _ keys: [Base.Key], _ terms: StoreTerms, _ parts: [LoadTicket?]
  ) async throws {
    try await base.forEach(DistinctKeys(keys).lastPlaces) { [base] place in
      var own = terms.withoutCost
      own.load = parts[place]
      try await base.store(values[place], forKey: keys[place], terms: own)
    }
  }

  /// Removes every one of the keys.
  ///
  /// - Parameter keys: The keys to remove.
  /// - Throws: The first error; all keys are tried.
  public func remove(_ keys: [Base.Key]) async throws {
    guard let bulk = base.asBulk else { return try await base.removeKeyByKey(keys) }
    try await bulk.remove(keys)
  }

  /// Removes everything from the level inside.
  public func clear() async throws { try await base.clear() }

  /// Passes the warning to the level inside.
  public func onMemoryWarning() async { await base.onMemoryWarning() }

  private static func joined(_ answers: [Lookup<Base.Value>]) -> Lookup<[Base.Value]> {
    var whole = Entry<[Base.Value]>([])
    for answer in answers {
      switch answer {
      case .miss(let reason): return .miss(reason)
      case .hit(let entry):
        whole.value.append(entry.value)
        whole.isStale = whole.isStale || entry.isStale
        whole.isPlaceholder = whole.isPlaceholder || entry.isPlaceholder
        whole.level = whole.level ?? entry.level
        whole.hasUntoldTags = whole.hasUntoldTags || entry.toldTags == nil
        whole.isProcessed = whole.isProcessed || entry.isProcessed
        whole.tags.formUnion(entry.tags)
        if let deadline = entry.deadline { whole.deadline = min(whole.deadline ?? deadline, deadline) }
        if let created = entry.created { whole.created = min(whole.created ?? created, created) }
      }
    }
    // The validator of some of the values does not speak for the others.
    if let validator = whole.validator, answers.contains(where: { $0.entry?.validator != validator }) {
      whole.validator = nil
    }
    return .hit(whole)
  }
}

extension BatchLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }
}

extension BatchLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies of every one of the keys.
  ///
  /// - Throws: The first error; all keys are tried.
  public func invalidate(_ keys: [Base.Key]) async throws {
    try await base.forEach(keys) { [base] key in try await base.invalidate(key) }
  }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension BatchLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload every key, and returns the values in the order of the keys: all or none.
  public func reload(_ keys: [Base.Key]) async throws -> Lookup<[Base.Value]> {
    Self.joined(try await keys.bounded(by: Base.bulkWidth) { [base] in try await base.reload($0) })
  }
}

extension CacheLevel {
  /// Lets this level be asked for many keys at once, all or nothing.
  ///
  /// The result is a level like any other: it composes, transforms and pools. But compose and pool first if keys can be in
  /// several lists: `memory.compose(disk).pooled().allBatch()`. Writes are ordered, and outdated values refused, key by key, and
  /// to a composition or a pool of batch levels a list is one key: two lists that share a key are independent there.
  ///
  /// - Returns: A level whose keys are lists of this level's keys.
  public func allBatch() -> BatchLevel<Self> { BatchLevel(base: self) }

  /// Returns the values for those of the keys that can be had.
  ///
  /// A ``BulkLevel`` is asked one question, any other level key by key, 64 at once; the call returns when the last one has
  /// been answered. Keys that miss or fail are left out.
  ///
  /// - Parameter keys: The keys to look up. A key that is given twice is asked for once and delivered twice.
  /// - Returns: The values found, each with its key, in the order of the keys.
  /// - Throws: `CancellationError` only.
  public func batchGetSome(_ keys: [Key]) async throws -> [(key: Key, value: Value)] {
    let answers: [BulkAnswer<Key, Value>]
    do { answers = try await self.answers(for: keys) } catch {
      if error is CancellationError { throw error }
      answers = []
    }
    try Task.checkCancellation()
    return answers.compactMap { answer in (try? answer.result.get())?.entry.map { (answer.key, $0.value) } }
  }
}

extension BatchLevel: ShapedLevel { package var shape: LevelShape { .wrapper(base) } }
