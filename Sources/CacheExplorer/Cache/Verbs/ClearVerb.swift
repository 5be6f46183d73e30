import CacheEngine
package import ExplorerModel
import ExplorerText

package struct ClearVerb: Verb {
  package static let syntax = VerbSyntax(
    "clear [L|--all]", "remove everything from every level, or from one", [.level], required: 0,
    [VerbSyntax.Option("--all")])

  /// `nil` clears every level.
  package var level: String?

  package init(level: String?) { self.level = level }

  package init(_ words: ParsedWords) throws(CommandError) { level = try words.oneOrAll() }

  package var touched: Touched { .contents }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    let before = live.usage
    return await session.timed(name) { _ in
      try await live.target(level).clear()
    } note: { _ in
      let after = live.usage
      let removed = max(0, before.map { $0.value.count - (after[$0.key]?.count ?? 0) }.reduce(0, +))
      return "\(removed) \(removed == 1 ? "entry" : "entries") removed from \(level ?? "every level")"
    }
  }
}
