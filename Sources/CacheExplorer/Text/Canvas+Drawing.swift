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
    var column = Rect.clamp(x)
    let text = limit == .max ? text : text.clipped(to: limit)
    for glyph in text.glyphs {
      put(glyph, x: column, y: y, style: style)
      column += glyph.width
    }
    return column
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

  private mutating func put(_ glyph: DisplayText.Glyph, x: Int, y: Int, style: Style) {
    guard contains(x, y) else { return }
    var style = style
    if glyph.isEscape { style.isReversed.toggle() }
    mend(x, y)
    guard glyph.isWide else { return cells[y * size.width + x] = Cell(glyph: glyph.text, style: style) }
    guard contains(x + 1, y) else { return self[x, y] = Cell(glyph: " ", style: style) }
    mend(x + 1, y)
    self[x, y] = Cell(glyph: glyph.text, style: style)
    self[x + 1, y] = Cell(glyph: "", style: style)
  }

  /// A wide glyph loses both halves when one is drawn over.
  private mutating func mend(_ x: Int, _ y: Int) {
    let place = y * size.width + x
    if x > 0, cells[place].glyph.isEmpty { cells[place - 1].glyph = " " }
    if x + 1 < size.width, cells[place + 1].glyph.isEmpty { cells[place + 1].glyph = " " }
  }

  /// Covers a part with one glyph of ours.
  package mutating func fill(_ rect: Rect, with glyph: String = " ", style: Style = .plain) {
    let part = DisplayText.Glyph(text: glyph)
    for y in max(0, rect.y)..<max(0, rect.y, min(rect.bottom, size.height)) {
      for x in max(0, rect.x)..<max(0, rect.x, min(rect.right, size.width)) { put(part, x: x, y: y, style: style) }
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
    let rule = DisplayText(repeating: "─", count: rect.width - 2)
    write((isRound ? "╭" : "┌") + rule + (isRound ? "╮" : "┐"), x: rect.x, y: rect.y, style: style)
    for y in rect.y + 1..<rect.bottom - 1 {
      write("│", x: rect.x, y: y, style: style)
      write("│", x: rect.right - 1, y: y, style: style)
    }
    write((isRound ? "╰" : "└") + rule + (isRound ? "╯" : "┘"), x: rect.x, y: rect.bottom - 1, style: style)
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
  package mutating func bar(
    x: Int, y: Int, width: Int, fraction: Double, style: Style, rest: DisplayText = "░"
  ) {
    let filled = Self.bar(width: width, fraction: fraction)
    let end = write(filled, x: x, y: y, style: style)
    for column in 0..<max(0, min(width, size.width) - filled.width) {
      write(rest, x: end + column, y: y, style: .faint)
    }
  }

  /// The filled part of a bar.
  ///
  /// Whatever is more than nothing shows.
  package static func bar(width: Int, fraction: Double) -> DisplayText {
    guard width > 0, fraction > 0 else { return DisplayText() }
    let eighths = max(1, Int((min(1, fraction) * Double(width) * 8).rounded()))
    let part = eighths % 8
    let text = DisplayText(repeating: "█", count: eighths / 8)
    return part == 0 ? text : text + DisplayText(stringLiteral: Self.eighths[part - 1])
  }

  private static let eighths = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
  private static let steps = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// One column for each value, against the largest (or `most`, if that is larger).
  ///
  /// Nothing at all is a dot.
  package static func sparkline(_ values: some Sequence<Double>, most: Double = 0) -> DisplayText {
    let top = values.reduce(most) { Swift.max($0, $1) }
    var text = ""
    for value in values {
      text += value > 0 && top > 0 ? steps[Swift.min(7, Int(value / top * 7.999))] : "·"
    }
    return DisplayText(text)
  }
}

extension Style {
  package var bold: Style { Style(role: role, isBold: true, isReversed: isReversed) }
}

extension Canvas {
  /// The rows as text, without styles; spaces at the ends of rows left out.
  package var lines: [String] {
    (0..<size.height).map { y in
      var row = cells[y * size.width..<(y + 1) * size.width].reduce(into: "") { $0 += $1.glyph }
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
