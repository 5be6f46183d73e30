import CacheEngine
package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct ClearVerb: Verb {
  package static let syntax = VerbSyntax(
    "clear [L|--all]", "remove everything from every level, or from one", [.level], required: 0,
    [VerbSyntax.Option("--all")], otherNames: ["flush", "flushall", "purge"])

  /// `nil` clears every level.
  package var level: String?

  package init(level: String?) { self.level = level }

  package init(_ words: ParsedWords) throws(CommandError) { level = try words.oneOrAll() }

  package var touched: Touched { .contents }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    let before = live.usage
    return await session.timed(name) { _ in
      if let level { try await live.target(level).clear() } else { try await live.remove(nil) }
    } note: { _ in
      let after = live.usage
      let removed = max(0, before.map { $0.value.count - (after[$0.key]?.count ?? 0) }.reduce(0, +))
      let uncounted = live.levels.filter { $0.shared != nil && (level == nil || level == $0.name) }.map(\.name)
      guard uncounted.isEmpty || level == nil else { return "every entry removed from \(level ?? "")" }
      return "\(removed) \(removed == 1 ? "entry" : "entries") removed from \(level ?? "every level")"
        + (uncounted.isEmpty ? "" : "; those of \(uncounted.joined(separator: ", ")) are gone too, and not counted")
    }
  }
}
