package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct SpeedVerb: Verb {
  package static let syntax = VerbSyntax(
    "speed X", "let the cache's time pass X times as fast, as in speed 0.25", [.amount])

  /// How much of the cache's time passes in a second.
  package var speed: Double

  package init(_ speed: Double) { self.speed = speed }

  package init(_ words: ParsedWords) throws(CommandError) { speed = try words.quantity(0, Quantity.speed) }

  package var touched: Touched { .clock }

  package func run(in session: Interpreter) async -> CommandResult {
    await session.timed(name) { result in
      try session.live.settableClock.speed = speed
      result.note = speed == 1 ? "time passes as usual" : "time passes \(Format.number(speed)) times as fast"
    }
  }

  package func news(of result: CommandResult, in session: Interpreter) -> [ScreenRequest] {
    [.show(.speed(speed))] + (result.note.map { [.announce($0, .notice)] } ?? [])
  }
}
