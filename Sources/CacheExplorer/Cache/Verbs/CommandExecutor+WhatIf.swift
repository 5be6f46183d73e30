import CacheEngine
import CacheEngineHitRatio
import ExplorerModel
import ExplorerText

/// What other capacities and other policies would have brought.
extension CommandExecutor {
  func whatIf(_ name: String?, isReset: Bool) async -> CommandResult {
    await timed("whatif") { result in
      var reports = live.whatIf.reports
      if let name {
        reports = reports.filter { $0.level.name == name }
        guard !reports.isEmpty else { throw CommandFailure(message: Self.nothing(at: name, in: live)) }
      }
      if isReset { live.whatIf.restart() }
      result.details = .array(reports.map(WhatIfText.json))
      var lines = reports.flatMap(WhatIfText.lines)
      if !lines.isEmpty, let warning = WhatIfText.unseen(live.unseen()) { lines.append(warning) }
      result.note =
        (lines.isEmpty ? ["no level of this cache has a capacity that could be another"] : lines).joined(
          separator: "\n")
        + (isReset ? "\neverything is counted anew from here" : "")
    }
  }

  private static func nothing(at name: String, in live: LiveCache) -> String {
    let known = live.whatIf.levels.map(\.name)
    let levels = known.isEmpty ? "this cache has none with one" : "those with one are \(known.joined(separator: ", "))"
    return live.level(named: name) == nil
      ? "there is no level “\(name)”; \(levels)" : "\(name) has no capacity that could be another; \(levels)"
  }
}
