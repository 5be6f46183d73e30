/// Something that shows canvases and reports what a person does: the terminal, or a test's recorder.
@MainActor
protocol Screen: AnyObject {
  /// The size to draw for.
  var size: Size { get }
  /// Keys, resizes and the ways a terminal ends, in order. Ends when the screen is gone.
  var input: AsyncStream<InputEvent> { get }
  /// Shows a canvas; only the difference to the last one travels.
  func show(_ canvas: Canvas)
  /// Puts the terminal back as it was. Calling it twice is harmless.
  func close()
  /// Stops the process as ^Z does; returns when it was continued.
  func suspend()
  /// Draws everything anew with the next canvas.
  func invalidate()
  /// Takes the mouse from the terminal, or gives it back.
  func useMouse(_ isOn: Bool)
  func use(_ theme: Theme)
  /// Puts text into the terminal's clipboard, if it lets programs do that.
  func copy(_ text: String)
}

/// What comes from the person or from the terminal.
enum InputEvent: Equatable, Sendable, Codable {
  case key(Key)
  /// Text pasted in one go (bracketed paste), untrusted.
  case paste(String)
  case resized(Size)
  /// A button of the mouse was pressed, or its wheel turned; only while the mouse is ours.
  case mouse(Mouse)
  /// The window got the focus or lost it; only told while the mouse is ours.
  case focus(Bool)
  /// SIGINT, SIGTERM, SIGHUP or a closed terminal: leave now. `signal` gives the exit status 128 + signal.
  case terminate(signal: Int32)
  /// SIGTSTP from outside: stop as ^Z does.
  case suspend
  /// The process was continued: sizes may have changed and the screen must be drawn anew.
  case resumed

  struct Mouse: Equatable, Sendable, Codable {
    enum Kind: String, Sendable, Codable { case press, wheelUp, wheelDown }

    var kind: Kind
    /// The cell, from the upper left corner.
    var at: Point
    /// How many presses there were on this cell in quick succession: two make a double click.
    var clicks = 1
  }

  enum Key: Hashable, Sendable {
    case character(Character)
    case control(Character)  // ^A is .control("a")
    case enter, escape, tab, backTab, backspace, delete
    case up, down, left, right, home, end, pageUp, pageDown
    case function(Int)
  }
}
