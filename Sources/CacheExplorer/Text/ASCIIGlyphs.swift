/// What stands for a glyph where only ASCII can be shown.
package enum ASCIIGlyphs {
  /// A text in which every glyph is replaced that cannot be shown.
  package static func text(_ text: String) -> String {
    String(String.UnicodeScalarView(text.map { $0 == "\n" ? "\n" : lookAlike(of: String($0)) }))
  }

  package static func lookAlike(of glyph: String) -> Unicode.Scalar {
    guard let scalar = glyph.unicodeScalars.first else { return " " }
    if scalar.value >= 0x20, scalar.value < 0x7f { return glyph.unicodeScalars.count == 1 ? scalar : "?" }
    return switch scalar {
    case "─", "━", "╌", "┄", "┈", "—", "–", "‐", "−", "╴", "╶", "⎯", "∞": "-"
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
    case "·", "…", "•", "∙": "."
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
