import CacheCore

extension SharedCacheLevel {
  func find(_ key: Key, includingExpired: Bool) async throws -> Lookup<Value> {
    try await named {
      let bytes = try codec.keyCoding.bytes(key)
      let id = id(of: key, bytes)
      guard let found = try await look([(id, bytes)]).first else { return .miss(.absent) }
      return try lookup(found, try await time(), includingExpired)
    }
  }

  /// Finds the records of keys, or for each the reason why there is none.
  func look(_ keys: [(id: [UInt8], key: [UInt8])]) async throws -> [Result<SharedCodec<Key, Value>.Opened, any Error>] {
    // A name that is settled while it is read may have been read before that.
    let inDoubt = keys.map { unsettled.concerns($0.id) }
    let found = try await store.read(keys.map { namespace.record($0.id) } + [namespace.stamp])
    return try await judge(keys, found, inDoubt: inDoubt)
  }

  /// Judges what was read under the names of keys and, last, as the stamp of the namespace.
  func judge(
    _ keys: [(id: [UInt8], key: [UInt8])], _ found: [[UInt8]?], inDoubt: [Bool]
  ) async throws -> [Result<SharedCodec<Key, Value>.Opened, any Error>] {
    guard found.count == keys.count + 1, let stamp = found[keys.count].map(SharedToken.carried) else {
      return keys.map { _ in .failure(SharedMiss(.absent)) }
    }
    var answers: [Result<SharedCodec<Key, Value>.Opened, any Error>] = []
    var tags: [[UInt8]: [UInt8]] = [:]
    for (place, key) in keys.enumerated() {
      answers.append(
        Result {
          guard let bytes = found[place] else { throw SharedMiss(.absent) }
          let opened = try codec.open(bytes, id: key.id, key: key.key).get()
          guard opened.record.stamp == stamp else { throw SharedMiss(.absent) }
          for tag in opened.record.tags { tags[tag.id] = [] }
          return opened
        })
    }
    if !tags.isEmpty {
      let ids = Array(tags.keys)
      let stamps = try await store.read(ids.map(namespace.tag))
      for (id, stamp) in zip(ids, stamps) { tags[id] = stamp.map(SharedToken.carried) }
    }
    return zip(zip(keys, inDoubt), answers).map { key, answer in
      answer.flatMap { opened in
        guard !key.1, !unsettled.concerns(key.0.id, tags: opened.record.tags) else {
          return .failure(SharedMiss(.unsettled))
        }
        return opened.record.tags.allSatisfy { tags[$0.id] == $0.stamp } ? answer : .failure(SharedMiss(.absent))
      }
    }
  }

  func lookup(
    _ found: Result<SharedCodec<Key, Value>.Opened, any Error>, _ time: Duration, _ includingExpired: Bool
  ) throws -> Lookup<Value> {
    let opened: SharedCodec<Key, Value>.Opened
    do { opened = try found.get() } catch let miss as SharedMiss { return .miss(miss.reason) }
    let now = Self.nanoseconds(time)
    let isStale = opened.record.deadline <= now
    if isStale {
      let age = Duration.nanoseconds(now &- opened.record.deadline)
      guard includingExpired, age < keepsExpired else { return .miss(.expired) }
    }
    // What is stored in another coding is left alone, and told.
    let value = try codec.valueCoding.unpack(opened.packed)
    var entry = Entry(
      value, deadline: opened.record.deadline == SharedRecord.never ? nil : instant(opened.record.deadline),
      cost: Int(clamping: opened.record.cost), level: name, created: instant(opened.record.created))
    entry.isStale = isStale
    entry.tags = opened.tags
    return .hit(entry)
  }
}
