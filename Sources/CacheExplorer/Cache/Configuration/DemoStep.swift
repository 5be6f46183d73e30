/// One moment of a demonstration.
struct DemoStep: Equatable, Sendable {
  /// Since the demonstration began, by the cache's clock.
  var at: Duration
  /// What to look at.
  var caption: String?
  /// What is done, as on the command line.
  var line: String?
  /// The line, understood.
  var command: Command?

  /// - Throws: ``CommandError`` if the line is not a command.
  init(at: Duration, caption: String?, line: String?) throws(CommandError) {
    self.at = at
    self.caption = caption
    self.line = line
    command = try line.flatMap { (line) throws(CommandError) in try Command.parse(line) }
  }
}
