import CacheEngine

extension LevelContract {
  /// What is promised of a `StorageLevel`; nothing for a level that is not one.
  var storageChecks: [Check] {
    guard Level.self is any StorageLevel.Type else { return [] }
    return [usageAgrees] + (capabilities.contains(.expiring) ? [removesExpired, expiresOnDemand] : [])
  }

  private var usageAgrees: Check {
    let keys = keys
    let isBounded = capabilities.contains(.bounded)
    return check("usage", "usage and contents tell of the same entries, within the limits") { trial in
      let storage = try trial.storage()
      try await trial.expectContents(of: storage, toBe: [])
      var expected: Set<Level.Key> = []
      // The last one twice, with two values: of another cost, the second may take other entries' room.
      for (position, key) in (keys + keys.suffix(1)).enumerated() {
        try await trial.level.set(value(position), forKey: key)
        expected.insert(key)
        let held = Set(try await storage.contents().map(\.key))
        if isBounded { expected.formIntersection(held) }
        trial.expect("the entry just set to be listed", held.contains(key), is: true)
        try await trial.expectContents(of: storage, toBe: expected)
      }
      guard let last = keys.last else { return }
      try await trial.level.remove(last)
      try await trial.expectContents(of: storage, toBe: expected.subtracting([last]))
      try await trial.level.clear()
      try await trial.expectContents(of: storage, toBe: [])
    }
  }

  private var removesExpired: Check {
    let (keys, values) = (keys, values)
    return check("remove-expired", "what has expired is dropped and counted, and nothing else") { trial in
      let (clock, storage) = (try trial.clock(), try trial.storage())
      try await trial.level.set(values[0], forKey: keys[0], expiry: .after(.seconds(60)))
      try await trial.level.set(values[1], forKey: keys[1], expiry: .after(.seconds(61)))
      trial.expect("how many had expired", try await storage.removeExpired(), is: 0)
      clock.advance(by: .seconds(60))
      trial.expect("how many had expired", try await storage.removeExpired(), is: 1)
      try await trial.expectContents(of: storage, toBe: [keys[1]])
      try await trial.expectGet(keys[1], is: values[1])
    }
  }

  private var expiresOnDemand: Check {
    let (keys, values) = (keys, values)
    return check("expire", "expire ends the lifetime of one entry, and leaves an absent key alone") { trial in
      let storage = try trial.storage()
      for key in keys.prefix(2) { try await trial.level.set(values[0], forKey: key) }
      try await storage.expire(keys[0])
      trial.expect("the reason", try await trial.level.lookup(keys[0]).missReason, is: .expired)
      try await trial.expectGet(keys[1], is: values[0])
      try await trial.level.remove(keys[1])
      try await storage.expire(keys[1])
      try await trial.expectGet(keys[1], is: nil)
    }
  }
}

extension ContractTrial {
  fileprivate typealias Storage = any StorageLevel<Level.Key, Level.Value>

  fileprivate func storage() throws -> Storage {
    guard let storage = level as? Storage else { throw IncompleteFixture("not a storage level") }
    return storage
  }

  fileprivate mutating func expectContents(of storage: Storage, toBe keys: Set<Level.Key>) async throws {
    let (contents, usage) = (try await storage.contents(), storage.usage)
    expect("the keys listed", Set(contents.map(\.key)), is: keys)
    expect("the count of the contents", contents.count, is: keys.count)
    expect("the count in the usage", usage.count, is: keys.count)
    let cost = contents.reduce(0) { $0 + $1.cost }
    if cost > usage.cost { report("a cost of at least that of the contents, \(cost)", "\(usage.cost)") }
    if let capacity = usage.capacity, usage.cost > capacity { report("a cost within \(capacity)", "\(usage.cost)") }
    if let limit = usage.countLimit, usage.count > limit { report("a count within \(limit)", "\(usage.count)") }
    for summary in contents {
      let deadline = try await storage.lookup(summary.key).entry?.deadline
      expect("the deadline listed for \(summary.key)", summary.deadline, is: deadline)
    }
  }
}
