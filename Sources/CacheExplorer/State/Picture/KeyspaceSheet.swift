import CacheEngine
package import ExplorerText

/// What a Redis server says of itself, and what a part of its keys looks like.
package struct KeyspaceSheet: Sendable, Equatable, Codable {
  /// What the server says of itself.
  package struct Server: Sendable, Equatable, Codable {
    package var address = ""
    package var product = "Redis"
    package var version = ""
    package var role = ""
    package var uptime: Duration = .zero
    package var usedBytes = 0
    package var peakBytes = 0
    /// `nil` for no limit.
    package var mostBytes: Int?
    package var policy = ""
    package var hits = 0
    package var misses = 0
    package var evicted = 0
    package var expired = 0
    package var clients = 0
    package var blockedClients = 0
    /// Who is told of changes (`CLIENT TRACKING`).
    package var trackingClients = 0
    package var commands = 0
    /// In the database that is looked at.
    package var keys = 0

    package init() {}
  }

  /// What was counted in the last second or so.
  package struct Rates: Sendable, Equatable, Codable {
    package var hits = 0.0
    package var misses = 0.0
    package var evicted = 0.0
    package var commands = 0.0

    package init() {}
  }

  /// The keys that begin with the same word.
  package struct Prefix: Sendable, Equatable, Codable {
    package var name: String
    package var keys = 0
    package var bytes = 0
    package var largestBytes = 0
    /// So many never expire.
    package var unlimited = 0
    /// Half of those that expire do so within this time; `nil` if none does.
    package var medianLeft: Duration?

    package init(name: String) { self.name = name }
  }

  /// The keys that were looked at.
  package struct Sample: Sendable, Equatable, Codable {
    package var keys = 0
    /// There are no more.
    package var isAll = false
    package var took: Duration = .zero
    /// The one with most bytes first.
    package var prefixes: [Prefix] = []

    package init() {}
  }

  package var server: Server
  /// `nil` before the second look.
  package var rates: Rates?
  package var sample: Sample
  /// What a listening for commands brought, if anybody has asked for that.
  package var traffic: MonitoredTraffic?
  /// Why the server cannot be asked at the moment.
  package var problem: String?

  package init(server: Server, sample: Sample) {
    self.server = server
    self.sample = sample
  }

  /// What of a key counts as its prefix: up to its first colon, or else slash, and that with it.
  package static func prefix(of key: String) -> String {
    guard let end = key.firstIndex(of: ":") ?? key.firstIndex(of: "/"), end > key.startIndex else { return noPrefix }
    return String(key[...end])
  }

  /// What stands for the prefix of keys that have none.
  package static let noPrefix = "(none)"
  /// What stands for all prefixes beyond those that are told one by one.
  package static let others = "(others)"
  /// So many prefixes are told one by one.
  private static let mostPrefixes = 500

  /// Adds keys up by their prefixes; the one with most bytes first.
  package static func prefixes(of keys: [(name: String, bytes: Int?, left: Duration?)]) -> [Prefix] {
    var groups: [String: (prefix: Prefix, left: [Duration])] = [:]
    for key in keys {
      let name = prefix(of: key.name)
      var group = groups[name] ?? (Prefix(name: name), [])
      group.prefix.keys += 1
      group.prefix.bytes += key.bytes ?? 0
      group.prefix.largestBytes = max(group.prefix.largestBytes, key.bytes ?? 0)
      if let left = key.left { group.left.append(left) } else { group.prefix.unlimited += 1 }
      groups[name] = group
    }
    let all = groups.values.sorted {
      ($1.prefix.bytes, $1.prefix.keys, $0.prefix.name) < ($0.prefix.bytes, $0.prefix.keys, $1.prefix.name)
    }
    func told(_ group: (prefix: Prefix, left: [Duration])) -> Prefix {
      var prefix = group.prefix
      prefix.medianLeft = group.left.isEmpty ? nil : group.left.sorted()[group.left.count / 2]
      return prefix
    }
    let rest = all.dropFirst(mostPrefixes)
    guard let first = rest.first else { return all.map(told) }
    var others = rest.dropFirst().reduce(into: first) { others, group in
      others.prefix.keys += group.prefix.keys
      others.prefix.bytes += group.prefix.bytes
      others.prefix.largestBytes = max(others.prefix.largestBytes, group.prefix.largestBytes)
      others.prefix.unlimited += group.prefix.unlimited
      others.left += group.left
    }
    others.prefix.name = Self.others
    return (all.prefix(mostPrefixes) + [others]).map(told)
  }

  /// With other names in place of prefixes, and without what an error says.
  package func renamed(_ name: (String) -> String) -> KeyspaceSheet {
    var sheet = self
    func other(_ prefix: String) -> String {
      [Self.noPrefix, Self.others].contains(prefix) ? prefix : name(prefix)
    }
    for place in sheet.sample.prefixes.indices {
      sheet.sample.prefixes[place].name = other(sheet.sample.prefixes[place].name)
    }
    if var traffic = sheet.traffic {
      for place in traffic.prefixes.indices { traffic.prefixes[place].name = other(traffic.prefixes[place].name) }
      sheet.traffic = traffic
    }
    if sheet.problem != nil { sheet.problem = KeyMask.hidden }
    return sheet
  }

  /// For programs.
  package var json: JSONText {
    func milliseconds(_ duration: Duration) -> JSONText { .number(Int(duration.clampedNanoseconds / 1_000_000)) }
    let prefixes = sample.prefixes.map { prefix -> JSONText in
      let counts = traffic?.prefixes.first { $0.name == prefix.name }
      return .object([
        ("prefix", .text(prefix.name)), ("keys", .number(prefix.keys)), ("bytes", .number(prefix.bytes)),
        ("largestBytes", .number(prefix.largestBytes)), ("unlimited", .number(prefix.unlimited)),
        ("medianTimeLeftMilliseconds", prefix.medianLeft.map(milliseconds)),
        ("reads", counts.map { .number($0.reads) }), ("writes", counts.map { .number($0.writes) }),
      ])
    }
    return .object([
      ("version", JSONText.version),
      (
        "server",
        .object([
          ("address", .text(server.address)), ("product", .text(server.product)), ("version", .text(server.version)),
          ("role", .text(server.role)), ("uptimeSeconds", .number(Int(server.uptime.components.seconds))),
          ("usedBytes", .number(server.usedBytes)), ("peakBytes", .number(server.peakBytes)),
          ("capacityBytes", server.mostBytes.map { .number($0) }), ("policy", .text(server.policy)),
          ("hits", .number(server.hits)), ("misses", .number(server.misses)), ("evicted", .number(server.evicted)),
          ("expired", .number(server.expired)), ("clients", .number(server.clients)),
          ("blockedClients", .number(server.blockedClients)), ("trackingClients", .number(server.trackingClients)),
          ("commands", .number(server.commands)), ("keys", .number(server.keys)),
        ])
      ),
      (
        "rates",
        rates.map { rates in
          .object([
            ("hits", .fraction(rates.hits)), ("misses", .fraction(rates.misses)),
            ("evicted", .fraction(rates.evicted)), ("commands", .fraction(rates.commands)),
          ])
        }
      ),
      (
        "sample",
        .object([
          ("keys", .number(sample.keys)), ("isAll", .flag(sample.isAll)), ("milliseconds", milliseconds(sample.took)),
          ("prefixes", .array(prefixes)),
        ])
      ),
      ("monitor", traffic?.json), ("problem", problem.map(JSONText.text)),
    ])
  }
}
