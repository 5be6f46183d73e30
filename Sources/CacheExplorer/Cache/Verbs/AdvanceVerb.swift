package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct AdvanceVerb: Verb {
  package static let syntax = VerbSyntax(
    "advance 60s", "move the cache's time forwards: what is due by then expires", [.amount])

  package var duration: Duration

  package init(_ duration: Duration) { self.duration = duration }

  package init(_ words: ParsedWords) throws(CommandError) { duration = try words.quantity(0, Quantity.timeLimit) }

  package var touched: Touched { .clock }

  // Not timed: the clock itself is what moves.
  package func run(in session: Interpreter) async -> CommandResult {
    do {
      try session.live.settableClock.advance(by: duration)
      return answer("it is \(Quantity.text(duration)) later for the cache")
    } catch {
      return failure(error)
    }
  }

  package func news(of result: CommandResult, in session: Interpreter) -> [ScreenRequest] {
    result.note.map { [.announce($0, .notice)] } ?? []
  }
}
