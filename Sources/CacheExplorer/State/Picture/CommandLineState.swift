package import ExplorerCommands

/// The command line: what is typed, what was typed, and what became of it.
package struct CommandLineState: Sendable {
  /// The line that is shown below the command line.
  package struct Answer: Sendable, Equatable {
    package var isGood: Bool
    /// Untrusted.
    package var text: String
    /// So many characters of it are the command that it answers.
    package var lineLength = 0
    /// Why the command failed, in the same words.
    package var reason: String?
    /// Keys and values that occur in it.
    package var secrets: [String] = []

    /// It says why a key did nothing, or a line was not understood.
    package var isRefusal: Bool { !isGood && lineLength == 0 }

    package init(
      isGood: Bool, text: String, lineLength: Int = 0, reason: String? = nil, secrets: [String] = []
    ) {
      self.isGood = isGood
      self.text = text
      self.lineLength = lineLength
      self.reason = reason
      self.secrets = secrets
    }
  }

  /// A line that was not understood; it stays editable.
  package struct Fault: Sendable, Equatable {
    package var text: String
    /// Where the fault begins, in characters from 0, if known.
    package var column: Int?

    package init(text: String, column: Int?) {
      self.text = text
      self.column = column
    }
  }

  package static let historyCapacity = 500

  /// What can be typed.
  package var grammar = Grammar()
  package var editor = LineEditor()
  package private(set) var history: [String] = []
  /// Which line of the history is shown, counted from the newest; `nil` for the line being typed.
  package var recalled: Int?
  /// What was typed before a line was recalled.
  var draft = ""
  package var answer: Answer?
  package var fault: Fault?
  package var completion: Completion?
  /// What older lines are searched for, while they are.
  package var search: String?
  /// Lines that run and have not been answered, oldest first.
  package var running: [String] = []

  package init() {}

  /// The words that Tab goes through.
  package struct Completion: Sendable, Equatable {
    /// The line up to the word.
    package var head: String
    package var candidates: [String]
    package var index = 0

    package init(head: String, candidates: [String]) {
      self.head = head
      self.candidates = candidates
    }
  }

  /// Takes up the lines of earlier sessions, oldest first.
  package mutating func remember(all lines: [String]) {
    for line in lines.suffix(Self.historyCapacity) { remember(line) }
  }

  package mutating func remember(_ line: String) {
    history.removeAll { $0 == line }
    history.append(line)
    if history.count > Self.historyCapacity { history.removeFirst() }
    recalled = nil
  }

  /// Goes to the next older or newer line that begins with what was typed.
  package mutating func recall(older: Bool) {
    guard recalled != nil || older else { return }
    if recalled == nil { draft = editor.text }
    let step = older ? 1 : -1
    var next = (recalled ?? -1) + step
    while history.indices.contains(next), !line(next).hasPrefix(draft) || line(next) == editor.text { next += step }
    guard next < history.count else { return }
    recalled = next < 0 ? nil : next
    editor.replace(with: next < 0 ? draft : line(next))
  }

  /// Searches older lines, or goes on to the next one that matches.
  package mutating func searchHistory() {
    guard let query = search else {
      draft = editor.text
      search = ""
      return
    }
    find(query, from: (recalled ?? -1) + 1)
  }

  /// Shows the newest line that contains the text, from a place on.
  package mutating func find(_ query: String, from place: Int) {
    search = query
    // Looking for a long text costs as much in a short line.
    let length = query.count
    guard length > 0, place < history.count,
      let found = (place..<history.count).first(where: { line($0).count >= length && line($0).contains(query) })
    else { return }
    recalled = found
    editor.replace(with: line(found))
  }

  /// Ends the search; the line that was found stays, unless it is given up.
  package mutating func endSearch(isGivenUp: Bool) {
    guard search != nil else { return }
    search = nil
    if isGivenUp { editor.replace(with: draft) }
    recalled = nil
  }

  /// A line of the history, counted from the newest.
  private func line(_ place: Int) -> String { history[history.count - 1 - place] }
}
