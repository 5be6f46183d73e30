package import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

package struct LoadVerb: Verb {
  package static let syntax = VerbSyntax("load CONFIG", "open another configuration instead of this one", [.file])

  package var file: String

  package init(file: String) { self.file = file }

  package init(_ words: ParsedWords) { self.init(file: words.arguments[0].text) }

  package var touched: Touched { .configuration }

  package func run(in session: Interpreter) async -> CommandResult {
    do { return await session.use(try ConfigurationFile.load(file), file: file, for: name) } catch {
      return failure(error)
    }
  }

  package func news(of result: CommandResult, in session: Interpreter) -> [ScreenRequest] {
    session.replacement(result)
  }
}
