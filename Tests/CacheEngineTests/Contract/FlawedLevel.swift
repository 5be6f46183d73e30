import CacheEngine
import CacheEngineTesting
import Synchronization

/// A promise of the contract that ``FlawedLevel`` breaks on purpose; named after the check that must notice.
enum Flaw: String, CaseIterable, Sendable {
  case readersAgree = "readers-agree"
  case memoryWarning = "memory-warning"
  case unknownKey = "unknown-key"
  case setThenGet = "set-then-get"
  case overwrite
  case storeAtOnce = "store-at-once"
  case otherKey = "other-key"
  case remove
  case removeAbsent = "remove-absent"
  case clear
  case keysOfEverySort = "keys-of-every-sort"
  case unequalKeys = "unequal-keys"
  case equalKeys = "equal-keys"
  case deadline
  case expired
  case terms
  case reopened
  case usage
  case removeExpired = "remove-expired"
  case expire
  case condition
  case removeWhere = "remove-where"
  case removeTagged = "remove-tagged"
  case concurrentOneKey = "concurrent-one-key"
  case concurrentManyKeys = "concurrent-many-keys"
  case cancelledRead = "cancelled-read"
  case cancelledWrite = "cancelled-write"
}

/// A durable level in a dictionary, which keeps the contract but for one flaw.
final class FlawedLevel: StorageLevel, ExpiringLevel, ConditionalLevel, TaggedLevel {
  private struct Record {
    var value: Int
    var created: CacheInstant
    var deadline: CacheInstant?
    var tags: Set<String>
  }

  private struct State {
    var entries: [String: Record] = [:]
    var isBroken = false
    var writing: String?
  }

  let expiry = Expiry.after(.seconds(3_600))

  private let flaw: Flaw?
  private let clock: ManualClock
  private let state: Mutex<State>

  init(_ flaw: Flaw?, clock: ManualClock) {
    self.flaw = flaw
    self.clock = clock
    state = Mutex(State())
  }

  /// Another level on what this one holds.
  init(reopening other: FlawedLevel) {
    flaw = other.flaw
    clock = other.clock
    var entries = other.state.withLock { $0.entries }
    if flaw == .reopened { for key in entries.keys { entries[key]?.deadline = nil } }
    state = Mutex(State(entries: entries))
  }

  func get(_ key: String) async throws -> Int? {
    let value = try await lookup(key).entry?.value
    return flaw == .readersAgree ? value.map { $0 + 1 } : value
  }

  func peek(_ key: String) -> Int? {
    let record = state.withLock { $0.entries[stored(key)] }
    if flaw != .expired, let deadline = record?.deadline, deadline <= clock.now { return nil }
    return record?.value
  }

  func lookup(_ key: String) async throws -> Lookup<Int> {
    if flaw == .cancelledRead, Task.isCancelled { state.withLock { $0.isBroken = true } }
    if state.withLock({ $0.isBroken }) { throw CacheError(.closed, "broken") }
    guard let record = state.withLock({ $0.entries[stored(key)] }) else {
      return flaw == .unknownKey ? .hit(Entry(0)) : .miss(.absent)
    }
    if let deadline = record.deadline, deadline <= clock.now { return .miss(.expired) }
    return .hit(Entry(record.value, deadline: flaw == .deadline ? clock.now : record.deadline))
  }

  func set(_ value: Int, forKey key: String) async throws { try await store(value, forKey: key, terms: StoreTerms()) }

  func storeAtOnce(_ value: Int, forKey key: String, terms: StoreTerms) -> Bool { flaw == .storeAtOnce }

  func store(_ value: Int, forKey key: String, terms: StoreTerms) async throws {
    let key = stored(key)
    if flaw == .cancelledWrite, Task.isCancelled {
      state.withLock { $0.entries[key] = nil }
      try Task.checkCancellation()
    }
    let deadline =
      flaw == .terms
      ? terms.expiry?.deadline(by: clock) ?? expiry.deadline(by: clock)
      : terms.deadline(levelDefault: expiry, clock: clock)
    let older = flaw == .removeTagged ? state.withLock { $0.entries[key]?.tags } : nil
    let record = Record(value: value, created: clock.now, deadline: deadline, tags: terms.tags.union(older ?? []))
    switch flaw {
    case .concurrentOneKey:
      // Takes the old value away before the new one is there.
      state.withLock { $0.entries[key] = nil }
      await Task.yield()
    case .concurrentManyKeys:
      // Leaves where it writes in a place that others write too.
      state.withLock { $0.writing = key }
      await Task.yield()
      let other = state.withLock { $0.writing } ?? key
      state.withLock { $0.entries[other] = record }
      return
    case .overwrite where state.withLock({ $0.entries[key] }) != nil, .setThenGet:
      return
    case .otherKey:
      state.withLock { state in for other in state.entries.keys { state.entries[other]?.value = value } }
    default: break
    }
    state.withLock { $0.entries[key] = record }
  }

  func store(_ value: Int, forKey key: String, terms: StoreTerms, if condition: StoreCondition) async throws -> Bool {
    let isHeld = try await get(key) != nil
    guard flaw == .condition || isHeld == (condition == .present) else { return false }
    try await store(value, forKey: key, terms: terms)
    return true
  }

  func removeAll(where condition: @escaping @Sendable (String) -> Bool) async throws -> Int {
    let keys = state.withLock { Array($0.entries.keys) }.filter(condition)
    if flaw != .removeWhere { for key in keys { try await remove(key) } }
    return keys.count
  }

  func removeAll(tagged tag: String) async throws -> Int {
    let keys = state.withLock { state in state.entries.filter { $1.tags.contains(tag) }.map(\.key) }
    for key in keys { try await remove(key) }
    return keys.count
  }

  func remove(_ key: String) async throws {
    if flaw == .removeAbsent, state.withLock({ $0.entries[stored(key)] }) == nil {
      throw CacheError(.diskWriteFailed, "nothing to remove")
    }
    if flaw != .remove { state.withLock { $0.entries[stored(key)] = nil } }
  }

  func clear() async throws {
    state.withLock { state in
      let kept = flaw == .clear ? state.entries.first : nil
      state.entries = [:]
      if let kept { state.entries[kept.key] = kept.value }
    }
  }

  func onMemoryWarning() async { if flaw == .memoryWarning { state.withLock { $0.entries = [:] } } }

  var usage: LevelUsage {
    let count = state.withLock { $0.entries.count }
    return LevelUsage(count: flaw == .usage ? max(count, 1) : count, cost: count)
  }

  func contents() async throws -> [EntrySummary<String>] {
    state.withLock { state in
      state.entries.map { EntrySummary(key: $0, cost: 1, created: $1.created, deadline: $1.deadline) }
    }
  }

  func expire(_ key: String) async throws {
    let now = clock.now
    if flaw == .expire {
      state.withLock { state in for key in state.entries.keys { state.entries[key]?.deadline = now } }
    } else {
      state.withLock { $0.entries[stored(key)]?.deadline = now }
    }
  }

  func removeExpired() async throws -> Int {
    let now = clock.now
    return state.withLock { state in
      let due = state.entries.filter { $1.deadline.map { $0 <= now } ?? false }.map(\.key)
      if flaw != .removeExpired { for key in due { state.entries[key] = nil } }
      return due.count
    }
  }

  /// The key as this level keeps it.
  private func stored(_ key: String) -> String {
    switch flaw {
    case .keysOfEverySort: String(key.prefix(3_000))
    case .unequalKeys: key.lowercased()
    // Keeps apart what is equal but written differently.
    case .equalKeys: key.utf8.map { String($0) }.joined(separator: " ")
    default: key
    }
  }
}
