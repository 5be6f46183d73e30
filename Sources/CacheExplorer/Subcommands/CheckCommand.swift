#if Explorer
import ArgumentParser
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

/// `cache-explorer check CONFIG`.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks a configuration and says what is wrong or probably not meant.")

  @Argument(help: .configuration, completion: .configuration) var config: String

  func run() async throws {
    let configuration = try Loaded.file(config)
    for warning in configuration.warnings { StandardStreams.say(warning.description) }
    let levels = configuration.allLevels.filter(\.inner.isEmpty).map(\.name).joined(separator: ", ")
    let found = configuration.warnings.count
    StandardStreams.say(
      "\(config): valid; levels \(levels)" + (found == 0 ? "" : "; \(found) \(found == 1 ? "warning" : "warnings")"))
  }
}
#endif
