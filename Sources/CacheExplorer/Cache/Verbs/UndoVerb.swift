package import ExplorerCommands
import ExplorerState

package struct UndoVerb: Verb {
  package static let syntax = VerbSyntax(
    "undo", "take back the last set, del or expire of a key, if that can be done exactly")

  package init() {}

  package init(_ words: ParsedWords) {}

  package var touched: Touched { .contents }

  package func run(in session: Interpreter) async -> CommandResult {
    guard let record = session.takeUndo() else {
      return failure("nothing can be undone exactly; only a set, del or expire of one key can")
    }
    return await session.timed(name) { result in
      let names = try await record.undo()
      result.note = "\(record.title) is undone in \(names.joined(separator: ", "))"
    }
  }
}
