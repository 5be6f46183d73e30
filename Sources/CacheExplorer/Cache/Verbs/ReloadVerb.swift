package import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

package struct ReloadVerb: Verb {
  package static let syntax = VerbSyntax("reload", "read the configuration again and start over with it")

  package init() {}

  package init(_ words: ParsedWords) {}

  package var touched: Touched { .configuration }

  package func run(in session: Interpreter) async -> CommandResult {
    let current = session.current
    guard current.isFile else { return failure("this cache is not from a file; load one with load CONFIG") }
    let configuration: CacheConfiguration
    do { configuration = try ConfigurationFile.load(current.file) } catch { return failure(error) }
    guard configuration != current.configuration else { return answer("\(current.file) has not changed") }
    return await session.use(configuration, file: current.file, for: name)
  }

  package func news(of result: CommandResult, in session: Interpreter) -> [ScreenRequest] {
    session.replacement(result)
  }
}
