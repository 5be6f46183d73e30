import CacheCore

extension SharedCacheLevel {
  /// The right to fill in a key that is missing.
  struct Lease: Sendable {
    let id: [UInt8]
    let token: [UInt8]
    let stamp: [UInt8]
    let tagEpoch: [UInt8]
    let moment: UInt64
  }

  enum Turn: Sendable {
    /// Nobody else loads.
    case leads(Lease)
    case found(Entry<Value>)
    /// Somebody else loads; `token` is his.
    case follows(token: [UInt8])
    /// The one who was followed found nothing.
    case nothingFound
  }

  private static var loading: UInt8 { 0x4c }
  private static var foundNothing: UInt8 { 0x4d }

  /// Takes the right to load a key, unless it is there or somebody has that right, or had it and found nothing.
  func turn(_ key: Key, life: Duration, following followed: [UInt8]?) async throws -> Turn {
    try await named {
      let bytes = try codec.keyCoding.bytes(key)
      let id = id(of: key, bytes)
      let (record, leaseName) = (namespace.record(id), namespace.lease(id))
      let names = [record, namespace.stamp]
      func entry(_ found: [[UInt8]?], inDoubt: Bool) async throws -> Entry<Value>? {
        try lookup(try await judge([(id, bytes)], found, inDoubt: [inDoubt])[0], try await time(), false).entry
      }
      let inDoubt = unsettled.concerns(id)
      let seen = try await store.read(names + [leaseName])
      if let entry = try await entry(Array(seen.prefix(2)), inDoubt: inDoubt) { return .found(entry) }
      let held = seen.count > 2 ? seen[2] : nil
      if let held, held.last == Self.loading { return .follows(token: Array(held.dropLast())) }
      if let held, let followed, held.dropLast().elementsEqual(followed) { return .nothingFound }
      let token = SharedToken.random()
      let moment = unsettled.moment
      let isStillInDoubt = unsettled.concerns(id)
      return try await taking(leaseName, token) {
        let taken = try await write(
          [
            .set(leaseName, to: token + [Self.loading], lifetime: life),
            .make(namespace.stamp, as: SharedToken.random(), lifetime: nil),
            .make(namespace.tagEpoch, as: SharedToken.random(), lifetime: nil),
          ], if: [condition(leaseName, is: held)], reading: names + [namespace.tagEpoch])
        guard let taken, taken.count == 3, let stamp = taken[1], let epoch = taken[2] else {
          return .follows(token: followed ?? [])
        }
        let lease = Lease(id: id, token: token, stamp: stamp, tagEpoch: epoch, moment: moment)
        // It may have come since.
        guard let entry = try await entry(Array(taken.prefix(2)), inDoubt: isStillInDoubt) else { return .leads(lease) }
        try await end(lease, foundNothing: false)
        return .found(entry)
      }
    }
  }

  /// Lets a lease that may have been taken go where nobody comes to know it; nobody waits for that.
  private func taking<Answer>(
    _ name: [UInt8], _ token: [UInt8], _ take: () async throws -> Answer
  ) async throws -> Answer {
    do { return try await take() } catch {
      let store = store
      Task { _ = try? await store.commit([.remove(name)], if: [.begins(name, with: token)], reading: []) }
      throw error
    }
  }

  /// Takes the right to load a key, whoever has it and whatever is there.
  func takeTurn(_ key: Key, life: Duration) async throws -> Lease {
    try await named {
      let bytes = try codec.keyCoding.bytes(key)
      let id = id(of: key, bytes)
      let token = SharedToken.random()
      let moment = unsettled.moment
      let taken = try await taking(namespace.lease(id), token) {
        try await write(
          [
            .set(namespace.lease(id), to: token + [Self.loading], lifetime: life),
            .make(namespace.stamp, as: SharedToken.random(), lifetime: nil),
            .make(namespace.tagEpoch, as: SharedToken.random(), lifetime: nil),
          ], if: [], reading: [namespace.stamp, namespace.tagEpoch])
      }
      guard let taken, taken.count == 2, let stamp = taken[0], let epoch = taken[1] else {
        throw CacheError(.unreachable, "the store \(store.name) does not keep what is written to it")
      }
      return Lease(id: id, token: token, stamp: stamp, tagEpoch: epoch, moment: moment)
    }
  }

  /// Removes the record of a key, unless it was written since.
  func drop(_ lease: Lease) async throws {
    try await named {
      _ = try await store.commit(
        [.remove(namespace.record(lease.id))], if: [.begins(namespace.lease(lease.id), with: lease.token)], reading: [])
    }
  }

  /// Stores what was loaded under a lease, unless the key was written or removed since, or its tags were.
  ///
  /// - Returns: Whether it was stored.
  func fill(_ entry: Entry<Value>, _ key: Key, _ lease: Lease) async throws -> Bool {
    try await named {
      let terms = StoreTerms.backFill(deadline: entry.deadline, tags: entry.tags, created: entry.created)
      _ = try await time()
      let content = try content(entry.value, key, terms)
      var conditions: [SharedCondition] = [
        .begins(namespace.lease(lease.id), with: lease.token), .begins(namespace.stamp, with: lease.stamp),
      ]
      var stamps = [namespace.stamp: lease.stamp]
      let tags = Array(stampNames([content]).dropFirst())
      if !tags.isEmpty {
        conditions.append(.begins(namespace.tagEpoch, with: lease.tagEpoch))
        let found = try await store.commit(making(tags, [:]), if: conditions, reading: tags)
        for (name, stamp) in zip(tags, found ?? []) { stamps[name] = stamp }
      }
      let changes = try changes([content], stamps, time: try await time())
      // Some write failed since, and voided no lease.
      guard !unsettled.hasFailed(since: lease.moment), !unsettled.concerns(lease.id) else { return false }
      return try await store.commit(changes, if: conditions, reading: []) != nil
    }
  }

  /// Gives a lease back.
  ///
  /// Those who wait are told if there is nothing, so that they need not ask one after the other.
  func end(_ lease: Lease, foundNothing: Bool) async throws {
    let name = namespace.lease(lease.id)
    let change: SharedChange =
      foundNothing ? .set(name, to: lease.token + [Self.foundNothing], lifetime: .seconds(1)) : .remove(name)
    _ = try await store.commit([change], if: [.begins(name, with: lease.token)], reading: [])
  }
}
