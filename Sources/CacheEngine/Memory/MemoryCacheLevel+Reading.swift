public import CacheCore

/// Reads, which share no lock, and what they drop on the way.
extension MemoryCacheLevel {
  /// Returns the value held for a key, or `nil` if there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: Nothing: memory always answers.
  /// - Complexity: O(1) on average.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { getNow(key) }

  // Nothing of it in the asynchronous function, which is inlined into its caller only if it is as short as that.
  @inlinable
  func getNow(_ key: Key) -> Value? {
    guard let (value, deadline) = read(key, misses: 1) else { return nil }
    return deadline == MemoryEntry<Value>.never ? value : getLiving(key, value, deadline)
  }

  /// Returns the value held for a key, at once.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` if there is none or it has expired.
  /// - Complexity: O(1) on average.
  @inlinable
  public func peek(_ key: Key) -> Value? {
    guard let (value, deadline) = read(key, misses: 0) else { return nil }
    return deadline == MemoryEntry<Value>.never ? value : living(key, value, deadline)
  }

  @inlinable
  @inline(never)
  func getLiving(_ key: Key, _ value: Value, _ storedDeadline: CacheInstant) -> Value? {
    living(key, value, storedDeadline) ?? find(key, includingExpired: false).entry?.value
  }

  /// What was read of an entry that can expire; `nil` if it has.
  ///
  /// Where reads put that off, the value is the one whose use is noted: another may have come since.
  // A call of its own, without which those that most reads pass would not be inlined.
  @inlinable
  @inline(never)
  func living(_ key: Key, _ value: Value, _ storedDeadline: CacheInstant) -> Value? {
    if idleLimit == nil, isAhead(storedDeadline) { return value }
    let hash = hashing(key)
    if idleLimit != nil, let used = use(key, hash: hash) { return used }
    unsafe parts[parts.number(of: hash)].pointee.recount(ReadCounts(found: -1))
    return nil
  }

  /// A read that finds something is counted as a hit, and one that does not as so many misses.
  @inlinable
  func read(_ key: Key, misses: Int) -> (value: Value, storedDeadline: CacheInstant)? {
    let hash = hashing(key)
    let number = parts.number(of: hash)
    let part = unsafe parts[number]
    let thread = ThreadStripe.current
    guard let stripe = unsafe part.pointee.takeStripe(thread) else {
      return readAlone(key, hash, number, thread, misses: misses)
    }
    var trace = ReadTrace()
    let found = unsafe part.pointee.shared.pointee.readValue(key, hash: hash, trace: &trace)
    if unsafe part.pointee.release(stripe, countedAs: ReadCounts(found: 1, missed: misses), trace) { dropDue(number) }
    if found == nil, number != parts.number(of: hash) { return readAfterDivision(key, misses: misses) }
    return found
  }

  /// Reads once more what was not where it was looked for, since the level was divided meanwhile.
  @inlinable
  @inline(never)
  func readAfterDivision(_ key: Key, misses: Int) -> (value: Value, storedDeadline: CacheInstant)? {
    unsafe parts[0].pointee.recount(ReadCounts(missed: -misses))
    return read(key, misses: misses)
  }

  // Linked into the read, since where writes are frequent most reads are such.
  @inlinable
  @inline(__always)
  func readAlone(
    _ key: Key, _ hash: UInt32, _ number: Int, _ thread: Int, misses: Int
  ) -> (value: Value, storedDeadline: CacheInstant)? {
    // Not by a closure that says what is found, which would be called.
    let part = unsafe parts[number]
    unsafe part.pointee.leaveTakenStripe(thread)
    let (found, mayBeOverdue) = unsafe part.pointee.withWriters { guarded in
      var trace = ReadTrace()
      let found = unsafe part.pointee.shared.pointee.readValue(key, hash: hash, trace: &trace)
      return unsafe (
        found, guarded.finish(trace, countedAs: ReadCounts(found: 1, missed: misses), part.pointee.stripes, thread)
      )
    }
    if mayBeOverdue { dropDue(number) }
    if found == nil, number != parts.number(of: hash) { return readAfterDivision(key, misses: misses) }
    return found
  }

  /// Returns the entry for a key, or why there is none; an expired entry that is kept no longer is dropped on the way.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or ``MissReason/absent`` or ``MissReason/expired``.
  /// - Throws: Nothing: memory always answers.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> { find(key, includingExpired: false) }

  /// Returns the entry for a key even if it has expired, for as long as ``keepsExpired`` says.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, fresh or stale, or ``MissReason/absent`` or ``MissReason/expired``.
  /// - Throws: Nothing: memory always answers.
  @inlinable
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> { find(key, includingExpired: true) }

  /// Returns the entry for a key, at once.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or `nil` if there is none, if it has expired, or if entries may idle.
  /// - Complexity: O(1) on average.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? {
    let hash = hashing(key)
    guard idleLimit == nil, let (found, tags) = readEntry(key, hash, countedAs: .ifFound) else { return nil }
    if let deadline = found.deadline, !isAhead(deadline) {
      unsafe parts[parts.number(of: hash)].pointee.recount(ReadCounts(found: -1))
      return nil
    }
    return Entry(
      found.value, deadline: found.deadline, cost: found.cost, level: name, created: found.created, isStale: false,
      tags: tags)
  }

  @inlinable
  func find(_ key: Key, includingExpired: Bool) -> Lookup<Value> {
    let hash = hashing(key)
    // Who asks for what has expired, too, was told of a miss before.
    let counts = includingExpired ? ReadCounts.none : .whole
    if idleLimit != nil { _ = use(key, hash: hash) }
    guard let (found, tags) = readEntry(key, hash, countedAs: counts) else { return .miss(.absent) }
    var isStale = false
    if let deadline = found.deadline, !isAhead(deadline) {
      if !includingExpired { unsafe parts[0].pointee.recount(ReadCounts(found: -1, missed: 1)) }
      guard deadline.advanced(by: keepsExpired) > now else {
        dropExpired(key, deadline: deadline)
        return .miss(.expired)
      }
      guard includingExpired else { return .miss(.expired) }
      isStale = true
    }
    return .hit(
      Entry(
        found.value, deadline: found.deadline, cost: found.cost, level: name, created: found.created, isStale: isStale,
        tags: tags))
  }

  @inlinable
  @inline(__always)
  func readEntry(
    _ key: Key, _ hash: UInt32, countedAs counts: ReadCounts
  ) -> (entry: MemoryEntry<Value>, tags: Set<String>?)? {
    let number = parts.number(of: hash)
    let part = unsafe parts[number]
    guard let stripe = unsafe part.pointee.takeStripe(ThreadStripe.current) else {
      return readEntryAlone(key, hash, number, countedAs: counts)
    }
    var trace = ReadTrace()
    let found = unsafe part.pointee.shared.pointee.read(key, hash: hash, trace: &trace)
    if unsafe part.pointee.release(stripe, countedAs: counts, trace) { dropDue(number) }
    if found == nil, number != parts.number(of: hash) { return readEntryAfterDivision(key, hash, countedAs: counts) }
    return found
  }

  @inlinable
  @inline(never)
  func readEntryAfterDivision(
    _ key: Key, _ hash: UInt32, countedAs counts: ReadCounts
  ) -> (entry: MemoryEntry<Value>, tags: Set<String>?)? {
    unsafe parts[0].pointee.recount(ReadCounts(missed: -counts.missed))
    return readEntryAlone(key, hash, parts.number(of: hash), countedAs: counts)
  }

  @inlinable
  @inline(never)
  func readEntryAlone(
    _ key: Key, _ hash: UInt32, _ number: Int, countedAs counts: ReadCounts
  ) -> (entry: MemoryEntry<Value>, tags: Set<String>?)? {
    // What is found is too large to be handed out of a closure: to do so is to copy it.
    var found: (entry: MemoryEntry<Value>, tags: Set<String>?)?
    let part = unsafe parts[number]
    let thread = ThreadStripe.current
    unsafe part.pointee.leaveTakenStripe(thread)
    let mayBeOverdue = unsafe part.pointee.withWriters { guarded in
      var trace = ReadTrace()
      found = unsafe part.pointee.shared.pointee.read(key, hash: hash, trace: &trace)
      return unsafe guarded.finish(trace, countedAs: counts, part.pointee.stripes, thread)
    }
    if mayBeOverdue { dropDue(number) }
    if found == nil, number != parts.number(of: hash) { return readEntryAfterDivision(key, hash, countedAs: counts) }
    return found
  }

  /// Drops only the entry that was seen: a newer one may have come since.
  @inlinable
  @inline(never)
  func dropExpired(_ key: Key, deadline: CacheInstant) {
    let hash = hashing(key)
    let dropped = parts.withLock(of: hash) { entries, order in
      let dropped = entries.remove(key, hash: hash, expiring: deadline, order: &order)
      if dropped != nil { order.expirations &+= 1 }
      return dropped
    }
    if let dropped { report(dropped, cause: .expired) }
  }

  /// Drops a few of the entries whose time is over: of a level that is only read, too.
  @inlinable
  @inline(never)
  func dropDue(_ number: Int) {
    let past = now
    let part = unsafe parts[number]
    guard unsafe part.pointee.withOrder({ $0.wheel.isDue(now: past) }) else { return }
    let departed = unsafe part.pointee.withLock { entries, order in
      var departed = Departed<Key, Value>()
      entries.takeDue(now: past, keepsExpired: keepsExpired, order: &order, departed: &departed)
      order.settle(count: entries.table.count)
      return departed
    }
    if removalListener != nil { report(departed, now: past) }
  }
}
