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
    /// What an observer has counted, by what it is.
    var counts: [String: Int] = [:]
    var down: Set<Int> = []
    /// Levels that several places of a stack have in common.
    var shared: [String: PlainModel] = [:]
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
  /// Says how many there were.
  @discardableResult
  func removeAll(tagged tag: String) throws(Fault) -> Int { 0 }
  @discardableResult
  func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int { 0 }
  func invalidate(_ key: String) throws(Fault) {}
  /// What a level above makes of an entry that is out of date where stale values may be wanted.
  func end(_ key: String) throws(Fault) { try remove(key) }
  func reload(_ key: String) throws(Fault) -> Answer { try read(key, stale: false) }
  func update(_ key: String, _ change: (Int?) -> Int?) throws(Fault) -> Int? { throw Fault(code: "unsupported") }
  func warn() {}

  final func holds(_ condition: StoreCondition?, for key: String) throws(Fault) -> Bool {
    guard let condition else { return true }
    return (try read(key, stale: false).found != nil) == (condition == .present)
  }
}

final class PlainMemory: PlainModel {
  private var entries: [String: Found] = [:]
  private let lifetime: Int?
  private let number: Int?
  private let kind: Kind

  enum Kind {
    case memory, disk
    /// A store of several processes: it does not list what it holds.
    case common
    /// Memory of other values than are read and written.
    case packed
  }

  init(_ world: World, lifetime: Int? = nil, flaky number: Int? = nil, kind: Kind = .memory) {
    self.lifetime = lifetime
    self.kind = kind
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

  override func removeAll(tagged tag: String) throws(Fault) -> Int {
    let count = try drop { $0.value.tags.contains(tag) }
    return kind == .common ? 0 : count
  }

  override func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int {
    if kind == .common { throw Fault(code: "unsupported") }
    return try drop { condition($0.key) }
  }

  private func drop(where condition: ((key: String, value: Found)) -> Bool) throws(Fault) -> Int {
    try work()
    let count = entries.count
    entries = entries.filter { !condition($0) }
    return count - entries.count
  }

  override func end(_ key: String) throws(Fault) {
    guard number == nil else { return try remove(key) }
    if let entry = entries[key], !entry.isOver(at: world.now) { entries[key]?.deadline = world.now }
  }

  override func update(_ key: String, _ change: (Int?) -> Int?) throws(Fault) -> Int? {
    guard number == nil, kind == .memory else { return try super.update(key, change) }
    guard let value = change(try read(key, stale: false).found?.value) else {
      try remove(key)
      return nil
    }
    _ = try store(value, key, Terms(), if: nil)
    return value
  }

  override func warn() { if kind == .memory || kind == .packed { entries = [:] } }
}

/// A named cache whose entries are valid for seven seconds.
final class PlainCashier: PlainModel {
  private var entries: [String: Found] = [:]

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    guard var found = entries[key], !found.isOver(at: world.now) else { return .miss("absent") }
    let limit = (found.created ?? world.now) + 7
    found.deadline = min(found.deadline ?? limit, limit)
    found.isStale = limit <= world.now
    return found.isStale && !stale ? .miss("expired") : .hit(found)
  }

  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    if condition != nil { throw Fault(code: "unsupported") }
    entries[key] = Found(
      value: value, deadline: terms.deadline(usual: nil, now: world.now), created: terms.created ?? world.now,
      tags: terms.tags)
    return true
  }

  override func remove(_ key: String) throws(Fault) { entries[key] = nil }
  override func clear() throws(Fault) { entries = [:] }
  override func removeAll(tagged tag: String) throws(Fault) -> Int { throw Fault(code: "unsupported") }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int { throw Fault(code: "unsupported") }
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
#endif
