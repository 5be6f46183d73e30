import CacheEngine
package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct WarnVerb: Verb {
  private static let severities = ["low", "critical"]

  package static let syntax = VerbSyntax(
    "warn [low|critical]", "send a memory warning through the levels; both kinds are treated alike",
    [.choice(severities)], required: 0)

  package init() {}

  package init(_ words: ParsedWords) throws(CommandError) {
    if let severity = words.arguments.first { _ = try words.choice(severity, among: Self.severities, "severity") }
  }

  package var touched: Touched { .contents }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    return await session.timed(name) { _ in
      await live.cache.onMemoryWarning()
    } note: { events in
      let dropped = events.compactMap { event -> String? in
        guard case .memoryWarning(let count, let cost, _) = event.kind, let level = event.level, count > 0 else {
          return nil
        }
        return "\(level) dropped \(Format.counted(count, "entry", "entries")), \(Format.bytes(cost))"
      }
      return dropped.isEmpty ? "no level had anything to give back" : dropped.joined(separator: "; ")
    }
  }
}
