import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal
@testable import ExplorerText

@Suite("Kinds of terminals")
struct TerminalNameTests {
  @Test(
    "a missing description is looked for under its stem, then under the usual names",
    arguments: [
      ("xterm-256color", ["xterm-256color", "xterm", "vt100"]),
      ("xterm-kitty", ["xterm-kitty", "xterm-256color", "xterm", "vt100"]),
      ("tmux-256color-x", ["tmux-256color-x", "tmux-256color", "tmux", "xterm-256color", "xterm", "vt100"]),
      ("vt100", ["vt100", "xterm-256color", "xterm"]),
      ("-", ["-", "xterm-256color", "xterm", "vt100"]),
    ])
  func candidates(term: String, expected: [String]) {
    #expect(TerminalName.candidates(for: term) == expected)
  }

  @Test("no terminal is no terminal", arguments: [nil, "", "dumb", "unknown"])
  func unsuitable(term: String?) {
    #expect(TerminalName.isUnsuitable(term))
  }

  @Test("an error names what to do", arguments: [nil, "dumb"])
  func remedy(term: String?) {
    #expect("\(TerminalError.unsuitable(term: term))".contains("TERM=xterm-256color"))
  }

  @Test(
    "a picture without a terminal has the environment's size, unless that is none",
    arguments: [("100", 100), ("0", 120), ("-1", 120), ("x", 120), (nil, 120), ("99999999", 1_000)] as [(String?, Int)])
  func pictureSizes(columns: String?, width: Int) {
    #expect(ScreenOptions.size(columns.map { ["COLUMNS": $0] } ?? [:]) == Size(width: width, height: 40))
  }

  @Test("a device without a size takes the environment's or 80 by 24, and a mad one is cut")
  func sizes() {
    #expect(TerminalModes.size(columns: 0, rows: 0, environment: [:]) == Size(width: 80, height: 24))
    #expect(
      TerminalModes.size(columns: 0, rows: 0, environment: ["COLUMNS": "100", "LINES": "x"])
        == Size(width: 100, height: 24))
    #expect(TerminalModes.size(columns: 65535, rows: 65535, environment: [:]) == TerminalModes.maximum)
    #expect(TerminalModes.size(columns: 1, rows: 1, environment: ["LINES": "9"]) == Size(width: 1, height: 1))
  }
}
