// How a composition asks below, and what it lets the upper level have of the answer.
extension ComposedLevel {
  @inlinable
  @inline(__always)
  func askBelow(
    _ key: Key, _ ticket: ReadTicket, since began: GateTime, dropping gone: GoneAbove,
    renewing offered: OfferedEntry<Value>? = nil
  ) async throws -> Lookup<Value> {
    try TaskIdentity.checkCancellation()
    if let pool = manner.pool { return try await askPool(pool, key, ticket, since: began, gone, offered) }
    var isAbove = false
    let answer = try await askLower(key, ticket, renewing: offered, isAbove: &isAbove)
    if !isAbove { try await keep(answer, key, ticket, dropping: gone) }
    return answer
  }

  /// Asks the upper level again if it may hold a value by now, or else the lower one, which is shown what has expired above if it
  /// makes use of that.
  @inlinable
  @inline(__always)
  func askLower(
    _ key: Key, _ ticket: ReadTicket, renewing offered: OfferedEntry<Value>?, isAbove: inout Bool
  ) async throws -> Lookup<Value> {
    if ticket.isLate || manner.isRenewing {
      return try await askCarefully(key, ticket, renewing: offered, isAbove: &isAbove)
    }
    return try await lower.lookup(key)
  }

  // A function of its own, since memory for all that a function holds is allocated whenever it is called, and few reads come here.
  @inlinable
  @inline(never)
  func askCarefully(
    _ key: Key, _ ticket: ReadTicket, renewing offered: OfferedEntry<Value>?, isAbove: inout Bool
  ) async throws -> Lookup<Value> {
    // What was written before the read was noted keeps nothing from being copied over it.
    if ticket.isLate, let entry = try await askAgain(key) {
      isAbove = true
      return .hit(entry)
    }
    if manner.isRenewing, let renewer = manner.renewer { return try await renewBelow(key, offered, by: renewer) }
    return try await lower.lookup(key)
  }

  /// Asks a pool below by a load that ends when the upper level has the value.
  ///
  /// Who missed above joins it, or finds the value: so there is one load, whoever comes when.
  @inlinable
  @inline(never)
  func askPool(
    _ pool: SharedReads<Key, Value>, _ key: Key, _ ticket: ReadTicket, since began: GateTime, _ gone: GoneAbove,
    _ offered: OfferedEntry<Value>?
  ) async throws -> Lookup<Value> {
    let answer = try await pool.loads.answer(for: key, RaisedRead(self, pool, key, since: began, gone, offered))
    if answer.loader != ObjectIdentifier(gate) { try await keep(answer.lookup, key, ticket, dropping: gone) }
    return answer.lookup
  }

  /// Goes on with a read that the upper level did not answer by such a load, which notes it.
  ///
  /// Who joins a load that others began, for another composition perhaps, notes its read by itself.
  @inlinable
  @inline(never)
  func readPool(
    _ pool: SharedReads<Key, Value>, _ key: Key, above: UpperMiss, since began: GateTime,
    renewing offered: OfferedEntry<Value>?
  ) async throws -> Lookup<Value> {
    try reportFailure(of: above, key)
    let gone: GoneAbove = above.mayKeepStale ? .stale : .nothing
    var ticket: ReadTicket?
    defer { if let ticket { gate.endRead(key, ticket) } }
    let answer = try await pool.loads.answer(for: key, RaisedRead(self, pool, key, since: began, gone, offered)) {
      ticket = gate.beginRead(key, since: began)
    }
    var isOvertaken = answer.isOvertaken
    if answer.loader != ObjectIdentifier(gate), let ticket {
      try await keep(answer.lookup, key, ticket, dropping: gone)
      isOvertaken = gate.isOvertaken(key, ticket)
    }
    return try await settle(answer.lookup, key, isOvertaken: isOvertaken, above: above)
  }

  /// Lets the upper level have what the lower one answered.
  @inlinable
  @inline(__always)
  func keep(_ answer: Lookup<Value>, _ key: Key, _ ticket: ReadTicket, dropping gone: GoneAbove) async throws {
    let step = try keepAtOnce(answer, key, ticket, dropping: gone)
    if step == .endCopy { return gate.endBackFill(key, ticket) }
    if step != .nothing { try await keep(answer, key, ticket, dropping: gone, by: step) }
  }

  /// The same for a read that has nothing else to do: returns whether it was ended with the copy, in one step.
  @inlinable
  @inline(__always)
  func keepAndEnd(
    _ answer: Lookup<Value>, _ key: Key, _ ticket: ReadTicket, dropping gone: GoneAbove
  ) async throws -> Bool {
    let step = try keepAtOnce(answer, key, ticket, dropping: gone)
    if step == .endCopy {
      gate.endBackFillAndRead(key, ticket)
      return true
    }
    if step != .nothing { try await keep(answer, key, ticket, dropping: gone, by: step) }
    return false
  }

  /// The same as far as it can be done here.
  // Not in the asynchronous function, whose memory is allocated whenever it is called.
  @inlinable
  @inline(never)
  func keepAtOnce(
    _ answer: Lookup<Value>, _ key: Key, _ ticket: ReadTicket, dropping gone: GoneAbove
  ) throws -> KeepingStep {
    switch answer {
    case .hit(let entry):
      try TaskIdentity.checkCancellation()
      if entry.isPlaceholder { return .nothing }
      guard upper.storesAtOnce else { return .copyInTime }
      guard gate.beginBackFill(key, ticket, tags: entry.toldTags, by: .none) else { return .nothing }
      return copyAtOnce(entry, key, ticket) ? .endCopy : .copy
    case .miss(let reason):
      // A read takes the lower level's word if that is the source, a reload in any case.
      return (gone == .anything || gone == .stale && manner.isLowerSource) && reason.meansGone ? .drop : .nothing
    }
  }

  /// What cannot be done without waiting.
  @inlinable
  @inline(never)
  func keep(
    _ answer: Lookup<Value>, _ key: Key, _ ticket: ReadTicket, dropping gone: GoneAbove, by step: KeepingStep
  ) async throws {
    switch (answer, step) {
    case (.hit(let entry), .copy): try await copy(entry, key, ticket)
    case (.hit(let entry), .copyInTime):
      guard gate.beginBackFill(key, ticket, tags: entry.toldTags, by: .current) else { return }
      try await copyInTime(entry, key, ticket)
    case (.miss, .drop): try await drop(gone, key, ticket)
    default: break
    }
  }

  /// Copies an entry upwards if the upper level takes it here and no sweep has come; `false` if more is to be done.
  @inlinable
  @inline(__always)
  func copyAtOnce(_ entry: Entry<Value>, _ key: Key, _ ticket: ReadTicket) -> Bool {
    guard gate.enter(ticket.phase) else { return false }
    defer { gate.leave(ticket.phase) }
    let terms = StoreTerms(copying: entry.deadline, tags: entry.knownTags, created: entry.created)
    return upper.storeAtOnce(entry.value, forKey: key, terms: terms)
      && !gate.isSwept(key, entry.toldTags, since: ticket.phase)
  }

  /// Copies an entry upwards, which is the turn's owner's to do.
  @inlinable
  @inline(__always)
  func copy(_ entry: Entry<Value>, _ key: Key, _ ticket: ReadTicket) async throws {
    defer { gate.endBackFill(key, ticket) }
    // What is stored at once takes no time worth telling.
    let began = upper.storesAtOnce ? nil : manner.now
    do {
      try await gate.above(key, in: upper, tags: entry.toldTags, since: ticket.phase) {
        try await upper.store(
          entry.value, forKey: key,
          terms: .backFill(deadline: entry.deadline, tags: entry.tags, created: entry.created))
      }
    } catch let error as CancellationError {
      throw error
    } catch {
      manner.report(.backFill, of: upper.name, key: key, error, since: began)
    }
  }

  /// Copies an entry upwards, and leaves that to itself if it takes long.
  @usableFromInline
  func copyInTime(_ entry: Entry<Value>, _ key: Key, _ ticket: ReadTicket) async throws {
    guard let limit = manner.backFill.limit else { return try await copy(entry, key, ticket) }
    guard manner.beginCopy() else {
      gate.endBackFill(key, ticket)
      let error = CacheError(.overloaded, "\(manner.backFill.most) copies upwards are under way; this one is left out")
      return manner.report(.backFill, of: upper.name, key: key, error, since: nil)
    }
    try await Errand.run(within: limit, by: manner.clock) {
      gate.adopt(key)
      do { try await copy(entry, key, ticket) } catch {}  // cancelled with its reader, or in its place
      manner.endCopy()
    }
  }

  /// Lets the upper level forget what is gone below, unless something came between.
  @usableFromInline
  func drop(_ gone: GoneAbove, _ key: Key, _ ticket: ReadTicket) async throws {
    guard gate.beginBackFill(key, ticket, tags: [], by: .current) else { return }
    defer { gate.endBackFill(key, ticket) }
    do {
      // A fresh value that a read finds now was copied in the meantime.
      guard let entry = try await upper.lookupIncludingExpired(key).entry, gone == .anything || entry.isStale else {
        return
      }
      try await upper.remove(key)
    } catch let error as CancellationError {
      throw error
    } catch {
      manner.report(.remove, of: upper.name, key: key, error, since: nil)
    }
  }
}

/// What is left to be done for an upper level that is to have what the lower one answered.
@usableFromInline
enum KeepingStep: Sendable {
  case nothing
  /// The copy is made, and its turn to be ended.
  case endCopy
  /// The turn to copy is taken.
  case copy
  case copyInTime
  case drop
}

/// What a composition asks a pool below, and lets the upper level have before whoever shares it gets it.
// Of the types of keys and values themselves, which need not be looked up then when one is copied.
@usableFromInline
struct RaisedRead<
  Upper: CacheLevel<Key, Value>, Lower: CacheLevel<Key, Value>, Key: Hashable & Sendable, Value: Sendable
>: ShareableLoad {
  @usableFromInline let level: ComposedLevel<Upper, Lower>
  @usableFromInline let pool: SharedReads<Key, Value>
  @usableFromInline let key: Key
  @usableFromInline let began: GateTime
  @usableFromInline let gone: GoneAbove
  @usableFromInline let offered: OfferedEntry<Value>?

  @inlinable
  init(
    _ level: ComposedLevel<Upper, Lower>, _ pool: SharedReads<Key, Value>, _ key: Key, since began: GateTime,
    _ gone: GoneAbove, _ offered: OfferedEntry<Value>?
  ) {
    self.level = level
    self.pool = pool
    self.key = key
    self.began = began
    self.gone = gone
    self.offered = offered
  }

  @inlinable
  func callAsFunction() async throws -> SharedAnswer<Value> {
    let ticket = level.gate.beginRead(key)
    var hasEnded = false
    let answer: Lookup<Value>
    do { answer = try await read(ticket, ending: &hasEnded) } catch {
      level.gate.endRead(key, ticket)
      throw error
    }
    let isOvertaken = hasEnded ? false : level.gate.endReadOvertaken(key, ticket)
    return SharedAnswer(answer, loader: ObjectIdentifier(level.gate), isOvertaken: isOvertaken)
  }

  @inlinable
  @inline(__always)
  func read(_ ticket: ReadTicket, ending hasEnded: inout Bool) async throws -> Lookup<Value> {
    // A copy or a write came since the upper level missed: perhaps this one. A refresh asks below in any case.
    let mayBeAbove = gone != .anything && level.gate.currentEpoch != began
    var isAbove = false
    let answer: Lookup<Value>
    if mayBeAbove || level.manner.isRenewing {
      answer = try await askCarefully(mayBeAbove, isAbove: &isAbove)
    } else {
      answer = try await pool.ask(pool, key)
    }
    if !isAbove { hasEnded = try await level.keepAndEnd(answer, key, ticket, dropping: gone) }
    return answer
  }

  // A function of its own, as that of a composition.
  @inlinable
  @inline(never)
  func askCarefully(_ mayBeAbove: Bool, isAbove: inout Bool) async throws -> Lookup<Value> {
    if mayBeAbove, case .hit(let entry)? = try? await level.upper.lookup(key) {
      isAbove = true
      return .hit(entry)
    }
    if level.manner.isRenewing, let renewer = pool.renewer, let old = try await level.kept(key, or: offered) {
      return try await renewer.lookup(key, renewing: old)
    }
    return try await pool.ask(pool, key)
  }
}

/// What a read was offered from further up to renew: an object, since few are, and all others hand on that there is none.
@usableFromInline
final class OfferedEntry<Value: Sendable>: Sendable {
  @usableFromInline let entry: Entry<Value>

  @inlinable
  init(_ entry: Entry<Value>) { self.entry = entry }
}
