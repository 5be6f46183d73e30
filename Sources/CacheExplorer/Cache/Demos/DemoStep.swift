package import ExplorerCommands
import ExplorerState

/// One moment of a demonstration.
package struct DemoStep: Sendable {
  /// Since the demonstration began, by the cache's clock.
  package var at: Duration
  /// What to look at.
  package var caption: String?
  /// What is done, as on the command line.
  package var line: String?
  /// The line, understood.
  package var verb: (any Verb)?

  /// - Throws: ``CommandError`` if the line is not a command.
  package init(at: Duration, caption: String?, line: String?) throws(CommandError) {
    self.at = at
    self.caption = caption
    self.line = line
    verb = try line.flatMap { (line) throws(CommandError) in try Verbs.parse(line) }
  }
}
