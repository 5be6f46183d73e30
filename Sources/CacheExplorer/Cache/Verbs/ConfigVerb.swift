package import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

package struct ConfigVerb: Verb {
  package static let syntax = VerbSyntax("config", "show the settings in force, and where each comes from")

  package init(_ words: ParsedWords) {}

  package var request: ScreenRequest? { .show(.showConfig) }

  package func run(in session: Interpreter) async -> CommandResult {
    let current = session.current
    guard let configuration = current.configuration else { return answer("this cache has no configuration") }
    let lines = configuration.settings.map { setting in
      let place = setting.place.map { " (\(current.file):\($0.line))" } ?? (setting.field == nil ? "" : " (default)")
      return "\(String(repeating: " ", count: setting.indentation))\(setting.title): \(setting.value)\(place)"
    }
    return answer(lines.joined(separator: "\n"))
  }
}
