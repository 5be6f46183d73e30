import CacheEngine
import CacheEngineHitRatio
package import ExplorerCommands
import ExplorerState
import ExplorerText

/// What other capacities and other policies would have brought.
package struct WhatIfVerb: Verb {
  package static let syntax = VerbSyntax(
    "whatif [L] [--reset]", "show what other capacities and policies would hit; --reset starts counting again",
    [.level],
    required: 0, [VerbSyntax.Option("--reset")])

  package enum Aftermath: Equatable, Sendable {
    case goOn
    /// Everything is counted from zero again.
    case reset
  }

  /// `nil` for all levels.
  package var level: String?
  package var aftermath: Aftermath

  package init(level: String?, then aftermath: Aftermath = .goOn) {
    self.level = level
    self.aftermath = aftermath
  }

  package init(_ words: ParsedWords) {
    self.init(level: words.arguments.first?.text, then: words.text("--reset") == nil ? .goOn : .reset)
  }

  package var request: ScreenRequest? { .show(.showWhatIf) }
  package var isShownOnScreen: Bool { true }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    return await session.timed(name) { result in
      var reports = live.whatIf.reports
      if let level {
        reports = reports.filter { $0.level.name == level }
        guard !reports.isEmpty else { throw CommandFailure(message: Self.nothing(at: level, in: live)) }
      }
      if aftermath == .reset { live.whatIf.restart() }
      result.details = .array(reports.map(WhatIfText.json))
      var lines = reports.flatMap(WhatIfText.lines)
      if !lines.isEmpty, let warning = WhatIfText.unseen(live.unseen()) { lines.append(warning) }
      if lines.isEmpty { lines = ["no level of this cache has a capacity that could be another"] }
      if aftermath == .reset { lines.append("counting starts again from here") }
      result.note = lines.joined(separator: "\n")
    }
  }

  private static func nothing(at name: String, in live: LiveCache) -> String {
    let known = live.whatIf.levels.map(\.name)
    let levels = known.isEmpty ? "this cache has none with one" : "those with one are \(known.joined(separator: ", "))"
    return live.level(named: name) == nil
      ? "there is no level “\(name)”; \(levels)" : "\(name) has no capacity that could be another; \(levels)"
  }
}
