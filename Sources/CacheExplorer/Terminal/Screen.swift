package import ExplorerText

/// Something that shows canvases and reports what a person does: the terminal, or a test's recorder.
@MainActor
package protocol Screen: AnyObject {
  /// The size to draw for.
  var size: Size { get }
  /// Keys, resizes and the ways a terminal ends, in order. Ends when the screen is gone.
  var input: InputQueue { get }
  /// Another screen gets the same input.
  var sharesInput: Bool { get }
  /// How many bytes pictures took so far, where that is known.
  var bytesWritten: Int { get }
  /// Shows a canvas; only the difference to the last one travels.
  func show(_ canvas: Canvas)
  /// Puts the terminal back as it was. Calling it twice is harmless.
  func close()
  /// Stops the process as ^Z does; returns when it was continued.
  func suspend()
  /// Redraws everything with the next canvas.
  func invalidate()
  /// Takes the mouse from the terminal, or gives it back.
  func useMouse(_ isOn: Bool)
  func use(_ theme: Theme)
  /// Puts text into the terminal's clipboard, if it lets programs do that.
  func copy(_ text: String)
}

extension Screen {
  package var sharesInput: Bool { false }
  package var bytesWritten: Int { 0 }
}
