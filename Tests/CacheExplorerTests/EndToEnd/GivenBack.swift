import PseudoTerminal
import Testing

/// Expects the terminal to be as the shell left it: its own screen, a cursor, edited lines.
func expectGivenBack(_ terminal: PseudoTerminal, _ location: SourceLocation = #_sourceLocation) {
  let screen = terminal.sight.screen
  #expect(terminal.modes == terminal.modesBefore, sourceLocation: location)
  #expect(!screen.isAlternate, sourceLocation: location)
  #expect(screen.isCursorVisible, sourceLocation: location)
  #expect(!screen.isPasteBracketed, sourceLocation: location)
  #expect(!screen.isSynchronizing, sourceLocation: location)
  #expect(screen.mouseModes.isEmpty, sourceLocation: location)
  #expect(terminal.sight.unknown == [], sourceLocation: location)
}
