import CacheEngine

/// An operator as the screen knows it.
package struct OperatorRow: Sendable, Equatable, Codable {
  /// The name that events carry.
  package var name: String
  /// The word for it in a configuration: `capped`, `retry`.
  package var kind: String
  /// What it was told, in a few words: `3`, `prefix img:`.
  package var setting = ""
  /// The most loads at once.
  package var limit: Int?
  /// How long an open breaker stays open.
  package var reset: Duration?

  package init(name: String, kind: String, setting: String = "", limit: Int? = nil) {
    self.name = name
    self.kind = kind
    self.setting = setting
    self.limit = limit
  }

  /// The person gave it a name of its own.
  package var isNamed: Bool {
    let word = kind == "pooled" ? "pool" : kind
    return name != word && !name.hasPrefix(word + "-")
  }
}
