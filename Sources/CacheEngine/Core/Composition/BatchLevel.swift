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
/// A key that stands twice in the list is asked for once. Cancelling a read or write cancels all of it.
///
/// Entries can be removed by their tags. What lists there are by which an entry can be read, nobody can count, and a list is
/// not stored in one moment: to remove by what keys look like, or to store on a condition, use ``base``.
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
  /// - Returns: An entry that expires when the first of its values does, has the tags of all, and is a placeholder if one of
  ///   them is; or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  public func lookup(_ keys: [Base.Key]) async throws -> Lookup<[Base.Value]> {
    Self.joined(try await keys.concurrently { [base] in try await base.lookup($0) })
  }

  /// Returns the values for all keys as one entry, expired ones included.
  ///
  /// - Parameter keys: The keys to look up.
  /// - Returns: An entry that is stale if one of its values is, or the reason for the miss.
  /// - Throws: As ``get(_:)``.
  public func lookupIncludingExpired(_ keys: [Base.Key]) async throws -> Lookup<[Base.Value]> {
    Self.joined(try await keys.concurrently { [base] in try await base.lookupIncludingExpired($0) })
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
  ///   - keys: The keys to store them under. Of a key that stands twice the last value counts.
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
    // What the whole list weighs says nothing of its parts.
    let each = terms.withoutCost
    let pairs = Dictionary(zip(keys, values)) { _, last in last }
    try await keys.concurrently { [base, each] key in
      if let value = pairs[key] { try await base.store(value, forKey: key, terms: each) }
    }
  }

  /// Removes every one of the keys.
  ///
  /// - Parameter keys: The keys to remove.
  /// - Throws: The first error; all keys are tried.
  public func remove(_ keys: [Base.Key]) async throws {
    try await forEach(keys) { [base] key in try await base.remove(key) }
  }

  /// Does something with every key, and throws the first error when all have been tried.
  func forEach(_ keys: [Base.Key], _ work: @escaping @Sendable (Base.Key) async throws -> Void) async throws {
    let failures = try await keys.concurrently { key -> (any Error)? in
      do {
        try await work(key)
        return nil
      } catch { return error }
    }
    if let failure = failures.lazy.compactMap(\.self).first { throw failure }
  }

  /// Removes everything from the level inside.
  public func clear() async throws { try await base.clear() }

  /// Hands the warning to the level inside.
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
        whole.tags.formUnion(entry.tags)
        if let deadline = entry.deadline { whole.deadline = min(whole.deadline ?? deadline, deadline) }
        if let created = entry.created { whole.created = min(whole.created ?? created, created) }
      }
    }
    return .hit(whole)
  }
}

extension BatchLevel: TaggedLevel where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }
}

extension CacheLevel {
  /// Lets this level be asked for many keys at once, all or nothing.
  ///
  /// The result is a level like any other: it composes, transforms and pools. Compose and pool first, though, where keys
  /// can stand in several lists: `memory.compose(disk).pooled().allBatch()`. What orders writes and refuses what is out of
  /// date goes by keys, and to a composition or a pool of batch levels a list is one key: two lists that have a key in
  /// common know nothing of each other.
  ///
  /// - Returns: A level whose keys are lists of this level's keys.
  public func allBatch() -> BatchLevel<Self> { BatchLevel(base: self) }

  /// Returns the values for those of the keys that can be had.
  ///
  /// All keys are asked for at once, and the call returns when the last one has been answered. Keys that miss or fail
  /// are left out.
  ///
  /// - Parameter keys: The keys to look up. A key that stands twice is asked for once and delivered twice.
  /// - Returns: The values found, each with its key, in the order of the keys.
  /// - Throws: `CancellationError` only.
  public func batchGetSome(_ keys: [Key]) async throws -> [(key: Key, value: Value)] {
    let values = try await keys.concurrently { key -> Value? in
      do { return try await self.get(key) } catch { return nil }
    }
    try Task.checkCancellation()
    return zip(keys, values).compactMap { key, value in value.map { (key, $0) } }
  }
}

extension Array where Element: Hashable & Sendable {
  /// Runs work for each distinct element at once, and returns what it gave in the order of the elements.
  @discardableResult
  fileprivate func concurrently<Answer: Sendable>(
    _ work: @escaping @Sendable (Element) async throws -> Answer
  ) async throws -> [Answer] {
    // By number, since an element with a NaN in it would not be found again.
    var numbers: [Element: Int] = [:]
    var distinct: [Element] = []
    let places = map { element in
      if let number = numbers[element] { return number }
      let number = distinct.count
      numbers[element] = number
      distinct.append(element)
      return number
    }
    let answers = try await withThrowingTaskGroup(of: (Int, Answer).self) { [distinct] group in
      for (number, element) in distinct.enumerated() { group.addTask { (number, try await work(element)) } }
      var answers: [Int: Answer] = [:]
      for try await (number, answer) in group { answers[number] = answer }
      return answers
    }
    return places.compactMap { answers[$0] }
  }
}

extension BatchLevel: ShapedLevel { package var shape: LevelShape { .wrapper(base) } }
