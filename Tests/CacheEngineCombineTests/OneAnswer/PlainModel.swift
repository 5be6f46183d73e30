#if Combine || canImport(Combine)
import CacheEngine

/// What a stack should answer, told in the plainest way: one caller, no types, no ways of asking.
class PlainModel {
  struct Found: Equatable {
    var value: Int
    var deadline: Int?
    var created: Int?
    var isStale = false
    var isPlaceholder = false
    var tags: Set<String> = []

    func isOver(at now: Int) -> Bool { deadline.map { $0 <= now } ?? false }
  }

  enum Answer: Equatable {
    case hit(Found)
    case miss(String)

    var found: Found? {
      if case .hit(let found) = self { return found }
      return nil
    }
  }

  struct Fault: Error, Equatable {
    var code: String
  }

  struct Terms {
    enum Lifetime {
      case usual
      case until(Int?)
    }

    var lifetime = Lifetime.usual
    var isCopy = false
    var tags: Set<String> = []
    var created: Int?

    static func copy(_ found: Found) -> Terms {
      Terms(lifetime: .until(found.deadline), isCopy: true, tags: found.tags, created: found.created)
    }

    /// The deadline in a level with a lifetime of its own.
    func deadline(usual seconds: Int?, now: Int) -> Int? {
      let usual = seconds.map { now + $0 }
      switch lifetime {
      case .usual: return usual
      case .until(let deadline):
        guard isCopy else { return deadline }
        return [deadline, usual].compactMap(\.self).min()
      }
    }
  }

  /// What is around all levels.
  final class World {
    var now = 0
    var behaviours: [Int: [String: Step.Behaviour]] = [:]
    var asked: [Int: Int] = [:]
    var down: Set<Int> = []
    /// What is read anew when the call has ended.
    var refreshes: [() -> Void] = []
  }

  let world: World

  init(_ world: World) { self.world = world }

  func read(_ key: String, stale: Bool) throws(Fault) -> Answer { fatalError("a level answers") }
  /// Without a condition always; says whether it did.
  @discardableResult
  func store(_ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?) throws(Fault) -> Bool { true }
  func remove(_ key: String) throws(Fault) {}
  func clear() throws(Fault) {}
  func removeAll(tagged tag: String) throws(Fault) {}
  func removeAll(where condition: (String) -> Bool) throws(Fault) {}

  final func holds(_ condition: StoreCondition?, for key: String) throws(Fault) -> Bool {
    guard let condition else { return true }
    return (try read(key, stale: false).found != nil) == (condition == .present)
  }
}

final class PlainMemory: PlainModel {
  private var entries: [String: Found] = [:]
  private let lifetime: Int?
  private let number: Int?

  init(_ world: World, lifetime: Int? = nil, flaky number: Int? = nil) {
    self.lifetime = lifetime
    self.number = number
    super.init(world)
  }

  private func work() throws(Fault) {
    if let number, world.down.contains(number) { throw Fault(code: "simulated") }
  }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    try work()
    guard var found = entries[key] else { return .miss("absent") }
    found.isStale = found.isOver(at: world.now)
    return found.isStale && !stale ? .miss("expired") : .hit(found)
  }

  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    try work()
    guard try holds(condition, for: key) else { return false }
    entries[key] = Found(
      value: value, deadline: terms.deadline(usual: lifetime, now: world.now), created: terms.created ?? world.now,
      tags: terms.tags)
    return true
  }

  override func remove(_ key: String) throws(Fault) {
    try work()
    entries[key] = nil
  }

  override func clear() throws(Fault) {
    try work()
    entries = [:]
  }

  override func removeAll(tagged tag: String) throws(Fault) {
    try work()
    entries = entries.filter { !$0.value.tags.contains(tag) }
  }

  override func removeAll(where condition: (String) -> Bool) throws(Fault) {
    try work()
    entries = entries.filter { !condition($0.key) }
  }
}

final class PlainSource: PlainModel {
  private let number: Int?

  init(_ world: World, _ number: Int?) {
    self.number = number
    super.init(world)
  }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    guard let number else { return .miss("nothing") }
    world.asked[number, default: 0] += 1
    switch world.behaviours[number]?[key] ?? .gone {
    case .value(let value): return .hit(Found(value: value))
    case .gone: return .miss("absent")
    case .down: throw Fault(code: "simulated")
    }
  }

  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool { try holds(condition, for: key) }
}

/// A level around another that hands everything on.
class PlainWrapper: PlainModel {
  let inner: PlainModel

  init(_ inner: PlainModel) {
    self.inner = inner
    super.init(inner.world)
  }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer { try inner.read(key, stale: stale) }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    try inner.store(value, key, terms, if: condition)
  }
  override func remove(_ key: String) throws(Fault) { try inner.remove(key) }
  override func clear() throws(Fault) { try inner.clear() }
  override func removeAll(tagged tag: String) throws(Fault) { try inner.removeAll(tagged: tag) }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) { try inner.removeAll(where: condition) }
}

/// Other values, and perhaps other keys: `a` and `b` exchanged.
final class PlainTransform: PlainWrapper {
  private let reading: Int
  private let writing: Int
  private let exchanges: Bool

  init(_ inner: PlainModel, reading: Int = 0, writing: Int = 0, exchanges: Bool = false) {
    self.reading = reading
    self.writing = writing
    self.exchanges = exchanges
    super.init(inner)
  }

  private func turned(_ key: String) -> String { exchanges ? exchanged(key) : key }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    let answer = try inner.read(turned(key), stale: stale)
    guard var found = answer.found else { return answer }
    found.value += reading
    return .hit(found)
  }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    try inner.store(value + writing, turned(key), terms, if: condition)
  }
  override func remove(_ key: String) throws(Fault) { try inner.remove(turned(key)) }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) {
    try inner.removeAll { condition(turned($0)) }
  }
}

@Sendable func exchanged(_ key: String) -> String { key == "a" ? "b" : key == "b" ? "a" : key }

final class PlainCondition: PlainWrapper {
  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    key == "c" ? .miss("refused") : try inner.read(key, stale: stale)
  }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    if terms.isCopy, key == "c" { return true }
    return try inner.store(value, key, terms, if: condition)
  }
}

final class PlainRetry: PlainWrapper {
  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    do { return try inner.read(key, stale: stale) } catch {
      guard error.code != "circuitOpen" else { throw error }
      return try inner.read(key, stale: stale)
    }
  }
}

final class PlainFallback: PlainWrapper {
  private let isForErrors: Bool

  init(_ inner: PlainModel, isForErrors: Bool) {
    self.isForErrors = isForErrors
    super.init(inner)
  }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    let answer: Answer
    do { answer = try inner.read(key, stale: stale) } catch {
      guard isForErrors, key == "a" else { throw error }
      return .hit(Found(value: 500, isPlaceholder: true))
    }
    return answer.found == nil && !isForErrors && key == "b" ? .hit(Found(value: 501, isPlaceholder: true)) : answer
  }
}

/// Two failures open it for ten seconds.
final class PlainBreaker: PlainWrapper {
  private var failures = 0
  private var openUntil: Int?

  private func guarded<Result>(_ call: () throws(Fault) -> Result) throws(Fault) -> Result {
    if let openUntil, openUntil > world.now { throw Fault(code: "circuitOpen") }
    do {
      let result = try call()
      (failures, openUntil) = (0, nil)
      return result
    } catch {
      failures += 1
      if failures >= 2 || openUntil != nil { (failures, openUntil) = (0, world.now + 10) }
      throw error
    }
  }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    try guarded { () throws(Fault) in try inner.read(key, stale: stale) }
  }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    try guarded { () throws(Fault) in try inner.store(value, key, terms, if: condition) }
  }
  override func remove(_ key: String) throws(Fault) { try guarded { () throws(Fault) in try inner.remove(key) } }
}

/// Remembers for five seconds.
final class PlainNegative: PlainWrapper {
  private var known: [String: (fault: Fault?, stale: Bool, until: Int)] = [:]
  private let remembersErrors: Bool

  init(_ inner: PlainModel, remembersErrors: Bool) {
    self.remembersErrors = remembersErrors
    super.init(inner)
  }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    if let entry = known[key], entry.until > world.now, entry.stale || !stale {
      if let fault = entry.fault { throw fault }
      return .miss("remembered")
    }
    do {
      let answer = try inner.read(key, stale: stale)
      if case .miss(let reason) = answer, !["refused", "nothing", "remembered"].contains(reason) {
        known[key] = (nil, stale, world.now + 5)
      }
      return answer
    } catch {
      if remembersErrors { known[key] = (error, stale, world.now + 5) }
      throw error
    }
  }

  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    known[key] = nil
    return try inner.store(value, key, terms, if: condition)
  }
  override func remove(_ key: String) throws(Fault) {
    known[key] = nil
    try inner.remove(key)
  }
  override func clear() throws(Fault) {
    known = [:]
    try inner.clear()
  }
  override func removeAll(tagged tag: String) throws(Fault) {
    known = [:]
    try inner.removeAll(tagged: tag)
  }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) {
    known = known.filter { !condition($0.key) }
    try inner.removeAll(where: condition)
  }
}

/// Eight seconds, from the store on.
final class PlainLifetime: PlainWrapper {
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    var timed = terms
    timed.lifetime = .until(terms.deadline(usual: 8, now: world.now))
    return try inner.store(value, key, timed, if: condition)
  }
}

/// Six seconds, judged at the read.
final class PlainAge: PlainWrapper {
  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    let answer = try inner.read(key, stale: stale)
    guard var found = answer.found, let limit = found.created.map({ $0 + 6 }) else { return answer }
    found.deadline = min(found.deadline ?? limit, limit)
    guard limit <= world.now else { return .hit(found) }
    found.isStale = true
    return stale ? .hit(found) : .miss("expired")
  }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    if condition != nil { throw Fault(code: "unsupported") }
    return try inner.store(value, key, terms, if: nil)
  }
}

/// A list of one key, which can be removed by tag only.
final class PlainBatch: PlainWrapper {
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    if condition != nil { throw Fault(code: "unsupported") }
    return try inner.store(value, key, terms, if: nil)
  }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) { throw Fault(code: "unsupported") }
}

class PlainPair: PlainModel {
  let first: PlainModel
  let second: PlainModel

  init(_ first: PlainModel, _ second: PlainModel) {
    self.first = first
    self.second = second
    super.init(first.world)
  }

  /// All are tried.
  final func inBoth(_ call: (PlainModel) throws(Fault) -> Void) throws(Fault) {
    var (failed, written) = (false, false)
    for level in [second, first] {
      do {
        try call(level)
        written = true
      } catch {
        failed = true
        if error.code == "partialFailure" { written = true }
      }
    }
    if failed { throw Fault(code: written ? "partialFailure" : "writeFailed") }
  }

  override func remove(_ key: String) throws(Fault) {
    try inBoth { level throws(Fault) in try level.remove(key) }
  }
  override func clear() throws(Fault) { try inBoth { level throws(Fault) in try level.clear() } }
  override func removeAll(tagged tag: String) throws(Fault) {
    try inBoth { level throws(Fault) in try level.removeAll(tagged: tag) }
  }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) {
    try inBoth { level throws(Fault) in try level.removeAll(where: condition) }
  }
}

final class PlainLanes: PlainPair {
  private func lane(_ key: String) -> PlainModel { key == "a" ? first : second }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer { try lane(key).read(key, stale: stale) }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    try lane(key).store(value, key, terms, if: condition)
  }
}

/// One above the other, with or without stale values.
final class PlainComposition: PlainPair {
  private let policy: Shape.Policy
  private let isRevalidated: Bool
  private var pauses: [String: Int] = [:]

  init(_ upper: PlainModel, _ lower: PlainModel, policy: Shape.Policy? = nil) {
    isRevalidated = policy != nil
    self.policy = policy ?? .init()
    super.init(upper, lower)
  }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    let above = Result { () throws(Fault) in try first.read(key, stale: stale) }
    if case .success(.hit(let found)) = above {
      if found.isStale, stale { return .hit(newer(than: found, key) ?? found) }
      if !stale, isDue(found) { refresh(key) }
      return .hit(found)
    }
    if !stale, let old = staleFound(key, within: policy.whileRevalidate) {
      if old.isStale { refresh(key) }
      return .hit(old)
    }
    let answer: Answer
    do { answer = try stale ? second.read(key, stale: true) : below(key) } catch {
      if !stale, let old = staleFound(key, within: policy.ifError) { return .hit(old) }
      throw error
    }
    if answer == .miss("nothing") { return try above.get() }
    if !stale, let above = try? above.get(), above != .miss("nothing") { drop(key, after: answer, isRefresh: false) }
    return answer
  }

  private func newer(than found: Found, _ key: String) -> Found? {
    guard let other = try? second.read(key, stale: true).found, !other.isPlaceholder else { return nil }
    guard other.isStale else { return other }
    guard let stored = found.created, let created = other.created else { return nil }
    return stored < created ? other : nil
  }

  private func below(_ key: String) throws(Fault) -> Answer {
    let answer = try second.read(key, stale: false)
    if case .hit(let found) = answer, !found.isPlaceholder {
      _ = try? first.store(found.value, key, .copy(found), if: nil)
    }
    return answer
  }

  private func staleFound(_ key: String, within seconds: Int?) -> Found? {
    guard let seconds, let found = try? first.read(key, stale: true).found else { return nil }
    guard found.isStale else { return found }
    guard let deadline = found.deadline, world.now - deadline < seconds else { return nil }
    return found
  }

  private func drop(_ key: String, after answer: Answer, isRefresh: Bool) {
    guard isRevalidated, case .miss(let reason) = answer,
      !["refused", "expired", "remembered", "nothing"].contains(reason)
    else { return }
    if let found = try? first.read(key, stale: true).found, isRefresh || found.isStale { try? first.remove(key) }
  }

  private func isDue(_ found: Found) -> Bool {
    guard let ahead = policy.ahead, let deadline = found.deadline else { return false }
    return deadline - world.now <= ahead
  }

  private func refresh(_ key: String) {
    if let pause = pauses[key], pause > world.now { return }
    world.refreshes.append { [self] in
      if let kept = try? first.read(key, stale: true).found, !kept.isStale, !isDue(kept) { return }
      let answer = try? below(key)
      if let answer { drop(key, after: answer, isRefresh: true) }
      if answer?.found == nil { pauses[key] = world.now + 1 }
    }
  }

  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    if let condition {
      var isHeld = try first.read(key, stale: false).found != nil
      if !isHeld { isHeld = try second.read(key, stale: false).found != nil }
      guard isHeld == (condition == .present) else { return false }
    }
    try inBoth { level throws(Fault) in try level.store(value, key, terms, if: nil) }
    return true
  }
}
#endif
