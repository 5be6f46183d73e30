#if Combine || canImport(Combine)
import CacheEngine

/// A level around another that hands everything on.
class PlainWrapper: PlainModel {
  let inner: PlainModel

  init(_ inner: PlainModel) {
    self.inner = inner
    super.init(inner.world)
  }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer { try ask(key, stale: stale) }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    try inner.store(value, key, terms, if: condition)
  }
  override func remove(_ key: String) throws(Fault) { try inner.remove(key) }
  override func clear() throws(Fault) { try inner.clear() }
  override func removeAll(tagged tag: String) throws(Fault) -> Int { try inner.removeAll(tagged: tag) }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int {
    try inner.removeAll(where: condition)
  }
  override func invalidate(_ key: String) throws(Fault) { try inner.invalidate(key) }
  override func end(_ key: String) throws(Fault) { try inner.end(key) }
  final override func reload(_ key: String) throws(Fault) -> Answer {
    isReloading = true
    defer { isReloading = false }
    return try read(key, stale: false)
  }
  override func warn() { inner.warn() }

  private(set) final var isReloading = false

  /// A level treats what it reads and what it reloads alike.
  final func ask(_ key: String, stale: Bool) throws(Fault) -> Answer {
    try isReloading ? inner.reload(key) : inner.read(key, stale: stale)
  }
}

/// A level of somebody's own, who knows of removals only.
final class PlainStranger: PlainWrapper {
  override func end(_ key: String) throws(Fault) { try remove(key) }
}

/// A pool, through which a value can be computed from the one before.
final class PlainPool: PlainWrapper {
  override func update(_ key: String, _ change: (Int?) -> Int?) throws(Fault) -> Int? { try inner.update(key, change) }
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
    let answer = try ask(turned(key), stale: stale)
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
  override func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int {
    try inner.removeAll { condition(turned($0)) }
  }
  override func invalidate(_ key: String) throws(Fault) { try inner.invalidate(turned(key)) }
  override func end(_ key: String) throws(Fault) { try inner.end(turned(key)) }
}

@Sendable func exchanged(_ key: String) -> String { key == "a" ? "b" : key == "b" ? "a" : key }

final class PlainCondition: PlainWrapper {
  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    key == "c" ? .miss("refused") : try ask(key, stale: stale)
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
    do { return try ask(key, stale: stale) } catch {
      guard error.code != "circuitOpen" else { throw error }
      return try ask(key, stale: stale)
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
    do { answer = try ask(key, stale: stale) } catch {
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
    try guarded { () throws(Fault) in try ask(key, stale: stale) }
  }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    try guarded { () throws(Fault) in try inner.store(value, key, terms, if: condition) }
  }
  override func remove(_ key: String) throws(Fault) { try guarded { () throws(Fault) in try inner.remove(key) } }
  override func end(_ key: String) throws(Fault) { try guarded { () throws(Fault) in try inner.end(key) } }
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
    if !isReloading, let entry = known[key], entry.until > world.now, entry.stale || !stale {
      if let fault = entry.fault { throw fault }
      return .miss("remembered")
    }
    do {
      let answer = try ask(key, stale: stale)
      if case .miss(let reason) = answer, !["refused", "nothing", "remembered"].contains(reason) {
        known[key] = (nil, stale, world.now + 5)
      }
      if isReloading, answer.found != nil { known[key] = nil }
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
  override func removeAll(tagged tag: String) throws(Fault) -> Int {
    known = [:]
    return try inner.removeAll(tagged: tag)
  }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int {
    known = known.filter { !condition($0.key) }
    return try inner.removeAll(where: condition)
  }
  override func invalidate(_ key: String) throws(Fault) {
    try inner.invalidate(key)
    known[key] = nil
  }
  override func end(_ key: String) throws(Fault) {
    try inner.end(key)
    known[key] = nil
  }
  override func warn() {
    known = [:]
    inner.warn()
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
    let answer = try ask(key, stale: stale)
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

/// Counts what is read, and what is stored unless it is a source that stores nothing.
final class PlainCounted: PlainWrapper {
  private func count(_ what: String) { world.counts[what, default: 0] += 1 }

  override func read(_ key: String, stale: Bool) throws(Fault) -> Answer {
    if stale { return try ask(key, stale: true) }
    do {
      let answer = try ask(key, stale: false)
      if case .miss(let reason) = answer { count(reason) } else { count("hit") }
      return answer
    } catch {
      count("error")
      throw error
    }
  }
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    guard !(inner is PlainSource) else { return try inner.store(value, key, terms, if: condition) }
    let isStored = try inner.store(value, key, terms, if: condition)
    if isStored { count(terms.isCopy ? "copy" : "set") }
    return isStored
  }
}

/// One that others can do without: what is written, they are not told of failures.
final class PlainOptional: PlainWrapper {
  private func attempt(_ write: () throws(Fault) -> Void) { do { try write() } catch {} }

  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    if condition != nil { throw Fault(code: "unsupported") }
    attempt { () throws(Fault) in try inner.store(value, key, terms, if: nil) }
    return true
  }
  override func remove(_ key: String) throws(Fault) { attempt { () throws(Fault) in try inner.remove(key) } }
  override func clear() throws(Fault) { attempt { () throws(Fault) in try inner.clear() } }
  override func removeAll(tagged tag: String) throws(Fault) -> Int {
    var count = 0
    attempt { () throws(Fault) in count = try inner.removeAll(tagged: tag) }
    return count
  }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int {
    var count = 0
    attempt { () throws(Fault) in count = try inner.removeAll(where: condition) }
    return count
  }
  override func end(_ key: String) throws(Fault) { attempt { () throws(Fault) in try inner.end(key) } }
}

/// A list of one key, which can be removed by tag only.
final class PlainBatch: PlainWrapper {
  override func store(
    _ value: Int, _ key: String, _ terms: Terms, if condition: StoreCondition?
  ) throws(Fault) -> Bool {
    if condition != nil { throw Fault(code: "unsupported") }
    return try inner.store(value, key, terms, if: nil)
  }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int { throw Fault(code: "unsupported") }
}
#endif
