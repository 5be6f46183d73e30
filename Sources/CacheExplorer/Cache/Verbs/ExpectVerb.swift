package import ExplorerCommands
import ExplorerState

package struct ExpectVerb: Verb {
  package static let syntax = VerbSyntax(
    "expect \"FIGURE >= VALUE\"",
    "compare a figure: memory.hit >= 80%, origin.requests <= 120, p99 < 5ms; fails a script", [.expectation],
    takesRest: true,
    details:
      "\n  LEVEL.FIGURE, OPERATOR.FIGURE or FIGURE for the whole cache; then >= <= > < == or !=; then a value"
      + ExpectedFigure.all.map { "\n  \($0.name): \($0.line)" }.joined()
      + "\n  “lately” behind the value compares what was counted in the last 5 seconds")

  package var expectation: Expectation

  package init(_ expectation: Expectation) { self.expectation = expectation }

  package init(_ words: ParsedWords) throws(CommandError) {
    expectation = try Expectation(words.arguments[0].text, column: words.arguments[0].column)
  }

  /// Quoted, or the rest of the line as it stands.
  package static func parse(_ words: [CommandWord], in line: String) throws(CommandError) -> ExpectVerb {
    guard let first = words.first else { return try ExpectVerb(ParsedWords(words, of: syntax, end: line.count)) }
    guard first.isQuoted else {
      let last = words.last ?? first
      return ExpectVerb(
        try Expectation(
          String(Array(line)[first.column..<min(line.count, last.column + last.text.count)]), column: first.column))
    }
    if words.count > 1 {
      throw CommandError(
        column: words[1].column, message: "“\(words[1].text)” is one word too many",
        remedy: "write one comparison; another one is another expect")
    }
    return ExpectVerb(try Expectation(first.text, column: first.column + 1))
  }

  package func run(in session: Interpreter) async -> CommandResult {
    let report: ExpectationReport
    do { report = try session.live.measure(expectation) } catch { return failure(error) }
    var result = answer(report.holds ? "\(report.actualText) (\(report.source))" : nil)
    result.expectation = report
    if !report.holds {
      result.outcome = .error
      result.error = report.difference
    }
    return result
  }
}
