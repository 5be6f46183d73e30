package import ExplorerState
package import ExplorerText

/// What the runtime is asked to do.
package enum Effect: Sendable, Equatable {
  /// Parse and carry out a line; answered with `.finished` or `.rejected`.
  case run(String)
  /// Carry out a command that a key stands for; answered with `.finished`.
  case perform(KeyCommand)
  /// Look which files' names begin so; answered with `.files`.
  case listFiles(beginning: String)
  /// Stop the command that runs.
  case interrupt
  /// Ask the levels how full they are; answered with `.usage`, and `.shared` where there are such levels.
  case refreshUsage
  /// Ask the levels what they hold; answered with a `.snapshot` for each.
  case refreshEntries
  /// Ask what other capacities and policies would have brought; answered with `.whatIf`.
  case refreshWhatIf
  /// Read the value of a key, past the counters; answered with `.value`.
  case readValue(key: String, level: String?)
  /// Ask what is stored for an address; answered with `.variants`.
  case readVariants(key: String)
  /// Show another one of several apps; answered with `.attachedAgain`.
  case chooseApp(Int)
  /// Read the configuration again; answered with `.planned`.
  case reload
  /// Put the configuration in force that was read last; answered with `.replaced`.
  case applyReload
  /// Look in levels that are not listed for keys that contain a text; answered with `.found`.
  case find(String)
  /// Put text into the clipboard.
  case copy(String)
  /// Read the value of a key and put it into the clipboard; answered with `.finished`.
  case copyValue(key: String, level: String?)
  /// Take the mouse from the terminal, or give it back.
  case mouse(Bool)
  case theme(Theme)
  /// Remember where the panels stand.
  case keepArrangement(PanelArrangement)
  /// Redraw everything.
  case redraw
  case suspend
  case quit
}
