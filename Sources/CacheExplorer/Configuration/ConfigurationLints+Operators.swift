import ExplorerText

/// What operators allow but hardly anybody means.
extension Lints {
  /// So many loads at once are no limit.
  private static let largestCap = 10_000

  /// A condition that no key can meet, or none of those that come so far.
  ///
  /// `known`: What every key that comes here meets.
  mutating func conditions(_ levels: [LevelSpecification], known: [KeyCondition]) {
    for level in levels {
      switch level.kind {
      case .around(.conditioned(let condition), let inner):
        check(condition, of: level, known)
        conditions(inner, known: known + [condition])
      case .lanes(let condition, let then, let otherwise):
        check(condition, of: level, known)
        if !condition.isImpossible, known.contains(where: { $0.excludes(.not(condition)) }) {
          warn(
            "every key that comes to \(level.name) meets “\(condition.text)”: its else is never asked",
            "widen the condition above, or leave the lanes out", level)
        }
        conditions(then, known: known + [condition])
        conditions(otherwise, known: known + [.not(condition)])
      // The keys below differ from those above.
      case .around(.transformKeys, let inner): conditions(inner, known: [])
      default: conditions(level.inner, known: known)
      }
    }
  }

  private mutating func check(_ condition: KeyCondition, of level: LevelSpecification, _ known: [KeyCondition]) {
    if condition.isImpossible {
      warn("no key meets “\(condition.text)”", "mend the condition", level)
    } else if let other = known.first(where: { $0.excludes(condition) }) {
      warn(
        "no key that meets “\(other.text)” above meets “\(condition.text)”: what \(level.name) holds is never asked",
        "mend one of the conditions", level)
    }
  }

  mutating func operators(_ level: LevelSpecification) {
    switch level.kind {
    case .stale(let stale, let holding, let source): check(stale, level, holding, source)
    case .around(let operation, let inner): check(operation, level, inner)
    default: break
    }
  }

  private mutating func check(
    _ operation: OperatorSpecification, _ level: LevelSpecification, _ inner: [LevelSpecification]
  ) {
    let leaves = inner.flatMap(\.withInner).filter(\.inner.isEmpty)
    let isRemote = leaves.contains(where: \.isRemote)
    switch operation {
    case .capped(let limit):
      if limit > Self.largestCap {
        warn("\(level.name) allows \(limit) at once, which is no limit", "give at most \(Self.largestCap)", level)
      }
    case .retry:
      if !isRemote {
        warn("\(level.name) is around levels that fail alike each time", "put it around a network or an origin", level)
      }
      if let fallback = inner.first(where: { if case .around(.fallback, _) = $0.kind { true } else { false } }) {
        warn(
          "\(level.name) is around \(fallback.name), which never fails: nothing is tried again",
          "put \(fallback.name) around \(level.name)", level)
      }
    case .breaker:
      if !isRemote {
        warn("\(level.name) is around levels that are not slow to fail", "put it around a network or an origin", level)
      }
    case .timeout(let limit): checkTimeout(limit, level, leaves, inner)
    case .transformValues(let steps, _), .postProcess(let steps, _):
      guard let base64 = steps.firstIndex(of: .base64) else { return }
      if let step = steps[base64...].first(where: \.isCompression) {
        warn(
          "\(level.name) compresses what base64 has just made longer", "put \(step.text) before base64", level)
      }
    case .transformKeys(let steps):
      if let step = steps.first(where: \.mayCollide), leaves.contains(where: { !$0.isSource }) {
        warn(
          "\(level.name) makes one key of keys that differ: with \(step.text) they share a value",
          "leave \(step.text) out, unless keys that differ in case mean the same", level)
      }
    default: break
    }
  }

  private mutating func checkTimeout(
    _ limit: Duration, _ level: LevelSpecification, _ leaves: [LevelSpecification], _ inner: [LevelSpecification]
  ) {
    for leaf in leaves {
      guard case .origin(let origin) = leaf.kind, limit <= origin.latency.lowerBound else { continue }
      warn(
        "\(level.name) ends after \(Quantity.text(limit)), before \(leaf.name) can answer: every read of it fails",
        "give it longer than \(Quantity.text(origin.latency.lowerBound))", level)
    }
    for held in inner {
      guard case .around(.retry(let retry), _) = held.kind, limit <= retry.delay else { continue }
      warn(
        "\(level.name) ends after \(Quantity.text(limit)), before \(held.name) tries again",
        "give it longer, or put it into \(held.name)",
        level)
    }
  }

  private mutating func check(
    _ stale: StaleSpecification, _ level: LevelSpecification, _ holding: [LevelSpecification],
    _ source: [LevelSpecification]
  ) {
    let storing = holding.flatMap(\.withInner).filter { $0.keepsExpired != nil }
    guard !storing.isEmpty else {
      return warn("\(level.name) has nothing that holds values", "put memory or disk into its “level”", level)
    }
    if !source.flatMap(\.withInner).contains(where: \.isSource) {
      warn("\(level.name) has no source to refresh from", "put a network or an origin into its “from”", level)
    }
    if let longest = stale.longest {
      for held in storing where held.lifetime != .some(nil) {
        guard let kept = held.keepsExpired, kept < longest else { continue }
        warn(
          kept == .zero
            ? "\(held.name) drops what has expired, so that \(level.name) has nothing stale to serve"
            : "\(held.name) keeps expired entries for \(Quantity.text(kept)), less than \(level.name) serves them",
          "give \(held.name) keepExpired: \(Quantity.text(longest))", held)
      }
    }
    if let ahead = stale.refreshAhead {
      for held in storing {
        guard let lifetime = held.lifetime ?? nil, ahead >= lifetime else { continue }
        warn(
          "\(level.name) refreshes \(Quantity.text(ahead)) ahead, and \(held.name) keeps values for \(Quantity.text(lifetime)): every read refreshes",
          "give a shorter refreshAhead", level)
      }
    }
  }
}
