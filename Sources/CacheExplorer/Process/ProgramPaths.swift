/// Where the program keeps what outlives it, as the XDG base directory specification says.
struct ProgramPaths: Equatable, Sendable {
  /// The commands of earlier sessions.
  let history: String?
  /// Is there once somebody was told where to begin.
  let greeted: String?
  /// Which panels are hidden, and where the others stand.
  let panels: String?
  /// Where a demo's disk level writes for as long as it runs.
  let temporary: String
  /// What is left of a crash.
  let crashes: String

  init(environment: [String: String]) {
    func absolute(_ name: String) -> String? {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let state = absolute("XDG_STATE_HOME") ?? absolute("HOME").map { $0 + "/.local/state" }
    history = state.map { $0 + "/cache-explorer/history" }
    greeted = state.map { $0 + "/cache-explorer/greeted" }
    panels = state.map { $0 + "/cache-explorer/panels.json" }
    temporary = absolute("TMPDIR") ?? "/tmp"
    crashes = state.map { $0 + "/cache-explorer/crashes" } ?? temporary
  }

  /// What `--paths` prints.
  var text: String {
    let none = "none: neither XDG_STATE_HOME nor HOME is an absolute path"
    return "history    \(history ?? none)\npanels     \(panels ?? none)\ntemporary  \(temporary)\ncrashes    \(crashes)"
  }
}
