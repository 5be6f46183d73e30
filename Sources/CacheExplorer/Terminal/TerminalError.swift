/// Why there is no terminal to draw on.
///
/// The program ends with status 4.
package enum TerminalError: Error, Equatable, CustomStringConvertible {
  /// Input or output is a file or a pipe.
  case notATerminal(stream: String)
  /// `TERM` is unset, empty or names a terminal that cannot place its cursor.
  case unsuitable(term: String?)
  /// There is no description of this terminal, nor of any of the usual ones.
  case unknown(term: String, tried: [String])
  /// The system refused.
  case failed(operation: String, reason: String)

  package var description: String {
    let remedy = "Without a screen, use cache-explorer run."
    return switch self {
    case .notATerminal(let stream):
      "Standard \(stream) is not a terminal. Start cache-explorer in a terminal without redirecting its "
        + "\(stream). \(remedy)"
    case .unsuitable(nil), .unsuitable(""):
      "The environment variable TERM is not set, so the kind of terminal is not known. "
        + "Set it, for example TERM=xterm-256color. \(remedy)"
    case .unsuitable(let term?):
      "A terminal of the kind TERM=\(term) cannot place its cursor. "
        + "Set TERM to what your terminal is, for example TERM=xterm-256color. \(remedy)"
    case .unknown(let term, let tried):
      "No description of the terminal TERM=\(term) was found, nor of \(tried.joined(separator: ", ")). "
        + "Install the package ncurses-base (or ncurses-term), or set TERMINFO to where descriptions are. \(remedy)"
    case .failed(let operation, let reason):
      "The terminal could not be prepared: \(operation): \(reason). \(remedy)"
    }
  }
}

/// What is tried when a terminal's own description is missing.
enum TerminalName {
  /// The names to try after each other, from the most to the least fitting.
  ///
  /// Fresh machines and containers know few terminals: `xterm-kitty`, say, is tried as `xterm-256color`, since it speaks
  /// that too.
  static func candidates(for term: String) -> [String] {
    var names = [term]
    var stem = term[...]
    while let dash = stem.lastIndex(of: "-") {
      stem = stem[..<dash]
      // The plain xterm has eight colours; its better sibling comes first, below.
      if stem != "xterm", !stem.isEmpty { names.append(String(stem)) }
    }
    for usual in ["xterm-256color", "xterm", "vt100"] where !names.contains(usual) { names.append(usual) }
    return names
  }

  /// Whether a screen is out of the question for this value of `TERM`.
  static func isUnsuitable(_ term: String?) -> Bool {
    guard let term else { return true }
    return term.isEmpty || term == "dumb" || term == "unknown"
  }
}
