/// The command line: what is typed, what was typed, and what became of it.
struct CommandLineState: Sendable {
  /// The line that is shown below the command line.
  struct Answer: Sendable, Equatable {
    var isGood: Bool
    /// Untrusted.
    var text: String
  }

  /// A line that was not understood; it stays editable.
  struct Fault: Sendable, Equatable {
    var text: String
    /// Where the fault begins, in characters from 0, if known.
    var column: Int?
  }

  static let historyCapacity = 500

  var editor = LineEditor()
  private(set) var history: [String] = []
  /// Which line of the history is shown, counted from the newest; `nil` for the line being typed.
  var recalled: Int?
  /// What was typed before a line was recalled.
  var draft = ""
  var answer: Answer?
  var fault: Fault?
  var completion: Completion?
  /// Lines that run and have not been answered, oldest first.
  var running: [String] = []

  /// The words that Tab goes through.
  struct Completion: Sendable, Equatable {
    /// The line up to the word.
    var head: String
    var candidates: [String]
    var index: Int
  }

  mutating func remember(_ line: String) {
    history.removeAll { $0 == line }
    history.append(line)
    if history.count > Self.historyCapacity { history.removeFirst() }
    recalled = nil
  }

  mutating func recall(older: Bool) {
    let next = older ? (recalled ?? -1) + 1 : (recalled ?? 0) - 1
    guard next < history.count, recalled != nil || older else { return }
    if recalled == nil { draft = editor.text }
    recalled = next < 0 ? nil : next
    editor.replace(with: next < 0 ? draft : history[history.count - 1 - next])
  }
}
