extension ComposedLevel: BulkLevel where Lower: BulkLevel {
  /// Asks the upper level for each key, and the lower one for all that are missing there with one question.
  ///
  /// Each key is read as by ``lookup(_:)``, even if it is being written.
  public func lookup(_ keys: [Key]) async throws -> [BulkAnswer<Key, Value>] {
    let distinct = DistinctKeys(keys)
    let began = gate.currentEpoch
    var results = try await upperResults(distinct.keys)
    let missing = results.indices.filter { place in
      if case .success(.hit) = results[place] { return false }
      return true
    }
    let tickets = missing.map { gate.beginRead(distinct.keys[$0], since: began) }
    defer { for (place, ticket) in zip(missing, tickets) { gate.endRead(distinct.keys[place], ticket) } }
    for place in missing {
      if let above = UpperMiss(results[place]) { try reportFailure(of: above, distinct.keys[place]) }
    }
    if !missing.isEmpty {
      try Task.checkCancellation()
      let below = try await lowerResults(missing.map { distinct.keys[$0] }, areAll: missing.count == results.count)
      for ((place, ticket), result) in zip(zip(missing, tickets), below) {
        results[place] = try await raised(result, distinct.keys[place], ticket, above: results[place])
      }
    }
    return zip(keys, distinct.spread(results)).map { BulkAnswer(key: $0, result: $1) }
  }

  /// What a read gives for one key, and copies upwards.
  private func raised(
    _ below: Result<Lookup<Value>, any Error>, _ key: Key, _ ticket: ReadTicket, above: Result<Lookup<Value>, any Error>
  ) async throws -> Result<Lookup<Value>, any Error> {
    guard case .success(let found) = below else { return below }
    if ticket.isLate, let entry = try await askAgain(key) { return .success(.hit(entry)) }
    try await keep(found, key, ticket, dropping: UpperMiss(above)?.mayKeepStale == true ? .stale : .nothing)
    if found.missReason == .nothingToAsk { return above }
    return .success(gate.isOvertaken(key, ticket) ? try await askAgain(key).map { .hit($0) } ?? found : found)
  }

  private func upperResults(_ keys: [Key]) async throws -> [Result<Lookup<Value>, any Error>] {
    guard upper.storesAtOnce else {
      do { return try await upper.answers(for: keys).map(\.result) } catch {
        if error is CancellationError { throw error }
        return keys.map { _ in .failure(error) }
      }
    }
    // What stores at once answers at once: a task for each key would take longer.
    var results: [Result<Lookup<Value>, any Error>] = []
    for key in keys {
      do { results.append(.success(try await upper.lookup(key))) } catch { results.append(.failure(error)) }
    }
    return results
  }

  /// What the lower level gives; where that is nothing for any key, it fails those that it was asked for, and not the others.
  private func lowerResults(_ keys: [Key], areAll: Bool) async throws -> [Result<Lookup<Value>, any Error>] {
    do { return try await lower.lookup(keys).map(\.result) } catch {
      if areAll || error is CancellationError { throw error }
      return keys.map { _ in .failure(error) }
    }
  }

  /// Stores each value as ``store(_:forKey:terms:)`` does: each key has its turn, so both levels are asked key by key.
  public func store(_ entries: [(key: Key, value: Value)], terms: StoreTerms) async throws {
    try await storeKeyByKey(entries, terms: terms)
  }

  /// Removes each key as ``remove(_:)`` does; all of them are tried.
  public func remove(_ keys: [Key]) async throws { try await removeKeyByKey(keys) }
}
