package import CacheEngine
package import CacheEngineHitRatio

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A line from the one who looks to the app: one of its fields is there.
package struct ClientLine: Codable, Sendable {
  package var hello: Hello?
  package var ask: Ask?

  package init(hello: Hello? = nil, ask: Ask? = nil) {
    self.hello = hello
    self.ask = ask
  }

  /// The first line.
  package struct Hello: Codable, Sendable {
    package var versions: ProtocolVersions
    /// Who looks, for a person.
    package var client: String
  }

  /// Something to do, answered by a line with the same number.
  package struct Ask: Codable, Sendable {
    package var id: Int
    /// The word for it: see ``AskWord``.
    package var what: String
    /// `nil` for the whole cache.
    package var level: String?
    package var key: String?
    package var value: Data?
    /// In nanoseconds.
    package var lifetime: Int64?
    /// In place of `lifetime`, for an entry that is put back: what `look` told of it.
    package var terms: EntryTerms?
    /// For entries and for `more`: how many entries or bytes were given already.
    package var from: Int?
    /// The most bytes of a value that the answer may have.
    package var limit: Int?
    /// The rest of a larger value will be asked for with `more`.
    package var keeps: Bool?
    /// For `more`: the number of the question whose value is gone on with.
    package var of: Int?

    package init(_ what: AskWord, level: String? = nil, key: String? = nil) {
      id = 0
      self.what = what.rawValue
      self.level = level
      self.key = key
    }
  }
}

/// What can be asked.
package enum AskWord: String, Sendable, CaseIterable {
  /// Reads through the levels, as the app does.
  case get
  /// Reads a level past counters and observers.
  case look
  /// Lists what a level holds, page by page.
  case entries
  /// Goes on with the value of an earlier question.
  case more
  case set, remove, clear, expire, warn

  /// Whether the app must allow it.
  package var changes: Bool {
    switch self {
    case .get, .look, .entries, .more: false
    case .set, .remove, .clear, .expire, .warn: true
    }
  }
}

/// A line from the app to the one who looks: one of its fields is there.
package struct ServerLine: Codable, Sendable {
  package var welcome: Welcome?
  package var refused: Refusal?
  package var usage: [String: Usage]?
  /// Whether the app hears what other processes change, where its cache listens to that.
  package var hearing: Hearing?
  package var events: Events?
  /// What was counted since the last such line, of what has changed.
  package var counts: CacheStatistics.Snapshot?
  package var answer: Answer?

  package init(
    welcome: Welcome? = nil, refused: Refusal? = nil, usage: [String: Usage]? = nil, hearing: Hearing? = nil,
    events: Events? = nil, counts: CacheStatistics.Snapshot? = nil, answer: Answer? = nil
  ) {
    self.welcome = welcome
    self.refused = refused
    self.usage = usage
    self.hearing = hearing
    self.events = events
    self.counts = counts
    self.answer = answer
  }

  /// The answer to a hello that is understood: what there is to see.
  package struct Welcome: Codable, Sendable {
    package var version: Int
    package var app: String
    package var pid: Int32
    package var allowsWrites: Bool
    /// Its levels tell what happens in them.
    package var tellsEvents: Bool
    /// It tells what it counts, so that nobody need count events, some of which may be dropped.
    package var tellsCounts: Bool?
    /// This moment by the clock of the events, and by the time of day, in nanoseconds.
    package var now: Int64
    package var wall: Int64
    package var levels: [Level]
    package var operators: [Operation]
    package var chain: [Chain]
  }

  package struct Level: Codable, Sendable, Equatable {
    package var name: String
    package var kind: String
    /// Values come from it that nobody stored.
    package var isSource: Bool
    /// It holds entries that can be listed.
    package var holdsEntries: Bool
    /// The most that its entries may cost together or, if `unit` says `entries`, the most entries.
    package var capacity: Int?
    package var unit: String?
    /// The policy by which entries leave, and those that could be chosen in its place.
    package var policy: String?
    package var policies: [String]?
  }

  package struct Operation: Codable, Sendable, Equatable {
    package var name: String
    package var kind: String
    package var setting: String
    package var limit: Int?
  }

  /// How levels and operators stand: one of the numbers is there, an index of `levels` or of `operators`.
  package struct Chain: Codable, Sendable, Equatable {
    package var level: Int?
    package var around: Int?
    package var lanes: Int?
    package var stale: Int?
    package var parts: [Chain]?
    package var others: [Chain]?
  }

  package struct Usage: Codable, Sendable, Equatable {
    package var count: Int
    package var cost: Int
    package var capacity: Int?
    package var countLimit: Int?
  }

  package struct Hearing: Codable, Sendable, Equatable {
    /// Since when nothing is heard, by the clock of the events, in nanoseconds; `nil` while changes are heard.
    package var deafSince: Int64?

    package init(deafSince: Int64?) { self.deafSince = deafSince }
  }

  /// Why the app will not talk; the connection ends behind it.
  package struct Refusal: Codable, Sendable {
    package var code: String
    package var message: String
    package var versions: ProtocolVersions?
  }

  package struct Events: Codable, Sendable {
    /// So many before these were dropped.
    package var lost: Int
    package var list: [WireEvent]
  }

  package struct Answer: Codable, Sendable {
    package var id: Int
    /// `hit`, `miss`, `done` or `failed`.
    package var outcome: String
    package var level: String?
    package var reason: String?
    package var error: String?
    package var isStale: Bool?
    package var value: Data?
    /// How many bytes the whole value has, where only its beginning is given.
    package var size: Int?
    package var deadline: Int64?
    /// For `look`: what the entry has beside its value.
    package var terms: EntryTerms?
    package var entries: [Entry]?
    /// There are more entries, or more bytes of the value, from here on.
    package var next: Int?
    /// What happened on behalf of it.
    package var events: [WireEvent]?

    package init(id: Int, outcome: String) {
      self.id = id
      self.outcome = outcome
    }
  }

  package struct Entry: Codable, Sendable, Equatable {
    package var key: String
    package var cost: Int
    package var created: Int64
    package var deadline: Int64?
  }
}

extension ServerLine.Level {
  /// Tells what limits it.
  package mutating func tell(_ watched: HitRatioObserver.Level) {
    (capacity, unit) = (watched.capacity, watched.unit.rawValue)
    (policy, policies) = (watched.eviction.name, watched.evictions.map(\.name))
  }

  /// What can be asked about other limits; `nil` if the app tells none, or a policy that is not known here.
  package var watched: HitRatioObserver.Level? {
    guard let capacity, capacity > 0, let eviction = policy.flatMap(Eviction.init(name:)),
      let unit = unit.flatMap(HitRatioObserver.Level.Unit.init(rawValue:))
    else { return nil }
    return HitRatioObserver.Level(
      name: name, capacity: capacity, unit: unit, eviction: eviction,
      evictions: (policies ?? []).compactMap(Eviction.init(name:)))
  }
}

/// What both sides hold to.
package enum WireLimits {
  /// The longest line that anybody takes.
  package static let line = 4 << 20
  /// The most bytes of a value in one line.
  package static let value = 1 << 20
  /// The most bytes that this side asks for at once.
  package static let piece = 256 << 10
  /// The largest value that is kept to be given piece by piece; of a larger one the beginning is given.
  package static let kept = 16 << 20
  /// So many values are kept for one who looks; the oldest goes.
  package static let mostKept = 2
  /// For so long somebody may be silent before the greeting, for twice as long between two pieces of a value, and for six
  /// times as long leave lying what was sent.
  package static let patience = Duration.seconds(5)
  /// Entries in a page.
  package static let page = 1_000
  /// Levels with more entries than this are not listed.
  package static let listed = 100_000
  /// Events in a line.
  package static let batch = 256
  /// What happened on behalf of one command, at most.
  package static let transcript = 200
  /// A key that is longer travels cut.
  package static let key = 16 << 10
  /// The most of anything that is counted and told, so that sums of it do not overflow.
  package static let count = Int(min(1 << 48, Int64(Int.max) / 2))

  /// What somebody says that they counted.
  package static func counted(_ number: Int) -> Int { min(max(0, number), count) }

  /// How many bytes of a value go into an answer to one who wants so many.
  package static func piece(_ limit: Int?) -> Int { min(max(1, limit ?? value), value) }
}

/// Lines to bytes and back.
package enum Wire {
  package static func bytes(_ line: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    // Nothing in a line can fail to be encoded: no floating point, no foreign type.
    guard let data = try? encoder.encode(line) else { return [] }
    return Array(data) + [0x0a]
  }

  /// A line of as much of a list as fits into it, which is its half where the whole is too long, and so on.
  static func bytes<Element>(
    _ list: ArraySlice<Element>, _ line: (ArraySlice<Element>) -> some Encodable
  ) -> [UInt8] {
    var part = list
    while true {
      let bytes = bytes(line(part))
      if bytes.count <= WireLimits.line || part.isEmpty { return bytes }
      part = part.prefix(part.count / 2)
    }
  }

  package static func read<Line: Decodable>(_ type: Line.Type, from bytes: some Collection<UInt8>) throws -> Line {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}
