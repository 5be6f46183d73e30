import CacheCore
import Synchronization

extension SharedCacheLevel {
  typealias Content = SharedCodec<Key, Value>.Content

  var stampLife: Duration { (longestLife + keepsExpired) * 2 }

  /// What an entry will be made of; the store's time must be known.
  func content(_ value: Value, _ key: Key, _ terms: StoreTerms) throws -> Content {
    let packed = try codec.valueCoding.pack(value)
    guard packed.bytes.count <= largestValue else {
      throw CacheError(
        .tooLarge, "a value of \(packed.bytes.count) bytes is larger than the \(largestValue) that this level stores")
    }
    guard packed.form.utf8.count <= 65_535 else {
      throw CacheError(.invalidSetting, "the name of a coding has at most 65535 bytes")
    }
    _ = try RecordTags.bytes(terms.tags)
    let bytes = try codec.keyCoding.bytes(key)
    let now = moment(clock.now)
    let deadline = terms.deadline(levelDefault: expiry, clock: clock).map(moment)
    return Content(
      id: id(of: key, bytes), key: bytes, packed: packed, tags: terms.tags, created: terms.created.map(moment) ?? now,
      deadline: deadline ?? SharedRecord.never)
  }

  /// Sees to it that the store's time is known; where it cannot be, the writes have failed.
  func knowTime(forWriting keys: [Key]) async throws {
    let ids = try keys.map { id(of: $0, try codec.keyCoding.bytes($0)) }
    do { _ = try await time() } catch {
      // A task that is cancelled here has not begun to write.
      if !(error is CancellationError) { unsettled.add(records: ids) }
      throw error
    }
    try Task.checkCancellation()
  }

  /// The changes that make an entry and void what others are about to fill in, under stamps that are thought to stand.
  func changes(
    _ contents: [Content], _ stamps: [[UInt8]: [UInt8]], time: Duration
  ) throws -> [SharedChange] {
    var changes: [SharedChange] = []
    for content in contents {
      let tagStamps = Dictionary(
        content.tags.map { (codec.id(ofTag: $0), stamps[namespace.tag(codec.id(ofTag: $0))] ?? SharedToken.random()) }
      ) { first, _ in first }
      let record = try codec.bytes(
        of: content, stamp: stamps[namespace.stamp] ?? SharedToken.random(), tagStamps: tagStamps)
      changes.append(.set(namespace.record(content.id), to: record, lifetime: life(content.deadline, time)))
      changes.append(.remove(namespace.lease(content.id)))
    }
    return changes
  }

  /// How long the store keeps a record.
  func life(_ deadline: Int64, _ time: Duration) -> Duration {
    let left = deadline == SharedRecord.never ? longestLife : .nanoseconds(deadline) - time
    // A second more, so that a process whose clock is a little behind still finds it expired.
    return max(.zero, min(left, longestLife)) + keepsExpired + .seconds(1)
  }

  func stampNames(_ contents: [Content]) -> [[UInt8]] {
    [namespace.stamp] + Set(contents.flatMap(\.tags)).map { namespace.tag(codec.id(ofTag: $0)) }
  }

  /// Makes stamps where there are none.
  func making(_ stamps: [[UInt8]], _ candidates: [[UInt8]: [UInt8]]) -> [SharedChange] {
    stamps.map { stamp in
      // Never one that was seen before: what was written under that is gone.
      .make(
        stamp, as: candidates[stamp] ?? SharedToken.random(), lifetime: stamp == namespace.stamp ? nil : stampLife)
    }
  }

  /// Stores entries, whatever there is.
  func put(_ contents: [Content]) async throws {
    try await unsettled.writing(contents.map(\.id), under: stampNames(contents)) { try await putNow(contents) }
  }

  private func putNow(_ contents: [Content]) async throws {
    let names = stampNames(contents)
    let moment = unsettled.moment
    let hints = known.withLock { $0.stamps }
    var stamps = hints.filter { names.contains($0.key) }
    var isBegun = false
    do {
      // Under a stamp that is not the one there, a whole record of somebody else would be covered for a moment.
      let unknown = names.filter { stamps[$0] == nil }
      if !unknown.isEmpty {
        let seen = try await write(making(unknown, [:]), if: [], reading: unknown) ?? []
        for (name, stamp) in zip(unknown, seen) { stamps[name] = stamp }
      }
      // Another stamp than was thought: then everything is written again, under that one. If it changes once more, everything was
      // removed during this call, and what it wrote as well.
      for attempt in 1...2 {
        let time = try await time()
        let changes = making(names, [:]) + (try changes(contents, stamps, time: time))
        isBegun = true
        let seen = try await write(changes, if: [], reading: names) ?? []
        let found = Dictionary(zip(names, seen).compactMap { name, stamp in stamp.map { (name, $0) } }) { $1 }
        remember(found, insteadOf: names)
        if found == stamps || attempt == 2 { break }
        stamps = found
      }
    } catch {
      // What cannot be sealed is not written, and what was there stays.
      if isBegun || (error as? CacheError)?.code != .encryptionFailed { unsettled.add(records: contents.map(\.id)) }
      throw error
    }
    unsettled.settle(contents.map(\.id), asOf: moment)
  }

  /// Writes a record in place of what is there, if that is so wanted, with nobody coming between.
  ///
  /// - Returns: Whether it was written.
  func change(
    _ id: [UInt8], _ key: [UInt8], under stamps: [[UInt8]],
    to wanted: (SharedCodec<Key, Value>.Opened?) throws -> Content?
  ) async throws -> Bool {
    try await unsettled.writing([id], under: stamps) { try await changeNow(id, key, to: wanted) }
  }

  private func changeNow(
    _ id: [UInt8], _ key: [UInt8], to wanted: (SharedCodec<Key, Value>.Opened?) throws -> Content?
  ) async throws -> Bool {
    for _ in 0..<32 {
      let moment = unsettled.moment
      let inDoubt = unsettled.concerns(id)
      let found = try await store.read([namespace.record(id), namespace.stamp])
      let opened: SharedCodec<Key, Value>.Opened?
      do { opened = try await judge([(id, key)], found, inDoubt: [inDoubt])[0].get() } catch is SharedMiss {
        opened = nil
      }
      guard let content = try wanted(opened) else { return false }
      try Task.checkCancellation()
      let names = stampNames([content])
      // A tag that the entry there has and the new one does not have.
      let others = Set((opened?.record.tags ?? []).map { namespace.tag($0.id) }).subtracting(names)
      let all = names + others
      let tags = try await store.read(all)
      var stamps: [[UInt8]: [UInt8]] = [:]
      var candidates: [[UInt8]: [UInt8]] = [:]
      var conditions = [
        condition(namespace.record(id), is: found.first?.map { Array($0.prefix(SharedRecord.headLength)) })
      ]
      for (name, stamp) in zip(all, tags) {
        conditions.append(condition(name, is: stamp))
        if others.contains(name) { continue }
        stamps[name] = stamp ?? SharedToken.random()
        if stamp == nil { candidates[name] = stamps[name] }
      }
      // What is there need not be what records carry: it may be a stranger's.
      let stands = Dictionary(zip(all, tags)) { first, _ in first }
      let isOvertaken = opened?.record.tags.contains { tag in
        (stands[namespace.tag(tag.id)] ?? nil).map(SharedToken.carried) != tag.stamp
      }
      if found.last != tags.first || isOvertaken == true { continue }
      let changes = making(names, candidates) + (try changes([content], stamps, time: try await time()))
      do {
        guard try await write(changes, if: conditions, reading: []) != nil else { continue }
      } catch {
        unsettled.add(records: [id])
        throw error
      }
      unsettled.settle([id], asOf: moment)
      return true
    }
    throw CacheError(.overloaded, "others kept changing the key while it was stored on a condition; nothing was stored")
  }

  func condition(_ name: [UInt8], is bytes: [UInt8]??) -> SharedCondition {
    guard let bytes = bytes ?? nil, !bytes.isEmpty else { return .absent(name) }
    return .begins(name, with: bytes)
  }

  /// Renews a stamp, so that what was written under the old one is gone.
  func renew(_ stamp: [UInt8], lifetime: Duration?) async throws {
    try await named {
      try Task.checkCancellation()
      let moment = unsettled.moment
      let token = SharedToken.random()
      var changes: [SharedChange] = [.set(stamp, to: token, lifetime: lifetime)]
      if stamp != namespace.stamp { changes.append(.set(namespace.tagEpoch, to: SharedToken.random(), lifetime: nil)) }
      do { _ = try await write(changes, if: [], reading: []) } catch {
        unsettled.add(stamp: stamp, as: token)
        throw error
      }
      known.withLock { _ = $0.stamps.removeValue(forKey: stamp) }
      unsettled.settle(stamp: stamp, asOf: moment)
    }
  }

  private func remember(_ stamps: [[UInt8]: [UInt8]], insteadOf names: [[UInt8]]) {
    known.withLock { known in
      if known.stamps.count > 1_024 { known.stamps = [:] }
      for name in names { known.stamps[name] = stamps[name] }
    }
  }

  /// Makes changes, and waits for their end even if the caller is cancelled: it would not be known otherwise.
  func write(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]? {
    let store = store
    return try await Task { try await store.commit(changes, if: conditions, reading: names) }.value
  }
}
