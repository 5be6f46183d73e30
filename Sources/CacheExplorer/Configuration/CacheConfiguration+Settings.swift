import CacheEngine
package import ExplorerCommands
import ExplorerText

/// Where the fields of a level stand in the file.
///
/// Where something is written makes no other configuration: two of these are always equal.
struct FieldOrigins: Equatable, Sendable {
  var places: [String: Place] = [:]

  static func == (left: FieldOrigins, right: FieldOrigins) -> Bool { true }
}

extension CacheConfiguration {
  /// Every value that is in force, level by level from the top.
  package var settings: [ConfigurationSetting] {
    var result: [ConfigurationSetting] = []
    for level in levels { level.add(to: &result, depth: 0) }
    if let workload {
      let fields: [(name: String?, value: String?)] = [
        (nil, workload.name), ("rate", workload.rate.map { $0.isFinite ? Format.number($0) : "max" }),
        ("requests", workload.requests.map { "\($0)" }),
        ("keys", workload.keys.map { "\($0)" }), ("seed", workload.seed.map { "\($0)" }), ("key", workload.key),
        ("skew", workload.skew.map(Format.number)), ("file", workload.file),
      ]
      for case (let field, let value?) in fields {
        result.append(
          ConfigurationSetting(
            depth: 0, owner: "workload", field: field, value: value, place: workloadOrigins.places[field ?? ""]))
      }
    }
    return result
  }

  /// What another configuration changes, a line each; empty if nothing.
  package func changes(to other: CacheConfiguration) -> [String] {
    let old = Dictionary(settings.map { ($0.title, $0) }) { first, _ in first }
    let new = Dictionary(other.settings.map { ($0.title, $0) }) { first, _ in first }
    var lines: [String] = []
    for setting in other.settings {
      guard let before = old[setting.title] else {
        // A new level brings its fields; those it keeps at their defaults are not worth a line.
        if setting.field == nil || setting.place != nil { lines.append("+ \(setting.title): \(setting.value)") }
        continue
      }
      if before.value != setting.value { lines.append("~ \(setting.title): \(before.value) → \(setting.value)") }
    }
    for setting in settings where new[setting.title] == nil && (setting.field == nil || setting.place != nil) {
      lines.append("- \(setting.title): \(setting.value)")
    }
    let levelsBefore = Dictionary(allLevels.map { ($0.name, $0) }) { first, _ in first }
    for level in other.allLevels where levelsBefore[level.name].map(level.isAnotherUnseen) == true {
      lines.append("~ \(level.name): what is not shown, such as a password, or too little to be seen")
    }
    if lines.isEmpty, levels.map(\.shape) != other.levels.map(\.shape) {
      lines.append("~ the order of the levels")
    }
    return lines
  }
}

extension LevelSpecification {
  /// The names in their order and nesting.
  fileprivate var shape: String { "\(word) \(name)(\(inner.map(\.shape).joined(separator: ",")))" }

  /// Whether it is another one than before, though every value looks the same.
  fileprivate func isAnotherUnseen(from before: LevelSpecification) -> Bool {
    own != before.own && word == before.word && fields.elementsEqual(before.fields, by: ==)
  }

  /// Its kind without the levels that it holds.
  private var own: Kind {
    switch kind {
    case .around(let operation, _): .around(operation, [])
    case .lanes(let condition, _, _): .lanes(condition, then: [], otherwise: [])
    case .stale(let stale, _, _): .stale(stale, level: [], from: [])
    case .memory, .disk, .defaults, .redis, .network, .origin, .empty: kind
    }
  }

  fileprivate func add(to result: inout [ConfigurationSetting], depth: Int) {
    result.append(ConfigurationSetting(depth: depth, owner: name, value: word, place: place))
    for (field, value) in fields {
      result.append(
        ConfigurationSetting(depth: depth, owner: name, field: field, value: value, place: origins.places[field]))
    }
    for level in inner { level.add(to: &result, depth: depth + 1) }
  }

  /// The fields of its kind with the values in force.
  private var fields: [(String, String)] {
    switch kind {
    case .memory(let memory):
      [
        ("capacity", Format.bytes(memory.capacity)),
        ("count", memory.countLimit.map { Format.count($0) } ?? "no limit"),
        ("policy", memory.eviction.name), ("expiry", Self.text(memory.lifetime, memory.jitter)),
        ("keepExpired", Quantity.text(memory.keepsExpired)),
      ] + (memory.timeToIdle.map { [("timeToIdle", Quantity.text($0))] } ?? [])
    case .disk(let disk):
      [
        ("directory", disk.directory), ("capacity", Format.bytes(disk.capacity)),
        ("expiry", Self.text(disk.lifetime, disk.jitter)),
        ("keepExpired", Quantity.text(disk.keepsExpired)), ("durability", disk.durability.rawValue),
      ] + (disk.isShared ? [("sharing", "acrossProcesses")] : [])
    case .defaults(let defaults):
      [
        ("domain", defaults.domain), ("directory", defaults.directory ?? "where the system keeps settings"),
        ("expiry", Self.text(defaults.lifetime, defaults.jitter)), ("durability", defaults.durability.rawValue),
      ]
    case .redis(let redis):
      [("url", redis.address)] + (redis.authorities.map { [("authorities", $0)] } ?? []) + [
        ("namespace", redis.namespace), ("expiry", Self.text(redis.lifetime, redis.jitter)),
        ("keepExpired", Quantity.text(redis.keepsExpired)), ("timeout", Quantity.text(redis.timeout)),
        ("connectTimeout", Quantity.text(redis.connectTimeout)), ("coherence", redis.isCoherent ? "true" : "false"),
        ("whileDeaf", Quantity.text(redis.whileDeaf)),
      ]
    case .network(let network):
      [
        ("url", network.address), ("timeout", Quantity.text(network.timeout)),
        ("connectTimeout", Quantity.text(network.connectTimeout)),
      ]
    case .empty: []
    case .origin(let origin):
      [
        ("latency", Self.text(origin.latency) { Quantity.text($0) }), ("failures", Quantity.percent(origin.failures)),
        ("missing", Quantity.percent(origin.missing)), ("size", Self.text(origin.size) { Format.bytes($0) }),
        ("seed", "\(origin.seed)"),
      ]
    case .around(let operation, _): operation.fields
    case .lanes(let condition, _, _): [("when", condition.text)]
    case .stale(let stale, _, _):
      [
        ("whileRevalidate", stale.whileRevalidate.map { Quantity.text($0) } ?? "off"),
        ("ifError", stale.ifError.map { Quantity.text($0) } ?? "off"),
        ("refreshAhead", stale.refreshAhead.map { Quantity.text($0) } ?? "off"),
      ]
        + (stale.ifSlow.map { [("ifSlow", Quantity.text($0)), ("slowAfter", Quantity.text(stale.slowAfter))] } ?? [])
    }
  }

  private static func text(_ lifetime: Duration?, _ jitter: Double) -> String {
    guard let lifetime else { return "never" }
    return Quantity.text(lifetime) + (jitter > 0 ? ", up to \(Quantity.percent(jitter)) less" : "")
  }

  private static func text<Bound>(_ range: ClosedRange<Bound>, _ text: (Bound) -> String) -> String {
    range.lowerBound == range.upperBound
      ? text(range.lowerBound) : "\(text(range.lowerBound))..\(text(range.upperBound))"
  }
}

extension OperatorSpecification {
  fileprivate var fields: [(String, String)] {
    switch self {
    case .pooled: []
    case .capped(let limit): [("limit", "\(limit)")]
    case .conditioned(let condition): [("when", condition.text)]
    case .transformKeys(let steps): [("with", steps.map(\.text).joined(separator: " › "))]
    case .transformValues(let steps, let condition), .postProcess(let steps, let condition):
      [("with", steps.map(\.text).joined(separator: " › "))] + (condition.map { [("when", $0.text)] } ?? [])
    case .expiry(let lifetime, let jitter):
      [("after", Quantity.text(lifetime))] + (jitter > 0 ? [("jitter", Quantity.percent(jitter))] : [])
    case .maximumAge(let age): [("maximumAge", Quantity.text(age))]
    case .negative(let negative): [("for", Quantity.text(negative.lifetime)), ("count", "\(negative.countLimit)")]
    case .timeout(let limit): [("after", Quantity.text(limit))]
    case .retry(let retry):
      [
        ("attempts", "\(retry.attempts)"), ("delay", Quantity.text(retry.delay)), ("factor", "\(retry.factor)"),
        ("maximum", Quantity.text(retry.maximum)), ("jitter", "\(retry.jitter)"),
      ]
    case .breaker(let breaker): [("failures", "\(breaker.failures)"), ("reset", Quantity.text(breaker.reset))]
    case .fallback(let value): [("value", value)]
    }
  }
}
