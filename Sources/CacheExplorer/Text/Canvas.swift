/// A width and a height in terminal cells.
package struct Size: Equatable, Sendable, Codable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// A place on the screen; the upper left corner is (0, 0).
package struct Point: Equatable, Sendable, Codable {
  package var x: Int
  package var y: Int

  package init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }
}

/// What a cell means.
///
/// The terminal decides how that looks; no meaning is carried by colour alone.
package struct Style: Equatable, Hashable, Sendable {
  package enum Role: String, CaseIterable, Sendable {
    case plain, faint, title, border, key, hit, miss, join, fill, warning, error, accent
  }

  package var role: Role = .plain
  package var isBold = false
  package var isReversed = false

  package init(role: Role = .plain, isBold: Bool = false, isReversed: Bool = false) {
    self.role = role
    self.isBold = isBold
    self.isReversed = isReversed
  }

  package static let plain = Style()
}

/// One cell: a glyph, or the right half of a wide glyph.
package struct Cell: Equatable, Sendable {
  package var glyph: Glyph
  package var style: Style

  package static let blank = Cell(glyph: " ", style: .plain)
}

/// A picture of the screen as a plain value.
///
/// `view` draws on it, a back-end shows it.
package struct Canvas: Equatable, Sendable {
  /// No terminal is larger, and a canvas beyond it would only cost memory.
  package static let largest = 4096

  package let size: Size
  /// Row after row, `size.width * size.height` of them.
  package internal(set) var cells: [Cell]
  /// Where the terminal's cursor stands; `nil` hides it.
  package var cursor: Point?

  package init(_ size: Size) {
    self.size = Size(
      width: min(max(0, size.width), Self.largest), height: min(max(0, size.height), Self.largest))
    cells = Array(repeating: .blank, count: self.size.width * self.size.height)
  }

  /// A cell.
  ///
  /// Outside the canvas there is nothing to read, and what is written there is lost.
  package subscript(x: Int, y: Int) -> Cell {
    get { contains(x, y) ? cells[y * size.width + x] : .blank }
    set { if contains(x, y) { cells[y * size.width + x] = newValue } }
  }

  /// The columns from the first to the last in which a row is not as on another canvas of the size; `nil` if there are none.
  package func columns(of y: Int, unlike other: Canvas) -> ClosedRange<Int>? {
    let row = y * size.width
    guard let first = (0..<size.width).first(where: { cells[row + $0] != other.cells[row + $0] }) else { return nil }
    let last = (first..<size.width).last { cells[row + $0] != other.cells[row + $0] }
    return first...(last ?? first)
  }

  /// Takes over a row of another canvas of the size.
  package mutating func copyRow(_ y: Int, from other: Canvas) {
    let row = y * size.width..<(y + 1) * size.width
    cells[row] = other.cells[row]
  }

  package func contains(_ x: Int, _ y: Int) -> Bool { x >= 0 && y >= 0 && x < size.width && y < size.height }
}
