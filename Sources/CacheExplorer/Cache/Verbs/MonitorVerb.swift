package import ExplorerCommands
import ExplorerState
package import ExplorerText

/// Listens to every command of the Redis server that is looked at.
package struct MonitorVerb: Verb {
  package static let syntax = VerbSyntax(
    "monitor [5s]", "listen to every command of an attached Redis server, which slows it down considerably",
    [.amount], required: 0)

  private static let usual = Duration.seconds(5)
  private static let longest = Duration.seconds(60)

  private let duration: Duration

  package init(_ words: ParsedWords) throws(CommandError) {
    duration = words.arguments.isEmpty ? Self.usual : try words.quantity(0, Self.limit)
  }

  /// From a moment to a minute.
  package static func limit(_ text: String) throws(QuantityError) -> Duration {
    let duration = try Quantity.timeLimit(text)
    guard duration <= longest else {
      throw QuantityError("\(text) is too long to burden a server with", "write at most \(Quantity.text(longest))")
    }
    return duration
  }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    return await session.timed(name) { result in
      guard let monitor = live.monitor else {
        throw CommandFailure(message: "there is no server to listen to; begin with cache-explorer attach redis://HOST")
      }
      result.note = try await monitor(duration)
    }
  }
}
