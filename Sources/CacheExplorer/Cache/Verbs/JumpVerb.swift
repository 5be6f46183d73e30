package import ExplorerCommands
import ExplorerState
import ExplorerText

package struct JumpVerb: Verb {
  package static let syntax = VerbSyntax(
    "jump 12.3s|+5s|-5s|next warning|previous warning", "in a replay: go to another moment",
    [.choice(["next", "previous"]), .text], required: 1)

  package enum Target: Equatable, Sendable {
    /// Since the recording began.
    case time(Duration)
    case relative(Duration)
    case nextWarning
    case previousWarning
  }

  package var target: Target

  package init(_ words: ParsedWords) throws(CommandError) {
    let first = words.arguments[0]
    if ["next", "previous"].contains(first.text) {
      guard words.arguments.count > 1 else {
        throw words.missing("jump needs more", "write jump \(first.text) warning")
      }
      _ = try words.choice(words.arguments[1], among: ["warning"], "thing to jump to")
      target = first.text == "next" ? .nextWarning : .previousWarning
      return
    }
    if words.arguments.count > 1 { throw words.tooMany(1, "write jump 12.3s, or jump next warning") }
    let sign = first.text.first
    guard sign == "+" || sign == "-" else {
      target = .time(try words.quantity(0, Quantity.duration))
      return
    }
    let distance = try words.quantity(0) { (text) throws(QuantityError) in
      try Quantity.duration(String(text.dropFirst()))
    }
    target = .relative(sign == "-" ? .zero - distance : distance)
  }

  package func run(in session: Interpreter) async -> CommandResult {
    failure("nothing is replayed here; open a recording with replay FILE")
  }
}
