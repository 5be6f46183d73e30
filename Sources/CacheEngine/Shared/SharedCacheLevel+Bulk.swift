public import CacheCore

extension SharedCacheLevel: BulkLevel {
  /// Returns what is held, or why there is nothing; many keys with one question.
  public func lookup(_ keys: [Key]) async throws -> [BulkAnswer<Key, Value>] {
    try await named {
      let distinct = DistinctKeys(keys)
      if keys.isEmpty { return [] }
      let names = distinct.keys.map { key in
        Result {
          let bytes = try codec.keyCoding.bytes(key)
          return (id: id(of: key, bytes), key: bytes)
        }
      }
      // A key that has no bytes fails alone.
      var found = try await look(names.compactMap { try? $0.get() })[...]
      let time = try await time()
      let results = names.map { name in
        name.flatMap { _ in
          let answer = found.removeFirst()
          return Result { try lookup(answer, time, false) }
        }.mapError(named)
      }
      return zip(keys, distinct.spread(results)).map { BulkAnswer(key: $0, result: $1) }
    }
  }

  /// Stores values, all in one moment.
  public func store(_ entries: [(key: Key, value: Value)], terms: StoreTerms) async throws {
    try await named {
      var contents: [[UInt8]: Content] = [:]
      try await knowTime(forWriting: entries.map(\.key))
      for (key, value) in entries {
        let content = try content(value, key, terms)
        contents[content.id] = content
      }
      if !contents.isEmpty { try await put(Array(contents.values)) }
    }
  }

  /// Removes what is held.
  public func remove(_ keys: [Key]) async throws {
    try await named {
      let moment = unsettled.moment
      let ids = try keys.map { id(of: $0, try codec.keyCoding.bytes($0)) }
      if ids.isEmpty { return }
      try Task.checkCancellation()
      do {
        _ = try await write(
          ids.flatMap { [.remove(namespace.record($0)), .remove(namespace.lease($0))] }, if: [], reading: [])
      } catch {
        unsettled.add(records: ids)
        throw error
      }
      unsettled.settle(ids, asOf: moment)
    }
  }
}
