package import CacheEngine
import ExplorerText

/// A level as the screen knows it.
package struct LevelRow: Sendable, Equatable, Codable {
  /// The name that events carry.
  package var name: String
  /// What it is: `memory`, `disk`, `network`, `origin`.
  package var kind: String
  /// What stands at the right of the title: `ADAPTIVE 2 MiB`, `network`; empty for nothing.
  package var capacity: String = ""
  /// A fetcher at the bottom: it holds no entries, and everything that reaches it costs.
  package var isOrigin = false
  /// Expired entries stay for a while, for stale answers.
  package var keepsExpired = false
  package var usage: LevelUsage?
  /// How it stands with the store that it shares with other processes; `nil` if it shares none.
  package var shared: SharedStatus?
  /// Who serves the files that it shares with other processes; `nil` if it shares none.
  package var owner: String?
  /// So many of its entries are not listed: it has more than are listed at once.
  package var unlisted = 0
  /// What goes wrong in it on purpose; `nil` for nothing.
  package var fault: String?

  package init(
    name: String, kind: String, capacity: String = "", isOrigin: Bool = false, keepsExpired: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.capacity = capacity
    self.isOrigin = isOrigin
    self.keepsExpired = keepsExpired
  }

  /// What stands for each level where a name has no room: its first letter, or its number if two begin alike or
  /// with what takes more than a cell.
  package static func signs(_ levels: [LevelRow]) -> [String] {
    let letters = levels.map { level in
      let letter = level.name.prefix(1)
      return level.isOrigin ? letter.lowercased() : letter.uppercased()
    }
    let isUnique = Set(letters.map { $0.uppercased() }).count == levels.count
    return isUnique && letters.allSatisfy { DisplayText($0).width == 1 } ? letters : levels.indices.map { "\($0 + 1)" }
  }

  /// The number before a level's name, and a space; an origin has one only where numbers stand for names.
  package static func number(_ index: Int, of levels: [LevelRow]) -> String {
    levels[index].isOrigin && signs(levels).first != "1" ? "" : "\(index + 1) "
  }
}
