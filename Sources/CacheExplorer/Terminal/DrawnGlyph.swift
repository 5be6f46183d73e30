import ExplorerText

/// The scalars that go to curses for one cell: a base and up to four marks that take no room.
///
/// The last line of defence: whatever a canvas holds, nothing leaves here that moves the cursor, takes more room than its
/// cell has, or is no single character to the C library.
struct DrawnGlyph: Equatable, Sendable {
  static let unknown = DrawnGlyph(base: "?", marks: [], width: 1)

  var base: Unicode.Scalar
  var marks: [Unicode.Scalar] = []
  /// One cell or two.
  var width = 1

  /// What to draw for a glyph that has `room` cells, one or two.
  ///
  /// `widthOf` gives the cells that the C library reserves for a scalar, -1 for what it cannot print. curses counts with
  /// it, so that a glyph it sees differently would shift the rest of the row.
  static func resolve(
    _ glyph: Glyph, room: Int, widthOf: (Unicode.Scalar) -> Int
  ) -> DrawnGlyph {
    guard let base = glyph.base else { return DrawnGlyph(base: " ") }
    if base.value >= 0x20, base.value < 0x7f, !glyph.hasMarks { return DrawnGlyph(base: base) }
    guard base.value > 0x9f || (0x20...0x7e).contains(base.value) else { return .unknown }
    let width = widthOf(base)
    guard width == 1 || width == 2, width <= room else { return .unknown }
    let marks = glyph.marks
    for mark in marks {
      guard mark.value > 0x9f, widthOf(mark) == 0, !mark.properties.isJoinControl, !mark.properties.isBidiControl else {
        return .unknown
      }
    }
    return DrawnGlyph(base: base, marks: marks, width: width)
  }
}
