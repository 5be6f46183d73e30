#if Combine || canImport(Combine)
import CacheEngine

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
  override func removeAll(tagged tag: String) throws(Fault) -> Int {
    var count = 0
    try inBoth { level throws(Fault) in count += try level.removeAll(tagged: tag) }
    return count
  }
  override func removeAll(where condition: (String) -> Bool) throws(Fault) -> Int {
    var count = 0
    try inBoth { level throws(Fault) in count += try level.removeAll(where: condition) }
    return count
  }
  override func invalidate(_ key: String) throws(Fault) {
    try inBoth { level throws(Fault) in try level.invalidate(key) }
  }
  override func end(_ key: String) throws(Fault) { try inBoth { level throws(Fault) in try level.end(key) } }
  override func warn() {
    first.warn()
    second.warn()
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

  override func reload(_ key: String) throws(Fault) -> Answer { try lane(key).reload(key) }
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
    keep(answer, key)
    return answer
  }

  private func keep(_ answer: Answer, _ key: String) {
    guard case .hit(let found) = answer, !found.isPlaceholder else { return }
    _ = try? first.store(found.value, key, .copy(found), if: nil)
  }

  private func staleFound(_ key: String, within seconds: Int?) -> Found? {
    guard let seconds, let found = try? first.read(key, stale: true).found else { return nil }
    guard found.isStale else { return found }
    guard let deadline = found.deadline, world.now - deadline < seconds else { return nil }
    return found
  }

  private func drop(_ key: String, after answer: Answer, isRefresh: Bool) {
    guard isRevalidated, means(gone: answer) else { return }
    if let found = try? first.read(key, stale: true).found, isRefresh || found.isStale { try? first.remove(key) }
  }

  private func dropAnything(_ key: String, after answer: Answer) {
    if means(gone: answer), (try? first.read(key, stale: true).found) != nil { try? first.remove(key) }
  }

  private func means(gone answer: Answer) -> Bool {
    guard case .miss(let reason) = answer else { return false }
    return !["refused", "expired", "remembered", "nothing"].contains(reason)
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
      guard (try held(key) != nil) == (condition == .present) else { return false }
    }
    try inBoth { level throws(Fault) in try level.store(value, key, terms, if: nil) }
    return true
  }

  private func held(_ key: String) throws(Fault) -> Found? {
    if let found = try first.read(key, stale: false).found { return found }
    return try second.read(key, stale: false).found
  }

  override func update(_ key: String, _ change: (Int?) -> Int?) throws(Fault) -> Int? {
    guard let value = change(try held(key)?.value) else {
      try remove(key)
      return nil
    }
    _ = try store(value, key, Terms(), if: nil)
    return value
  }

  override func invalidate(_ key: String) throws(Fault) {
    // The two may be one.
    var isLower = true
    try inBoth { level throws(Fault) in
      defer { isLower = false }
      if isLower { return try level.invalidate(key) }
      try isRevalidated ? level.end(key) : level.remove(key)
    }
  }

  override func reload(_ key: String) throws(Fault) -> Answer {
    let answer = try second.reload(key)
    keep(answer, key)
    dropAnything(key, after: answer)
    return answer
  }
}
#endif
