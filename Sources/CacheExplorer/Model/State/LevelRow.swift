import CacheEngine

/// A level as the screen knows it.
struct LevelRow: Sendable, Equatable {
  /// The name that events carry.
  var name: String
  /// What it is: `memory`, `disk`, `network`, `origin`.
  var kind: String
  /// What stands at the right of the title: `ADAPTIVE 2 MiB`, `network`; empty for nothing.
  var capacity: String = ""
  /// A fetcher at the bottom: it holds no entries, and everything that reaches it costs.
  var isOrigin = false
  /// Expired entries stay for a while, for stale answers.
  var keepsExpired = false
  var usage: LevelUsage?
  /// So many of its entries are not listed: it has more than are listed at once.
  var unlisted = 0
  /// What goes wrong in it on purpose; `nil` for nothing.
  var fault: String?

  /// What stands for each level where a name has no room: its first letter, or its number if two begin alike.
  static func signs(_ levels: [LevelRow]) -> [String] {
    let letters = levels.map { level in
      let letter = level.name.prefix(1)
      return level.isOrigin ? letter.lowercased() : letter.uppercased()
    }
    let isUnique = Set(letters.map { $0.uppercased() }).count == levels.count
    return isUnique ? letters : levels.indices.map { "\($0 + 1)" }
  }

  /// The number before a level's name, and a space; an origin has one only where numbers stand for names.
  static func number(_ index: Int, of levels: [LevelRow]) -> String {
    let isNumbered = signs(levels).first == "1"
    return levels[index].isOrigin && !isNumbered ? "" : "\(index + 1) "
  }
}
