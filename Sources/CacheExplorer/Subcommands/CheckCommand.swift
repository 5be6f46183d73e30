#if Explorer
import ArgumentParser
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

/// `cache-explorer check CONFIG…`.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks configurations and says what is wrong or probably not meant.")

  @Argument(help: .configuration, completion: .configuration) var config: [String]

  func run() async throws {
    var areValid = true
    for file in config {
      do { try Self.check(file) } catch {
        StandardStreams.complain(error.description)
        areValid = false
      }
    }
    if !areValid { throw ExitCode(ProgramFailure.Status.configuration.rawValue) }
  }

  private static func check(_ file: String) throws(ProgramFailure) {
    let configuration = try Loaded.file(file)
    for warning in configuration.warnings { StandardStreams.say(warning.description) }
    let levels = configuration.allLevels.filter(\.inner.isEmpty).map(\.name).joined(separator: ", ")
    let found = configuration.warnings.count
    StandardStreams.say(
      "\(file): valid; levels \(levels)" + (found == 0 ? "" : "; \(found) \(found == 1 ? "warning" : "warnings")"))
  }
}
#endif
