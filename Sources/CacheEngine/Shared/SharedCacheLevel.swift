public import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Holds values in a store that several processes share.
///
/// ```swift
/// let shared = try SharedCacheLevel<String, Data>(redis, namespace: "photos", expiry: .after(.seconds(3_600)))
/// let photos = memory.compose(shared, coherence: Coherence(redis, of: shared))
/// ```
///
/// An entry is a record with its key, the name of its coding, its deadline, its tags and a checksum. What is damaged, was not
/// written by this library, or under another key, is a miss with the reason `MissReason.damaged`; what a newer version wrote is one with
/// `MissReason.newer`. Both stay where they are until the key is written. A record of another coding is an error.
///
/// - Lifetimes go by the store's clock, so processes may have any time. The store forgets an entry one second after its deadline
///   and ``keepsExpired``, and one that never expires after ``longestLife``.
/// - The namespace and each tag have a stamp, a random token that every record carries. ``clear()`` and ``removeAll(tagged:)``
///   write a new one, whatever the number of entries; a stamp that the store has evicted counts as a new one.
/// - A write that fails may have happened or not. Its key is a miss for this level (`MissReason.unsettled`) until a later write of it succeeds, or the store answers and the level has removed it there.
/// - What the store loses is a miss. After a fail-over to a replica that may be what was acknowledged.
///
/// It does not list its entries: they are too many, and nobody could say of which moment.
public final class SharedCacheLevel<Key: Hashable & Sendable, Value: Sendable>: ConditionalLevel, TaggedLevel,
  ExpiringLevel
{
  /// What the level is called in errors, events and logs.
  public let name: String
  /// The lifetime of what is stored without one, and the longest lifetime of what a back-fill brings.
  public let expiry: Expiry
  /// For how long an expired entry stays, for those who ask for stale values.
  public let keepsExpired: Duration
  /// After what time the store forgets an entry that never expires; also what a clear leaves behind.
  public let longestLife: Duration
  /// How many bytes a value may have.
  public let largestValue: Int

  let store: any SharedStore
  let namespace: SharedNamespace
  let codec: SharedCodec<Key, Value>
  let clock: any CacheClock
  let unsettled: UnsettledWrites
  private let known = Mutex(Known())

  private struct Known {
    /// The store's time at an instant of the clock.
    var time: (store: Duration, at: CacheInstant)?
    /// Stamps as they were last seen; a hint, for a write is told which ones there are.
    package var stamps: [[UInt8]: [UInt8]] = [:]
    /// With encryption: the keys behind the names that were asked for.
    var keys: [[UInt8]: Key] = [:]
    var hasForgottenKeys = false
  }

  /// Creates a level over a store; nothing is asked of that yet.
  ///
  /// - Parameters:
  ///   - store: Where the entries stand.
  ///   - namespace: Names this level's entries among all in the store: 1 to 128 letters, digits and signs of ASCII but space,
  ///     colon and braces. Levels of all processes with one namespace hold the same entries.
  ///   - name: What the level is called in errors, events and logs.
  ///   - expiry: The lifetime of what is stored without one.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values.
  ///   - longestLife: After what time the store forgets an entry that never expires. Positive.
  ///   - largestValue: How many bytes a value may have.
  ///   - unsettledWrites: How many keys of failed writes are remembered; for more the whole namespace is cleared.
  ///   - encryption: Hides keys, tags and values; `nil` for none.
  ///   - keyCoding: How keys become bytes, and bytes keys. Equal keys must become equal bytes.
  ///   - valueCoding: How values become bytes.
  ///   - clock: The clock that deadlines are told by.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidSetting`.
  public init(
    _ store: some SharedStore, namespace: String, name: String = "shared", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, longestLife: Duration = .seconds(30 * 86_400), largestValue: Int = 64 << 20,
    unsettledWrites: Int = 10_000, encryption: SharedEncryption? = nil, keyCoding: ByteCoding<Key>,
    valueCoding: ByteCoding<Value>, clock: any CacheClock = SystemClock()
  ) throws {
    guard longestLife > .zero, keepsExpired >= .zero, largestValue > 0, unsettledWrites > 0 else {
      throw CacheError(
        .invalidSetting, "longestLife, largestValue and unsettledWrites are positive, and keepsExpired is not negative",
        level: name)
    }
    self.store = store
    self.namespace = try SharedNamespace(namespace, level: name)
    self.name = name
    self.expiry = expiry
    self.keepsExpired = keepsExpired
    self.longestLife = longestLife
    self.largestValue = largestValue
    self.clock = clock
    codec = SharedCodec(
      namespace: self.namespace, keyCoding: keyCoding, valueCoding: valueCoding, encryption: encryption)
    unsettled = UnsettledWrites(
      store, self.namespace, limit: unsettledWrites, tagLife: (longestLife + keepsExpired) * 2, clock: clock)
  }

  deinit { unsettled.stop() }

  /// How many keys have writes that failed, and are misses until the store has been set right.
  public var unsettledCount: Int { unsettled.count }

  /// Returns the value held for a key, or `nil`.
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Returns what is held, or why there is nothing; many keys with one question.
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await find(key, includingExpired: false) }

  /// Returns the entry for a key even if it has expired, for as long as ``keepsExpired`` says.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> {
    try await find(key, includingExpired: true)
  }

  /// Stores a value for as long as the level's default lifetime says.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value on terms of its own; its cost is the length of its bytes.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live, and what it can be removed by.
  /// - Throws: `CacheError` with code `CacheError.Code.tooLarge` or `CacheError.Code.encryptionFailed`, or the coding's
  ///   error, or `CancellationError`; the value stored before is then still there. The error of the store: then the key is
  ///   unsettled. A write that has begun is not cancelled.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    try await named {
      try await knowTime(forWriting: [key])
      try await put([try content(value, key, terms)])
    }
  }

  /// Stores a value if a condition holds at that moment, whoever else writes.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await named {
      _ = try await time()
      let content = try content(value, key, terms)
      return try await change(content.id, content.key) { opened in
        condition.holds(isHeld: opened.map { $0.record.deadline > content.created } ?? false) ? content : nil
      }
    }
  }

  /// Removes what is held.
  public func remove(_ key: Key) async throws { try await remove([key]) }

  /// Removes everything in the namespace, for all processes, by one write.
  ///
  /// - Throws: The error of the store; then everything is a miss for this level until the store has been set right.
  public func clear() async throws { try await renew(namespace.stamp, lifetime: nil) }

  /// Removes every entry that was stored with a tag, for all processes, by one write.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: 0: the entries are not counted, since nobody looks at them.
  /// - Throws: As ``clear()``.
  /// - Complexity: O(1).
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int {
    // Twice the life of any record that carries it.
    try await renew(namespace.tag(codec.id(ofTag: tag)), lifetime: stampLife)
    return 0
  }

  /// Ends the lifetime of an entry now; ``keepsExpired`` begins.
  ///
  /// - Parameter key: The key of the entry. An absent key is left alone.
  /// - Throws: As ``store(_:forKey:terms:)``.
  public func expire(_ key: Key) async throws {
    try await named {
      let bytes = try codec.keyCoding.bytes(key)
      let now = Self.nanoseconds(try await time())
      _ = try await change(id(of: key, bytes), bytes) { opened in
        guard let opened, opened.record.deadline > now else { return nil }
        return SharedCodec<Key, Value>.Content(
          id: opened.record.key, key: bytes, packed: opened.packed, tags: opened.tags, created: opened.record.created,
          deadline: now)
      }
    }
  }
}

// MARK: Reading

extension SharedCacheLevel {
  private func find(_ key: Key, includingExpired: Bool) async throws -> Lookup<Value> {
    try await named {
      let bytes = try codec.keyCoding.bytes(key)
      let id = id(of: key, bytes)
      guard let found = try await look([(id, bytes)]).first else { return .miss(.absent) }
      return try lookup(found, try await time(), includingExpired)
    }
  }

  /// Finds the records of keys, each with its reason if it is none.
  func look(_ keys: [(id: [UInt8], key: [UInt8])]) async throws -> [Result<SharedCodec<Key, Value>.Opened, any Error>] {
    // A name that is settled while it is read may have been read before that.
    let inDoubt = keys.map { unsettled.concerns($0.id) }
    let found = try await store.read(keys.map { namespace.record($0.id) } + [namespace.stamp])
    return try await judge(keys, found, inDoubt: inDoubt)
  }

  /// Judges what was read under the names of keys and, last, as the stamp of the namespace.
  private func judge(
    _ keys: [(id: [UInt8], key: [UInt8])], _ found: [[UInt8]?], inDoubt: [Bool]
  ) async throws -> [Result<SharedCodec<Key, Value>.Opened, any Error>] {
    guard found.count == keys.count + 1, let stamp = found[keys.count] else {
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
      for (id, stamp) in zip(ids, stamps) { tags[id] = stamp }
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
      cost: Int(opened.record.cost), level: name, created: instant(opened.record.created))
    entry.isStale = isStale
    entry.tags = opened.tags
    return .hit(entry)
  }
}

// MARK: Writing

extension SharedCacheLevel {
  typealias Content = SharedCodec<Key, Value>.Content

  private var stampLife: Duration { (longestLife + keepsExpired) * 2 }

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
  private func knowTime(forWriting keys: [Key]) async throws {
    let ids = try keys.map { id(of: $0, try codec.keyCoding.bytes($0)) }
    do { _ = try await time() } catch {
      unsettled.add(records: ids)
      throw error
    }
    try Task.checkCancellation()
  }

  /// The changes that make an entry and void what others are about to fill in, under stamps that are thought to stand.
  private func changes(
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

  /// For how long the store keeps a record.
  private func life(_ deadline: Int64, _ time: Duration) -> Duration {
    let left = deadline == SharedRecord.never ? longestLife : .nanoseconds(deadline) - time
    // A second more, so that who is a little behind finds that it has expired.
    return max(.zero, min(left, longestLife)) + keepsExpired + .seconds(1)
  }

  private func stampNames(_ contents: [Content]) -> [[UInt8]] {
    [namespace.stamp] + Set(contents.flatMap(\.tags)).map { namespace.tag(codec.id(ofTag: $0)) }
  }

  /// Makes stamps where there are none.
  private func making(_ stamps: [[UInt8]], _ candidates: [[UInt8]: [UInt8]]) -> [SharedChange] {
    stamps.map { stamp in
      // Never one that was seen before: what was written under that is gone.
      .make(
        stamp, as: candidates[stamp] ?? SharedToken.random(), lifetime: stamp == namespace.stamp ? nil : stampLife)
    }
  }

  /// Stores entries, whatever there is.
  func put(_ contents: [Content]) async throws {
    let names = stampNames(contents)
    let moment = unsettled.moment
    let hints = known.withLock { $0.stamps }
    var stamps = hints.filter { names.contains($0.key) }
    do {
      // Under a stamp that is not the one there, a whole record of somebody else would be covered for a moment.
      let unknown = names.filter { stamps[$0] == nil }
      if !unknown.isEmpty {
        let seen = try await write(making(unknown, [:]), if: [], reading: unknown) ?? []
        for (name, stamp) in zip(unknown, seen) { stamps[name] = stamp }
      }
      // Another stamp than was thought: then all is written again, under that. If it changes once more, everything was
      // removed during this call, and what it wrote as well.
      for attempt in 1...2 {
        let time = try await time()
        let changes = making(names, [:]) + (try changes(contents, stamps, time: time))
        let seen = try await write(changes, if: [], reading: names) ?? []
        let found = Dictionary(zip(names, seen).compactMap { name, stamp in stamp.map { (name, $0) } }) { $1 }
        remember(found, insteadOf: names)
        if found == stamps || attempt == 2 { break }
        stamps = found
      }
    } catch {
      unsettled.add(records: contents.map(\.id))
      throw error
    }
    unsettled.settle(contents.map(\.id), asOf: moment)
  }

  /// Writes a record in place of what is there, if that is so wanted, with nobody coming between.
  ///
  /// - Returns: Whether it was written.
  private func change(
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
      let tags = try await store.read(names)
      var stamps: [[UInt8]: [UInt8]] = [:]
      var candidates: [[UInt8]: [UInt8]] = [:]
      var conditions = [
        condition(namespace.record(id), is: found.first?.map { Array($0.prefix(SharedRecord.headLength)) })
      ]
      for (name, stamp) in zip(names, tags) {
        conditions.append(condition(name, is: stamp))
        stamps[name] = stamp ?? SharedToken.random()
        if stamp == nil { candidates[name] = stamps[name] }
      }
      // A tag that the entry there has, and the new one has not.
      for tag in opened?.record.tags ?? [] { conditions.append(condition(namespace.tag(tag.id), is: tag.stamp)) }
      if found.last != tags.first { continue }
      do {
        let changes = making(names, candidates) + (try changes([content], stamps, time: try await time()))
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

  private func condition(_ name: [UInt8], is bytes: [UInt8]??) -> SharedCondition {
    guard let bytes = bytes ?? nil, !bytes.isEmpty else { return .absent(name) }
    return .begins(name, with: bytes)
  }

  /// Makes a stamp anew, so that what was written under the old one is gone.
  private func renew(_ stamp: [UInt8], lifetime: Duration?) async throws {
    try await named {
      try Task.checkCancellation()
      let moment = unsettled.moment
      var changes: [SharedChange] = [.set(stamp, to: SharedToken.random(), lifetime: lifetime)]
      if stamp != namespace.stamp { changes.append(.set(namespace.tagEpoch, to: SharedToken.random(), lifetime: nil)) }
      do { _ = try await write(changes, if: [], reading: []) } catch {
        unsettled.add(stamps: [stamp])
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
  private func write(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]? {
    let store = store
    return try await Task { try await store.commit(changes, if: conditions, reading: names) }.value
  }
}

// MARK: Leases

extension SharedCacheLevel {
  /// The right to fill in a key that is missing.
  struct Lease: Sendable {
    let id: [UInt8]
    let key: [UInt8]
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
      let taken = try await store.commit(
        [
          .set(leaseName, to: token + [Self.loading], lifetime: life),
          .make(namespace.stamp, as: SharedToken.random(), lifetime: nil),
          .make(namespace.tagEpoch, as: SharedToken.random(), lifetime: nil),
        ], if: [condition(leaseName, is: held)], reading: names + [namespace.tagEpoch])
      guard let taken, taken.count == 3, let stamp = taken[1], let epoch = taken[2] else {
        return .follows(token: followed ?? [])
      }
      let lease = Lease(id: id, key: bytes, token: token, stamp: stamp, tagEpoch: epoch, moment: moment)
      // It may have come since.
      guard let entry = try await entry(Array(taken.prefix(2)), inDoubt: isStillInDoubt) else { return .leads(lease) }
      try await end(lease, foundNothing: false)
      return .found(entry)
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

// MARK: Time and names

extension SharedCacheLevel {
  /// The store's time, which is asked for once in ten minutes.
  func time() async throws -> Duration {
    let now = clock.now
    if let time = known.withLock({ $0.time }) {
      let passed = time.at.duration(to: now)
      if passed < .seconds(600) { return time.store + passed }
    }
    let before = clock.now
    let told: Duration
    do { told = try await store.timeSinceEpoch() } catch {
      // What was known goes on, by a clock that does not step.
      guard let time = known.withLock({ $0.time }) else { throw error }
      return time.store + time.at.duration(to: now)
    }
    let after = clock.now
    let time = (store: told, at: before.advanced(by: before.duration(to: after) / 2))
    known.withLock { $0.time = time }
    return time.store + time.at.duration(to: after)
  }

  private func instant(_ moment: Int64) -> CacheInstant {
    guard let time = known.withLock({ $0.time }) else { return clock.now }
    return time.at.advanced(by: .nanoseconds(moment) - time.store)
  }

  private func moment(_ instant: CacheInstant) -> Int64 {
    guard let time = known.withLock({ $0.time }) else { return 0 }
    // The largest number means never.
    return min(Self.nanoseconds(time.store + time.at.duration(to: instant)), SharedRecord.never - 1)
  }

  static func nanoseconds(_ duration: Duration) -> Int64 { duration.clampedNanoseconds }

  func id(of key: Key, _ bytes: [UInt8]) -> [UInt8] {
    let id = codec.id(of: bytes)
    if codec.encryption != nil {
      known.withLock { known in
        if known.keys.count >= 65_536, known.keys[id] == nil {
          known.keys = [:]
          known.hasForgottenKeys = true
        }
        known.keys[id] = key
      }
    }
    return id
  }

  /// What a change of a name means for those who hold copies of this level's entries.
  func heard(_ name: [UInt8]) -> HeardChange<Key> {
    switch namespace.meaning(of: name) {
    case .nothing: return .nothing
    case .everything:
      known.withLock { $0.stamps = [:] }
      return .everything
    case .tag(let id):
      if codec.encryption != nil { return .everything }
      return String(validating: id, as: UTF8.self).map { .tag($0) } ?? .nothing
    case .record(let id):
      guard codec.encryption == nil else {
        return known.withLock { known in
          if let key = known.keys[id] { return .key(key) }
          guard known.hasForgottenKeys else { return .nothing }
          // Everything above is forgotten now, and with it what could be asked for under forgotten names.
          known.keys = [:]
          known.hasForgottenKeys = false
          return .everything
        }
      }
      // What is no key of this level, nobody holds a copy of.
      do { return .key(try codec.keyCoding.decode(Data(id))) } catch { return .nothing }
    }
  }

  func named<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
    do { return try await body() } catch var error as CacheError {
      error.level = error.level ?? name
      throw error
    }
  }
}

extension SharedCacheLevel: BulkLevel {
  /// Returns what is held, or why there is nothing; many keys with one question.
  public func lookup(_ keys: [Key]) async throws -> [BulkAnswer<Key, Value>] {
    try await named {
      let distinct = DistinctKeys(keys)
      if keys.isEmpty { return [] }
      let names = try distinct.keys.map { key in
        let bytes = try codec.keyCoding.bytes(key)
        return (id: id(of: key, bytes), key: bytes)
      }
      let found = try await look(names)
      let time = try await time()
      let results = found.map { answer in Result { try lookup(answer, time, false) } }
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

extension SharedCacheLevel where Key == String {
  /// Creates a level for text keys; those that are equal strings are one key.
  ///
  /// - Parameters:
  ///   - store: Where the entries stand.
  ///   - namespace: Names this level's entries among all in the store.
  ///   - name: What the level is called in errors, events and logs.
  ///   - expiry: The lifetime of what is stored without one.
  ///   - keepsExpired: For how long an expired entry stays, for those who ask for stale values.
  ///   - longestLife: After what time the store forgets an entry that never expires.
  ///   - encryption: Hides keys, tags and values; `nil` for none.
  ///   - valueCoding: How values become bytes.
  ///   - clock: The clock that deadlines are told by.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidSetting`.
  public convenience init(
    _ store: some SharedStore, namespace: String, name: String = "shared", expiry: Expiry = .never,
    keepsExpired: Duration = .zero, longestLife: Duration = .seconds(30 * 86_400),
    encryption: SharedEncryption? = nil, valueCoding: ByteCoding<Value>, clock: any CacheClock = SystemClock()
  ) throws {
    try self.init(
      store, namespace: namespace, name: name, expiry: expiry, keepsExpired: keepsExpired, longestLife: longestLife,
      encryption: encryption, keyCoding: .canonicalText, valueCoding: valueCoding, clock: clock)
  }
}

extension SharedCacheLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "shared") } }
