package import ExplorerState

/// Which key does what, and where.
///
/// The dispatcher, the help and the key bar are made of this one table.
package enum KeyTable {
  package enum Scope: String, Sendable, CaseIterable {
    case move = "Move"
    case look = "Look"
    case change = "Change the cache"
    case program = "Program"
    /// While a command or a filter is typed.
    case typing = "While typing"
    /// While a question waits.
    case confirming = "While a question waits"
    /// While a recording is on the screen, in place of the live cache.
    case replaying = "While a recording is replayed"

    /// The scopes whose keys are in force together.
    var realm: Realm {
      switch self {
      case .move, .look, .change, .program: .normal
      case .typing: .typing
      case .confirming: .confirming
      case .replaying: .replaying
      }
    }
  }

  package enum Realm: Sendable { case normal, typing, confirming, replaying }

  package struct Binding: Sendable {
    package var keys: [InputEvent.Key]
    /// The keys as the help names them.
    package var name: String
    package var action: Action
    /// A sentence without a full stop.
    package var does: String
    package var scope: Scope
    /// The word in the key bar; `nil` keeps it out.
    package var label: String?
    /// The key as the key bar names it, if not the first of `name`.
    package var barName: String?
  }

  /// The whole table, with the keys of the screens and those of their panels.
  static func bindings(pages: [Binding], panels: [Binding]) -> [Binding] {
    opening + pages + moving + panels + changing + inLines
  }

  private static let opening = [
    bind([.character("?"), .function(1)], "? F1", .help, "this help", .program, label: "Help", bar: "?"),
    bind([.character(":")], ":", .command, "type a command", .program, label: "Command"),
    bind(
      [.character("/")], "/", .filter,
      "filter the keys (!text inverts); in the log and in this help: search",
      .look, label: "Filter"),
    bind(
      [.enter], "Enter", .inspect, "look closely: at the request, the second, or what a line leads to", .look,
      label: "Inspect", bar: "↵"),
    bind(
      [.escape, .backspace], "Esc Backspace", .back,
      "back: close, leave zoom, clear the filter, dismiss the warning", .look),
  ]

  private static let moving = [
    bind([.character("v")], "v", .showValue, "show the value of the chosen key", .look),
    bind([.character("P")], "P", .mask, "hide values and the names of keys, or show them again", .look),
    bind([.character("y")], "y", .copyKey, "copy the chosen key into the clipboard (with --clipboard)", .look),
    bind([.character("Y")], "Y", .copyValue, "copy the value of the chosen key (with --clipboard)", .look),
    bind([.character("X")], "X", .exportView, "export this view: as text, or its rows as JSON or CSV", .look),
    bind([.character("0")], "0", .resetFigures, "reset the figures: rates, shares and latencies", .look),
    bind([.character("i")], "i", .explain, "explain the figures of the focused panel", .look),
    bind([.character("R")], "R", .recent, "figures of the last 5 seconds, or since the start again", .look),
    bind([.tab], "Tab", .nextPanel, "focus the next panel", .move, label: "Focus", bar: "Tab"),
    bind([.backTab], "S-Tab", .previousPanel, "focus the previous panel", .move),
    bind(
      [.right, .character("l")], "→ l", .columnRight, "focus the next panel; in a level's history: a second on", .move),
    bind(
      [.left, .character("h")], "← h", .columnLeft, "focus the previous panel; in a level's history: a second back",
      .move),
    bind([.up, .character("k")], "↑ k", .up, "one row up", .move),
    bind([.down, .character("j")], "↓ j", .down, "one row down", .move),
    bind([.pageUp], "PgUp", .pageUp, "one page up", .move),
    bind([.pageDown], "PgDn", .pageDown, "one page down", .move),
    bind([.character("g"), .home], "g Home", .first, "first row", .move),
    bind([.character("G"), .end], "G End", .last, "last row; the log follows again", .move),
  ]

  private static let changing = [
    bind(
      [.character(" ")], "Space", .freeze, "freeze the picture; what happens meanwhile is kept", .look,
      label: "Pause"),
    bind([.character(",")], ",", .stepBack, "freeze, and one event back: into what happened before, too", .look),
    bind([.character(".")], ".", .stepForward, "frozen: one event on", .look),
    bind([.character("<")], "<", .slower, "let the cache's time pass half as fast", .look),
    bind([.character(">")], ">", .faster, "let the cache's time pass twice as fast", .look),
    bind([.character("L")], "L", .live, "back to what happens now", .look),
    bind([.character("d")], "d", .delete, "delete the chosen key from every level", .change, label: "Delete"),
    bind([.character("x")], "x", .expire, "expire the chosen key", .change, label: "Expire"),
    bind([.character("c")], "c", .clear, "clear every level", .change, label: "Clear"),
    bind([.character("w")], "w", .warn, "send a memory warning", .change, label: "Warning"),
    bind([.character("u")], "u", .undo, "undo the last set, del or expire, if it can be undone exactly", .change),
    bind(
      [.character("z"), .character("+"), .character("_")], "z + _", .zoom, "give the focused panel the whole screen",
      .look, label: "Zoom", bar: "z"),
    bind([.character("H")], "H", .hidePanel, "hide the focused panel of the overview; it stays so", .look),
    bind([.character("M")], "M", .movePanel, "have the focused panel change places with the next one", .look),
    bind([.character("=")], "=", .usualPanels, "all panels back to their places", .look),
    bind(
      [.character("%")], "%", .mouse,
      "take the mouse (click, double click, wheel), or give it back", .program),
    bind([.character("t")], "t", .theme, "the next theme of colours", .program),
    bind([.control("p")], "^P", .palette, "find any of this by its name, and do it", .program),
    bind([.control("l")], "^L", .redraw, "redraw the screen", .program),
    bind([.control("z")], "^Z", .suspend, "suspend the program", .program),
    bind([.control("c")], "^C", .interrupt, "stop the running command; quit if none runs", .program),
    bind([.function(2)], "F2", .firstCache, "of two caches beside each other: keys go to the first", .program),
    bind([.function(3)], "F3", .secondCache, "of two caches beside each other: keys go to the second", .program),
    bind([.function(4)], "F4", .bothCaches, "of two caches beside each other: keys go to both again", .program),
    bind(
      [.character("q")], "q", .quit, "quit; asks first while a workload runs or the session is recorded", .program,
      label: "Quit"),
  ]

  private static let inLines = [
    bind([.enter], "Enter", .accept, "run the command, or keep the filter", .typing),
    bind([.escape, .control("c"), .control("g")], "Esc ^C ^G", .cancel, "leave the line", .typing),
    bind([.tab], "Tab", .complete, "complete a verb, a key, a level or a file; again for the next", .typing),
    bind([.left, .control("b")], "← ^B", .cursorLeft, "one character left", .typing),
    bind(
      [.right, .control("f")], "→ ^F", .cursorRight, "one character right; at the end: take what is suggested", .typing),
    bind([.home, .control("a")], "Home ^A", .lineStart, "to the start of the line", .typing),
    bind([.end, .control("e")], "End ^E", .lineEnd, "to the end of the line", .typing),
    bind([.backspace, .control("h")], "Backspace ^H", .deleteBack, "delete the character before the cursor", .typing),
    bind([.delete, .control("d")], "Delete ^D", .deleteForwards, "delete the character under the cursor", .typing),
    bind([.control("w")], "^W", .deleteWord, "delete the word before the cursor", .typing),
    bind([.control("u")], "^U", .deleteToStart, "delete to the start of the line", .typing),
    bind([.up, .control("p")], "↑ ^P", .older, "an older command that begins like this one", .typing),
    bind([.down, .control("n")], "↓ ^N", .newer, "a newer command that begins like this one", .typing),
    bind([.control("r")], "^R", .searchHistory, "search older commands; again for the next", .typing),
    bind([.control("l")], "^L", .redraw, "redraw the screen", .typing),
    bind([.control("z")], "^Z", .suspend, "suspend the program", .typing),

    bind([.character("y"), .character("Y")], "y", .confirm, "yes, do it; every other key means no", .confirming),
    bind([.control("l")], "^L", .redraw, "redraw the screen", .confirming),
    bind([.control("z")], "^Z", .suspend, "suspend the program", .confirming),

    bind(
      [.character(" ")], "Space", .freeze, "stop, or go on; at the end: from the start", .replaying, label: "Pause"),
    bind([.character(",")], ",", .stepBack, "stop, and one picture back", .replaying, label: "."),
    bind([.character(".")], ".", .stepForward, "stop, and one picture on", .replaying, label: "Step", bar: ""),
    bind([.character("<")], "<", .playSlower, "half as fast", .replaying, label: ">"),
    bind([.character(">")], ">", .playFaster, "twice as fast", .replaying, label: "Speed", bar: ""),
    bind([.left, .character("h")], "← h", .earlier, "five seconds back", .replaying),
    bind([.right, .character("l")], "→ l", .later, "five seconds on", .replaying),
    bind(
      [.character("e")], "e", .nextTrouble, "stop at the next warning or error", .replaying, label: "Warning"),
    bind([.character("E")], "E", .previousTrouble, "stop at the last warning or error before", .replaying),
    bind([.character("g"), .home], "g Home", .first, "to the start", .replaying),
    bind([.character("L"), .character("G"), .end], "L G End", .live, "to the end", .replaying, label: "End", bar: "L"),
    bind(
      [.character(":")], ":", .command, "jump 12.3s, jump next warning, speed 0.25, export FILE.cast", .replaying,
      label: "Jump"),
    bind([.character("?"), .function(1)], "? F1", .help, "help for a replay", .replaying, label: "Help", bar: "?"),
    bind([.control("p")], "^P", .palette, "find any of this by its name, and do it", .replaying),
    bind([.control("l")], "^L", .redraw, "redraw the screen", .replaying),
    bind([.control("z")], "^Z", .suspend, "suspend the program", .replaying),
    bind(
      [.character("q"), .escape, .control("c")], "q Esc ^C", .quit, "leave the replay", .replaying, label: "Quit",
      bar: "q"),
  ]

  static func bind(
    _ keys: [InputEvent.Key], _ name: String, _ action: Action, _ does: String, _ scope: Scope, label: String? = nil,
    bar: String? = nil
  ) -> Binding {
    Binding(keys: keys, name: name, action: action, does: does, scope: scope, label: label, barName: bar)
  }

  private static let normal = table(.normal)
  private static let typing = table(.typing)
  private static let confirming = table(.confirming)
  private static let replaying = table(.replaying)

  private static func table(_ realm: Realm) -> [InputEvent.Key: Action] {
    var result: [InputEvent.Key: Action] = [:]
    for binding in bindings where binding.scope.realm == realm {
      for key in binding.keys { result[key] = binding.action }
    }
    return result
  }

  package static func action(for key: InputEvent.Key, in realm: Realm) -> Action? {
    switch realm {
    case .normal: normal[key]
    case .typing: typing[key]
    case .confirming: confirming[key]
    case .replaying: replaying[key]
    }
  }
}
