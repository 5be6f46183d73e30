import ExplorerTerminal
import ExplorerText

/// A picture of the screen as a vector graphic, for a page that cannot show a terminal.
///
/// Text is text, in the colours of the theme; each piece is exactly as wide as its cells, whatever font shows it. The same canvas
/// makes the same bytes.
struct SVGPicture {
  /// In units of the picture: so close that rules and bars of neighbouring cells meet.
  private static let cell = (width: 8, height: 15)
  private static let margin = 10
  /// From the upper edge of a cell to the line that letters stand on.
  private static let baseline = 12

  let canvas: Canvas
  /// What it is called, for those who hear it and do not see it.
  let title: String
  private let palette: Palette
  private let paper: String
  private let ink: String

  init(_ canvas: Canvas, title: String, theme: Theme = .standard) {
    self.canvas = canvas
    self.title = title
    // The background is ours: dark, except for the theme for light backgrounds.
    palette = Palette(depth: .full, theme: theme == .standard ? .dark : theme)
    (paper, ink) = theme == .light ? ("#ffffff", "#1c1c1c") : ("#12161c", "#d6d8da")
  }

  var text: String {
    let (width, height) = (
      canvas.size.width * Self.cell.width + 2 * Self.margin, canvas.size.height * Self.cell.height + 2 * Self.margin
    )
    let font = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
    var lines = [
      #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(width) \#(height)" role="img" "#
        + #"font-family="\#(font)" font-size="13.3">"#,
      "<title>\(harmless(title).escapedForXML)</title>",
      #"<rect width="\#(width)" height="\#(height)" rx="8" fill="\#(paper)"/>"#,
    ]
    for y in 0..<canvas.size.height { lines += row(y) }
    lines.append("</svg>\n")
    return lines.joined(separator: "\n")
  }

  /// The pieces of a row that have one style each; what is blank on plain paper is left out.
  private func row(_ y: Int) -> [String] {
    var pieces: [String] = []
    var start = 0
    while start < canvas.size.width {
      let style = canvas[start, y].style
      var end = start + 1
      while end < canvas.size.width, canvas[end, y].style == style { end += 1 }
      pieces += piece(start..<end, y, palette.appearance(of: style))
      start = end
    }
    return pieces
  }

  private func piece(_ columns: Range<Int>, _ y: Int, _ look: Appearance) -> [String] {
    let top = Self.margin + y * Self.cell.height
    let color = look.foreground.map { self.color($0) } ?? ink
    var parts: [String] = []
    if look.isReversed {
      parts.append(
        #"<rect x="\#(left(columns.lowerBound))" y="\#(top)" width="\#(columns.count * Self.cell.width)" "#
          + #"height="\#(Self.cell.height)" fill="\#(color)"/>"#)
    }
    // Blank cells at both ends need no letters.
    let drawn = columns.filter { canvas[$0, y].glyph != " " }
    guard let first = drawn.first, let last = drawn.last else { return parts }
    var glyphs = ""
    for x in first...last { glyphs += canvas[x, y].glyph.text }
    var attributes = #"fill="\#(look.isReversed ? paper : color)""#
    if look.isBold { attributes += #" font-weight="bold""# }
    if look.isDim { attributes += #" opacity="0.6""# }
    if look.isUnderlined { attributes += #" text-decoration="underline""# }
    parts.append(
      #"<text x="\#(left(first))" y="\#(top + Self.baseline)" textLength="\#((last - first + 1) * Self.cell.width)" "#
        + #"lengthAdjust="spacingAndGlyphs" xml:space="preserve" \#(attributes)>\#(glyphs.escapedForXML)</text>"#)
    return parts
  }

  private func left(_ column: Int) -> Int { Self.margin + column * Self.cell.width }

  /// The colours of a terminal that nobody has changed.
  private static let own = [
    "#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
    "#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
  ]

  private func color(_ number: Int) -> String {
    guard let color = palette.colorsByNumber[number] else {
      return Self.own.indices.contains(number) ? Self.own[number] : ink
    }
    return "#"
      + [color.red, color.green, color.blue].map { part in
        (part < 16 ? "0" : "") + String(part, radix: 16)
      }.joined()
  }
}
