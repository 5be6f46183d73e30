/// What a terminal shows: cells, cursor and the modes that matter to a test.
package struct EmulatedScreen: Equatable, Sendable {
  /// How a cell is drawn.
  package struct Look: Equatable, Sendable {
    /// Colours by number, `nil` for the terminal's own.
    package var foreground: Int?
    package var background: Int?
    package var isBold = false
    package var isDim = false
    package var isUnderlined = false
    package var isReversed = false
  }

  /// One cell; the right half of a wide character has no text.
  package struct Cell: Equatable, Sendable {
    package var text = " "
    package var look = Look()
  }

  package internal(set) var width: Int
  package internal(set) var height: Int
  package internal(set) var cells: [Cell]
  package internal(set) var cursor: (x: Int, y: Int) = (0, 0)
  package internal(set) var isCursorVisible = true
  package internal(set) var isAlternate = false
  package internal(set) var isPasteBracketed = false
  /// The modes by which a program is told of the mouse and the focus.
  package internal(set) var mouseModes: Set<Int> = []
  /// Between the beginning and the end of a synchronized frame: the screen is half drawn.
  package internal(set) var isSynchronizing = false

  /// An empty screen.
  package init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    cells = Array(repeating: Cell(), count: width * height)
  }

  /// The rows as text without the spaces at their ends.
  package var rows: [String] {
    (0..<height).map { y in
      var row = cells[(y * width)..<((y + 1) * width)].map(\.text).joined()
      while row.last == " " { row.removeLast() }
      return row
    }
  }

  /// Everything shown as one text, rows parted by line ends.
  package var text: String { rows.joined(separator: "\n") }

  /// Whether a text stands somewhere within one row.
  package func contains(_ text: String) -> Bool { rows.contains { $0.contains(text) } }

  /// The first place of a text, with the column in cells.
  package func position(of text: String) -> (x: Int, y: Int)? {
    for y in 0..<height {
      for x in 0..<width where cells[(y * width + x)..<((y + 1) * width)].map(\.text).joined().hasPrefix(text) {
        if !cells[y * width + x].text.isEmpty { return (x, y) }
      }
    }
    return nil
  }

  /// The cell at a place.
  package subscript(x: Int, y: Int) -> Cell { cells[y * width + x] }

  /// Compares all of it.
  package static func == (a: Self, b: Self) -> Bool {
    a.width == b.width && a.height == b.height && a.cursor == b.cursor && a.isCursorVisible == b.isCursorVisible
      && a.isAlternate == b.isAlternate && a.isPasteBracketed == b.isPasteBracketed
      && a.isSynchronizing == b.isSynchronizing && a.cells == b.cells
  }

  // What the emulator does to it.

  mutating func put(_ text: String, width cellWidth: Int, _ look: Look, x: Int, y: Int) {
    parting(x, y)
    if cellWidth == 2 { parting(x + 1, y) }
    cells[y * width + x] = Cell(text: text, look: look)
    if cellWidth == 2, x + 1 < width { cells[y * width + x + 1] = Cell(text: "", look: look) }
  }

  /// A wide character of which one half is written over loses the other.
  private mutating func parting(_ x: Int, _ y: Int) {
    guard x < width else { return }
    let index = y * width + x
    if cells[index].text.isEmpty, x > 0 { cells[index - 1].text = " " }
    if x + 1 < width, cells[index + 1].text.isEmpty { cells[index + 1].text = " " }
  }

  mutating func erase(row y: Int, _ columns: Range<Int>, _ look: Look) {
    for x in columns.clamped(to: 0..<width) { put(" ", width: 1, Look(background: look.background), x: x, y: y) }
  }

  mutating func insertCells(_ count: Int, x: Int, y: Int, _ look: Look) {
    let count = min(count, width - x)
    let end = (y + 1) * width
    let moved = Array(cells[(y * width + x)..<(end - count)])
    cells.replaceSubrange((y * width + x + count)..<end, with: moved)
    erase(row: y, x..<(x + count), look)
  }

  mutating func deleteCells(_ count: Int, x: Int, y: Int, _ look: Look) {
    let count = min(count, width - x)
    let start = y * width + x
    let moved = Array(cells[(start + count)..<((y + 1) * width)])
    cells.replaceSubrange(start..<(start + moved.count), with: moved)
    for x in (width - count)..<width { cells[y * width + x] = Cell(look: Look(background: look.background)) }
  }

  /// Moves rows within a region up by a count, or down where it is negative.
  mutating func scroll(_ region: Range<Int>, by count: Int, _ look: Look) {
    let blank = Array(repeating: Cell(look: Look(background: look.background)), count: width)
    let before = cells
    for y in region {
      let from = y + count
      let row = region.contains(from) ? Array(before[(from * width)..<((from + 1) * width)]) : blank
      cells.replaceSubrange((y * width)..<((y + 1) * width), with: row)
    }
  }

  /// Takes another size as most terminals do: cut or filled at the right and at the bottom.
  mutating func resize(width newWidth: Int, height newHeight: Int) {
    var other = EmulatedScreen(width: newWidth, height: newHeight)
    for y in 0..<min(height, newHeight) {
      for x in 0..<min(width, newWidth) { other.cells[y * newWidth + x] = self[x, y] }
    }
    cells = other.cells
    (width, height) = (newWidth, newHeight)
    cursor = (min(cursor.x, width - 1), min(cursor.y, height - 1))
  }
}
