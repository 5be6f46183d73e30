/// What stands for a glyph where only ASCII can be shown.
package enum ASCIIGlyphs {
  /// A text in which every glyph is replaced that cannot be shown, by as much as it takes.
  package static func text(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      let glyph = String(character)
      if character == "\n" { return result += "\n" }
      result += spelled[glyph] ?? String(lookAlike(of: glyph))
    }
  }

  /// What stands for a row of a picture, a character in each cell.
  ///
  /// What takes more than its cell takes those behind it as well if they are blank, and leaves a blank before what follows.
  package static func row(_ cells: ArraySlice<Cell>) -> [Unicode.Scalar] {
    var row: [Unicode.Scalar] = []
    row.reserveCapacity(cells.count)
    while row.count < cells.count {
      let rest = cells.dropFirst(row.count)
      let glyph = rest[rest.startIndex].glyph
      // The right half of a wide one.
      guard !glyph.isEmpty else {
        row.append(" ")
        continue
      }
      let text = glyph.text
      guard let spelled = spelled[text]?.unicodeScalars else {
        row.append(lookAlike(of: text))
        continue
      }
      let blanks = rest.dropFirst().prefix { $0.glyph == " " }.count
      // What stands by itself between words or figures, unlike the nothing of a history.
      if text == "·" {
        row.append(blanks > 0 && row.last == " " ? "-" : ".")
        continue
      }
      // A comparison stands before its number.
      let isFitting = blanks >= (relations.contains(text) ? 1 : spelled.count)
      if isFitting { row += spelled } else { row.append(lookAlike(of: text)) }
    }
    return row
  }

  private static let relations: Set<String> = ["≥", "≤", "≠"]

  /// What says more than one character could.
  private static let spelled = [
    "…": "...", "·": "-", "≥": ">=", "≤": "<=", "≠": "!=", "→": "->", "←": "<-", "±": "+-", "↵": "Enter", "⏎": "Enter",
  ]

  package static func lookAlike(of glyph: String) -> Unicode.Scalar {
    guard let scalar = glyph.unicodeScalars.first else { return " " }
    if scalar.value >= 0x20, scalar.value < 0x7f { return glyph.unicodeScalars.count == 1 ? scalar : "?" }
    return switch scalar {
    case "─", "━", "╌", "┄", "┈", "—", "–", "‐", "−", "╴", "╶", "⎯": "-"
    case "═": "="
    case "│", "┃", "║", "╎", "┆", "┊", "▏", "▕", "▌", "▐", "‖": "|"
    case "\u{2501}"..."\u{257f}": "+"
    case "▁", "▂", "⎽": "_"
    case "▃": "."
    case "▄", "▅": "-"
    case "▆", "▇": "="
    case "█", "▉", "▊", "▋", "■", "▓": "#"
    case "▍", "▎": "|"
    case "░", "▒", "□": "."
    case "●", "◉": "o"
    case "○", "◯": "O"
    case "◐", "◑", "◔", "◕": "c"
    case "·", "…", "∙": "."
    case "•", "∞": "*"
    case "✕", "✗", "✘", "×", "╳": "x"
    case "✓", "✔": "v"
    case "▸", "▶", "►", "→", "›", "»": ">"
    case "◂", "◀", "◄", "←", "‹", "«": "<"
    case "▲", "↑", "△": "^"
    case "▼", "↓", "▽", "▾": "v"
    case "⟳", "↻": "@"
    case "◇", "◆": "?"
    case "↵", "⏎": "<"
    case "≥": ">"
    case "≤": "<"
    case "≈", "∼", "±": "~"
    case "÷": "/"
    case "≠": "!"
    case "µ", "μ": "u"
    case "“", "”", "„": "\""
    case "‘", "’": "'"
    case "\u{a0}", "\u{2007}", "\u{202f}": " "
    default: "?"
    }
  }
}
