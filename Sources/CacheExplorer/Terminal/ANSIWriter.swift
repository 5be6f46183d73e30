package import ExplorerText

/// Makes the bytes with which a terminal shows canvases, one after the other.
///
/// For files that any terminal plays; a terminal of our own is drawn on by `Curses`, by what it says of itself.
package struct ANSIWriter {
  private let palette: Palette
  private var last: Canvas?
  private var look: Appearance?
  /// Where the next glyph goes without being told.
  private var position: Point?

  package init(palette: Palette) { self.palette = palette }

  /// What changes the picture before into this one.
  package mutating func frame(_ canvas: Canvas) -> String {
    var text = ""
    if last?.size != canvas.size {
      text += "\u{1b}[0m\u{1b}[2J"
      (last, look, position) = (Canvas(canvas.size), Appearance(), nil)
    }
    for y in 0..<canvas.size.height {
      var x = 0
      while x < canvas.size.width {
        let cell = canvas[x, y]
        let isWide = x + 1 < canvas.size.width && canvas[x + 1, y].glyph.isEmpty
        if cell != last?[x, y] || (isWide && canvas[x + 1, y] != last?[x + 1, y]) {
          put(cell, x, y, width: isWide ? 2 : 1, into: &text)
        }
        x += isWide ? 2 : 1
      }
    }
    let cursor = canvas.cursor
    if let cursor {
      text += "\u{1b}[\(cursor.y + 1);\(cursor.x + 1)H"
      position = cursor
    }
    if (last?.cursor == nil) != (cursor == nil) || text.hasPrefix("\u{1b}[0m\u{1b}[2J") {
      text += cursor == nil ? "\u{1b}[?25l" : "\u{1b}[?25h"
    }
    last = canvas
    return text
  }

  private mutating func put(_ cell: Cell, _ x: Int, _ y: Int, width: Int, into text: inout String) {
    if position != Point(x: x, y: y) { text += "\u{1b}[\(y + 1);\(x + 1)H" }
    let wanted = palette.appearance(of: cell.style)
    if wanted != look {
      text += Self.sequence(wanted)
      look = wanted
    }
    text += cell.glyph.isEmpty ? " " : cell.glyph.text
    position = Point(x: x + width, y: y)
  }

  private static func sequence(_ look: Appearance) -> String {
    var codes = ["0"]
    if look.isBold { codes.append("1") }
    if look.isDim { codes.append("2") }
    if look.isUnderlined { codes.append("4") }
    if look.isReversed { codes.append("7") }
    if let color = look.foreground { codes += ["38", "5", "\(color)"] }
    return "\u{1b}[\(codes.joined(separator: ";"))m"
  }
}
