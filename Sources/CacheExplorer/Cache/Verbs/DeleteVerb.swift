import CacheEngine
package import ExplorerCommands
import ExplorerState

package struct DeleteVerb: Verb {
  package static let syntax = VerbSyntax(
    "del KEY", "remove a key from every level", [.key], otherNames: ["remove", "delete", "rm"])

  package var key: String?

  package init(key: String) { self.key = key }

  package init(_ words: ParsedWords) { self.init(key: words.arguments[0].text) }

  package var touched: Touched { .contents }
  package var canBeUndone: Bool { true }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    let key = key ?? ""
    return await session.timed(name) { result in
      // A disk level tells what it removes on a thread of its own, and an app elsewhere: only asking first tells everything.
      var holders: [String] = []
      // For a level that cannot say, the removal tells.
      for level in live.levels where (try? await level.holds(key)) == true { holders.append(level.name) }
      try await live.remove(key)
      result.note = holders.isEmpty ? "it was in no level" : "removed from \(holders.joined(separator: ", "))"
    }
  }
}
