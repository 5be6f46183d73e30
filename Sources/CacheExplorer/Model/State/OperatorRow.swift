import CacheEngine

/// An operator as the screen knows it.
struct OperatorRow: Sendable, Equatable {
  /// The name that events carry.
  var name: String
  /// The word for it in a configuration: `capped`, `retry`.
  var kind: String
  /// What it was told, in a few words: `3`, `prefix img:`.
  var setting = ""
  /// The most loads at once.
  var limit: Int?
  /// How long an open breaker stays open.
  var reset: Duration?

  /// The person gave it a name of its own.
  var isNamed: Bool {
    let word = kind == "pooled" ? "pool" : kind
    return name != word && !name.hasPrefix(word + "-")
  }
}
