/// A piece of text in one style.
package struct Span: Equatable, Sendable {
  package var text: DisplayText
  package var style: Style

  package init(_ text: DisplayText, _ style: Style = .plain) {
    self.text = text
    self.style = style
  }
}

extension Canvas {
  /// Writes text from (x, y) to the right, at most `limit` cells and never outside; returns the x after it.
  @discardableResult
  package mutating func write(_ text: DisplayText, x: Int, y: Int, style: Style = .plain, limit: Int = .max) -> Int {
    let text = text.clipped(to: limit)
    let start = Rect.clamp(x)
    let end = start + text.width
    guard y >= 0, y < size.height, start < size.width, end > 0 else { return end }
    let row = y * size.width
    var column = start
    var isMended = false
    for glyph in text.glyphs where column < size.width {
      let place = row + column
      column += glyph.width
      // Nothing is drawn of a glyph that begins before the canvas.
      guard place >= row else { continue }
      if !isMended {
        mend(row, from: place - row, to: min(end, size.width))
        isMended = true
      }
      let isWhole = column <= size.width
      var cell = Cell(glyph: isWhole ? glyph : " ", style: style)
      if glyph.isEscape {
        cell.glyph.isEscape = false
        cell.style.isReversed.toggle()
      }
      cells[place] = cell
      if glyph.isWide, isWhole { cells[place + 1] = Cell(glyph: .rightHalf, style: style) }
    }
    return end
  }

  /// Writes pieces one after the other, at most `limit` cells together; returns the x after them.
  @discardableResult
  package mutating func write(_ spans: [Span], x: Int, y: Int, limit: Int = .max) -> Int {
    var column = Rect.clamp(x)
    var room = max(0, limit)
    for span in spans where room > 0 {
      let end = write(span.text, x: column, y: y, style: span.style, limit: room)
      room -= end - column
      column = end
    }
    return column
  }

  /// Writes text so that it ends before `right`.
  package mutating func write(_ text: DisplayText, endingAt right: Int, y: Int, style: Style = .plain) {
    write(text, x: Rect.clamp(right) - text.width, y: y, style: style)
  }

  /// Writes text at the right into the lower edge of a box, unless it is too low for any line.
  package mutating func writeBelow(_ text: DisplayText, in rect: Rect) {
    guard rect.height > 2 else { return }
    write(text + " ", endingAt: rect.right - 1, y: rect.bottom - 1, style: .faint)
  }

  /// A wide glyph loses both halves when one is drawn over, as columns of a row are about to be.
  private mutating func mend(_ row: Int, from start: Int, to end: Int) {
    if start > 0, cells[row + start].glyph.isEmpty { cells[row + start - 1].glyph = " " }
    if end < size.width, cells[row + end].glyph.isEmpty { cells[row + end].glyph = " " }
  }

  /// Covers a part with one glyph of ours.
  package mutating func fill(_ rect: Rect, with glyph: Glyph = " ", style: Style = .plain) {
    let (left, right) = (max(0, rect.x), min(rect.right, size.width))
    guard left < right else { return }
    let cell = Cell(glyph: glyph, style: style)
    for y in max(0, rect.y)..<max(0, rect.y, min(rect.bottom, size.height)) {
      let row = y * size.width
      mend(row, from: left, to: right)
      for place in row + left..<row + right { cells[place] = cell }
    }
  }

  /// Turns over the colours of a part.
  package mutating func reverse(_ rect: Rect) {
    for y in max(0, rect.y)..<max(0, rect.y, min(rect.bottom, size.height)) {
      for x in max(0, rect.x)..<max(0, rect.x, min(rect.right, size.width)) { self[x, y].style.isReversed.toggle() }
    }
  }

  /// Draws a frame with a title in its upper edge, and a second one at the right if both have room.
  ///
  /// `isRound`: With round corners, as for what is passed through.
  package mutating func box(
    _ rect: Rect, title: DisplayText = "", right: DisplayText = "", isFocused: Bool = false, isRound: Bool = false
  ) {
    guard rect.width >= 2, rect.height >= 2 else { return }
    let style = isFocused ? Style.accent : Style.border
    let (last, bottom) = (rect.right - 1, rect.bottom - 1)
    func put(_ glyph: Glyph, x: Int, y: Int, width: Int = 1, height: Int = 1) {
      fill(Rect(x: x, y: y, width: width, height: height), with: glyph, style: style)
    }
    for y in [rect.y, bottom] { put("─", x: rect.x + 1, y: y, width: rect.width - 2) }
    for x in [rect.x, last] { put("│", x: x, y: rect.y + 1, height: rect.height - 2) }
    put(isRound ? "╭" : "┌", x: rect.x, y: rect.y)
    put(isRound ? "╮" : "┐", x: last, y: rect.y)
    put(isRound ? "╰" : "└", x: rect.x, y: bottom)
    put(isRound ? "╯" : "┘", x: last, y: bottom)
    let room = rect.width - 4
    guard room > 0 else { return }
    var end = rect.x + 1
    if title.width > 0 {
      let shown = title.clipped(to: room)
      end = write(" " + shown + " ", x: rect.x + 1, y: rect.y, style: isFocused ? Style.accent.bold : .title)
    }
    if right.width > 0, rect.right - right.width - 3 > end {
      write(" " + right + " ", endingAt: rect.right - 1, y: rect.y, style: .faint)
    }
  }

  /// A horizontal bar in eighths of a cell.
  package mutating func bar(x: Int, y: Int, width: Int, fraction: Double, style: Style) {
    let filled = Self.bar(width: width, fraction: fraction)
    let end = write(filled, x: x, y: y, style: style)
    fill(Rect(x: end, y: y, width: min(width, size.width) - filled.width, height: 1), with: "░", style: .faint)
  }

  /// The filled part of a bar.
  ///
  /// Whatever is more than nothing shows.
  package static func bar(width: Int, fraction: Double) -> DisplayText {
    guard width > 0, fraction > 0 else { return DisplayText() }
    let eighths = max(1, Int((min(1, fraction) * Double(width) * 8).rounded()))
    let part = eighths % 8
    let text = DisplayText(repeating: "█", count: eighths / 8)
    return part == 0 ? text : text + DisplayText(repeating: Self.eighths[part - 1], count: 1)
  }

  private static let eighths: [Glyph] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
  private static let steps: [Glyph] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// One column for each value, against the largest (or `most`, if that is larger).
  ///
  /// Nothing at all is a dot.
  package static func sparkline(_ values: [Double], most: Double = 0) -> DisplayText {
    let top = values.reduce(most) { Swift.max($0, $1) }
    return DisplayText(values.map { $0 > 0 && top > 0 ? steps[Swift.min(7, Int($0 / top * 7.999))] : "·" })
  }
}

extension Style {
  package var bold: Style { Style(role: role, isBold: true, isReversed: isReversed) }
}

extension Canvas {
  /// The rows as text, without styles; spaces at the ends of rows left out.
  package var lines: [String] { rows { $0.reduce(into: "") { $0 += $1.glyph.text } } }

  /// As ``lines``, in ASCII, and as wide.
  package var asciiLines: [String] { rows { String(String.UnicodeScalarView(ASCIIGlyphs.row($0))) } }

  private func rows(_ text: (ArraySlice<Cell>) -> String) -> [String] {
    (0..<size.height).map { y in
      var row = text(cells[y * size.width..<(y + 1) * size.width])
      while row.last == " " { row.removeLast() }
      return row
    }
  }

  /// A canvas as wide as its widest row, in the plain style; for tests.
  package init(lines: [String]) {
    let rows = lines.map { DisplayText($0) }
    self.init(Size(width: rows.map(\.width).max() ?? 0, height: rows.count))
    for (y, row) in rows.enumerated() { write(row, x: 0, y: y) }
  }
}
