/// A width and a height in terminal cells.
struct Size: Equatable, Sendable {
  var width: Int
  var height: Int
}

/// A place on the screen; the upper left corner is (0, 0).
struct Point: Equatable, Sendable {
  var x: Int
  var y: Int
}

/// What a cell means.
///
/// The terminal decides how that looks; no meaning is carried by colour alone.
struct Style: Equatable, Hashable, Sendable {
  enum Role: String, CaseIterable, Sendable {
    case plain, faint, title, border, key, hit, miss, join, fill, warning, error, accent
  }

  var role: Role = .plain
  var isBold = false
  var isReversed = false

  static let plain = Style()
}

/// One cell: a glyph, or the right half of a wide glyph.
struct Cell: Equatable, Sendable {
  /// One character that the terminal draws; empty for the right half of a wide one.
  var glyph: String
  var style: Style

  static let blank = Cell(glyph: " ", style: .plain)
}

/// A picture of the screen as a plain value.
///
/// `view` draws on it, a back-end shows it.
struct Canvas: Equatable, Sendable {
  /// No terminal is larger, and a canvas beyond it would only cost memory.
  static let largest = 4096

  let size: Size
  /// Row after row, `size.width * size.height` of them.
  private(set) var cells: [Cell]
  /// Where the terminal's cursor stands; `nil` hides it.
  var cursor: Point?

  init(_ size: Size) {
    self.size = Size(
      width: min(max(0, size.width), Self.largest), height: min(max(0, size.height), Self.largest))
    cells = Array(repeating: .blank, count: self.size.width * self.size.height)
  }

  /// A cell.
  ///
  /// Outside the canvas there is nothing to read, and what is written there is lost.
  subscript(x: Int, y: Int) -> Cell {
    get { contains(x, y) ? cells[y * size.width + x] : .blank }
    set { if contains(x, y) { cells[y * size.width + x] = newValue } }
  }

  func contains(_ x: Int, _ y: Int) -> Bool { x >= 0 && y >= 0 && x < size.width && y < size.height }
}
