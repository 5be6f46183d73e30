import CacheEngine
package import ExplorerCommands
import ExplorerState

package struct ExpireVerb: Verb {
  package static let syntax = VerbSyntax(
    "expire KEY|--all", "end the lifetime of a key, or of everything, now", [.key], required: 0,
    [VerbSyntax.Option("--all")])

  /// `nil` expires every entry.
  package var key: String?

  package init(key: String?) { self.key = key }

  package init(_ words: ParsedWords) throws(CommandError) {
    key = try words.oneOrAll()
    // Alone it would be a dangerous slip: it wants to be told that everything is meant.
    guard key != nil || words.text("--all") != nil else { throw words.needsMore() }
  }

  package var touched: Touched { .contents }
  package var canBeUndone: Bool { key != nil }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    return await session.timed(name) { result in
      var count = 0
      var left: [String] = []
      for level in live.levels {
        if let shared = level.shared {
          guard let key else {
            left.append(level.name)
            continue
          }
          let isHeld = try await level.holds(key)
          try await shared.expire(level.storedKey(key))
          if isHeld { count += 1 }
        }
        guard let storage = level.storage else { continue }
        let held = try await storage.contents().map(\.key)
        for held in held where key == nil || held == key.map(level.storedKey) {
          try await storage.expire(held)
          count += 1
        }
      }
      result.note =
        "\(count) \(count == 1 ? "entry" : "entries") expired"
        + (left.isEmpty
          ? "" : "; those of \(left.joined(separator: ", ")) belong to other processes too, and are left alone")
    }
  }
}
