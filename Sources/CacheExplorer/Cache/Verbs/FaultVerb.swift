import CacheEngineTesting
package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct FaultVerb: Verb {
  private static let kinds = ["error", "latency", "slow", "down", "deaf", "off"]

  /// As a source is whose machine has too much to do.
  private static let slow = Duration.milliseconds(300)...Duration.milliseconds(600)

  package static let syntax = VerbSyntax(
    "fault L error 5%|latency 200ms|slow|down|deaf|off [--seed S]",
    "let a level fail, be slow, be down or hear nothing from others, or recover",
    [.level, .choice(kinds), .amount], required: 2,
    [VerbSyntax.Option("--seed", "S")], details: "\n  slow: latency 300ms..600ms")

  package enum Change: Equatable, Sendable {
    /// A probability from 0 to 1.
    case errors(Double)
    case latency(ClosedRange<Duration>)
    case down
    /// What others change in a shared level is not heard.
    case deaf
    /// Everything is well again.
    case off
  }

  package var level: String
  package var change: Change
  package var seed: UInt64?

  package init(level: String, _ change: Change, seed: UInt64?) {
    self.level = level
    self.change = change
    self.seed = seed
  }

  package init(_ words: ParsedWords) throws(CommandError) {
    level = words.arguments[0].text
    let kind = try words.choice(words.arguments[1], among: Self.kinds, "fault")
    switch kind {
    case "error": change = .errors(try words.quantity(2, Quantity.probability, example: "error 5%"))
    case "latency":
      change = .latency(
        try words.quantity(
          2, { (text) throws(QuantityError) in try Quantity.range(text, of: Quantity.duration) },
          example: "latency 200ms"))
    default:
      if words.arguments.count > 2 { throw words.tooMany(2, "write fault \(level) \(kind)") }
      change = kind == "slow" ? .latency(Self.slow) : kind == "down" ? .down : kind == "deaf" ? .deaf : .off
    }
    seed = try words.seed()
  }

  package var touched: Touched { .faults }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    return await session.timed(name) { result in
      let level = try live.existing(level)
      let faults = level.faults
      if change == .deaf, level.shared == nil {
        throw CommandFailure(message: "\(level.name) hears nothing from others anyway; name a redis level")
      }
      if let seed { faults.reseed(seed) }
      var fault = faults.fault
      switch change {
      case .errors(let share): fault.errors = share
      case .latency(let latency): fault.latency = latency == .zero ... .zero ? nil : latency
      case .down: fault.isDown = true
      case .deaf: break
      case .off: fault = .none
      }
      faults.fault = fault
      switch change {
      case .down, .deaf: level.shared?.turn(true)
      case .off: level.shared?.turn(false)
      case .errors, .latency: break
      }
      result.note = "\(level.name): \(level.fault ?? "no fault")"
    }
  }

  package func news(of result: CommandResult, in session: Interpreter) -> [ScreenRequest] {
    [.show(.faults(session.live.faults))] + (result.note.map { [.announce("fault \($0)", .warning)] } ?? [])
  }
}
