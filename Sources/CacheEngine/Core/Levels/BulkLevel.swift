/// A level that answers for many keys with one question: Redis by one command, a database by one query.
///
/// Compositions and erased levels hand the question on; ``CacheLevel/allBatch()`` and ``CacheLevel/batchGetSome(_:)`` ask it.
/// Any other level they ask key by key, so many at once.
public protocol BulkLevel<Key, Value>: CacheLevel {
  /// Returns what each of the keys has.
  ///
  /// - Parameter keys: The keys to look up. One that stands twice is asked for once.
  /// - Returns: For each key, in the order of the keys, its entry or the reason for the miss, or the error with which that key
  ///   alone failed.
  /// - Throws: An error if the level could not answer for any key; `CancellationError`.
  func lookup(_ keys: [Key]) async throws -> [BulkAnswer<Key, Value>]

  /// Stores values under their keys.
  ///
  /// - Parameters:
  ///   - entries: The values, each with its key. Of a key that is there twice the last value counts.
  ///   - terms: How long they may live, and who stores them. A cost is left out, since it would be that of all together.
  /// - Throws: An error if some may not be stored.
  func store(_ entries: [(key: Key, value: Value)], terms: StoreTerms) async throws

  /// Removes the values for keys.
  ///
  /// - Parameter keys: The keys to remove.
  /// - Throws: An error if some may still be there.
  func remove(_ keys: [Key]) async throws
}

extension BulkLevel {
  /// Stores values under their keys, for as long as the level's default lifetime says.
  ///
  /// - Parameter entries: The values, each with its key.
  /// - Throws: An error if some may not be stored.
  public func set(_ entries: [(key: Key, value: Value)]) async throws { try await store(entries, terms: StoreTerms()) }
}

/// What one key of a question for many has.
public struct BulkAnswer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The key.
  public let key: Key
  /// Its entry or the reason for the miss, or the error with which this key alone failed.
  public let result: Result<Lookup<Value>, any Error>

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - result: What it has.
  public init(key: Key, result: Result<Lookup<Value>, any Error>) {
    self.key = key
    self.result = result
  }
}

/// The different keys of a list, and where in it each of them stands.
package struct DistinctKeys<Key: Hashable & Sendable>: Sendable {
  package private(set) var keys: [Key] = []
  /// For each place of the list the number of its key.
  private(set) var numbers: [Int] = []

  package init(_ list: [Key]) {
    // By number, since a key with a NaN in it would not be found again.
    var known: [Key: Int] = [:]
    numbers = list.map { key in
      if let number = known[key] { return number }
      known[key] = keys.count
      keys.append(key)
      return keys.count - 1
    }
  }

  /// For each key the last of its places.
  var lastPlaces: [Int] {
    var places = Array(repeating: 0, count: keys.count)
    for (place, number) in numbers.enumerated() { places[number] = place }
    return places
  }

  /// What belongs to each place of the list, from what belongs to each key.
  package func spread<Answer>(_ answers: [Answer]) -> [Answer] { numbers.map { answers[$0] } }
}

extension CacheLevel {
  /// How many keys a level that is asked key by key is asked for at once.
  static var bulkWidth: Int { 64 }

  /// This level, or what it hides, if that answers for many keys with one question.
  var asBulk: (any BulkLevel<Key, Value>)? { unerased as? any BulkLevel<Key, Value> }

  /// Looks up many keys: with one question if this level can, else key by key, where the error of one may end everything.
  func answers(for keys: [Key], stopsAtFailure: Bool = false) async throws -> [BulkAnswer<Key, Value>] {
    if let bulk = asBulk { return try await bulk.lookup(keys) }
    return try await keys.bounded(by: Self.bulkWidth) { key in
      do { return BulkAnswer(key: key, result: .success(try await self.lookup(key))) } catch {
        if stopsAtFailure || error is CancellationError { throw error }
        return BulkAnswer(key: key, result: .failure(error))
      }
    }
  }

  /// Does something with each key, or whatever stands for one, and throws the first error when all have been tried.
  func forEach<Item: Hashable & Sendable>(
    _ items: [Item], _ work: @escaping @Sendable (Item) async throws -> Void
  ) async throws {
    let failures = try await items.bounded(by: Self.bulkWidth) { item -> (any Error)? in
      do { try await work(item) } catch { return error }
      return nil
    }
    if let failure = failures.lazy.compactMap(\.self).first { throw failure }
  }

  /// Removes keys one by one, and tries all of them.
  func removeKeyByKey(_ keys: [Key]) async throws { try await forEach(keys) { key in try await self.remove(key) } }

  /// Stores values one by one; of a key that stands twice the last one.
  func storeKeyByKey(_ entries: [(key: Key, value: Value)], terms: StoreTerms) async throws {
    // What all weigh together says nothing of each.
    let each = terms.withoutCost
    try await DistinctKeys(entries.map(\.key)).lastPlaces.bounded(by: Self.bulkWidth) { place in
      try await self.store(entries[place].value, forKey: entries[place].key, terms: each)
    }
  }
}

extension Array where Element: Hashable & Sendable {
  /// Runs work for each distinct element, so many at once, and returns what it gave in the order of the elements.
  @discardableResult
  func bounded<Answer: Sendable>(
    by width: Int, _ work: @escaping @Sendable (Element) async throws -> Answer
  ) async throws -> [Answer] {
    let distinct = DistinctKeys(self)
    let answers = try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
      var answers: [Answer?] = .init(repeating: nil, count: distinct.keys.count)
      for (number, element) in distinct.keys.enumerated() {
        if number >= width, let (done, answer) = try await group.next() { answers[done] = answer }
        group.addTask { (number, try await work(element)) }
      }
      for try await (number, answer) in group { answers[number] = answer }
      return answers.compactMap(\.self)
    }
    return distinct.spread(answers)
  }
}
