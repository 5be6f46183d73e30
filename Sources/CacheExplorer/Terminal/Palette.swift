/// How many colours a terminal has, as far as that matters here.
enum ColorDepth: String, CaseIterable, Sendable {
  case mono, eight, sixteen, many

  /// The depth to use for a terminal that describes itself as having so many colours.
  ///
  /// A variable `NO_COLOR` that is not empty asks for none (https://no-color.org).
  static func chosen(colors: Int, environment: [String: String]) -> ColorDepth {
    if let noColor = environment["NO_COLOR"], !noColor.isEmpty { return .mono }
    return switch colors {
    case 256...: .many
    case 16...: .sixteen
    case 8...: .eight
    default: .mono
    }
  }
}

/// How a style looks on a terminal: a colour and the signs that do without colour.
struct Appearance: Equatable, Hashable, Sendable {
  /// The colour's number, `nil` for the terminal's own.
  var foreground: Int?
  var isBold = false
  var isDim = false
  var isUnderlined = false
  var isReversed = false
}

/// The looks of all roles at one depth of colour.
///
/// No role is told by its colour alone: where two roles may stand for each other in one place (hit and miss, warning and
/// error), they also differ in weight, underline or reverse, and the words and glyphs of the view say the same again.
struct Palette: Equatable, Sendable {
  let depth: ColorDepth

  func appearance(of style: Style) -> Appearance {
    var look = depth == .mono ? Self.mono(style.role) : colored(style.role)
    if style.isBold { look.isBold = true }
    if style.isReversed { look.isReversed.toggle() }
    // Bold and dim together are undefined on many terminals.
    if look.isBold { look.isDim = false }
    return look
  }

  private func colored(_ role: Style.Role) -> Appearance {
    // 8 colours, 16 colours, 256 colours. The last are of a middle lightness, readable on black and on white.
    let (eight, sixteen, many): (Int?, Int?, Int?) =
      switch role {
      case .plain, .title: (nil, nil, nil)
      case .faint, .border: (nil, 8, 244)
      case .key, .accent: (6, 14, 38)
      case .hit: (2, 10, 71)
      case .miss: (3, 11, 172)
      case .join: (5, 13, 134)
      case .fill: (4, 12, 68)
      case .warning: (3, 11, 178)
      case .error: (1, 9, 196)
      }
    let foreground: Int? =
      switch depth {
      case .mono: nil
      case .eight: eight
      case .sixteen: sixteen
      case .many: many
      }
    var look = Appearance(foreground: foreground)
    switch role {
    case .title, .key, .warning: look.isBold = true
    case .error: (look.isBold, look.isReversed) = (true, true)
    case .miss: look.isUnderlined = depth == .eight
    case .faint, .border: look.isDim = foreground == nil
    case .plain, .hit, .join, .fill, .accent: break
    }
    return look
  }

  private static func mono(_ role: Style.Role) -> Appearance {
    switch role {
    case .plain, .hit: Appearance()
    case .faint, .border, .fill: Appearance(isDim: true)
    case .title, .key, .accent: Appearance(isBold: true)
    case .miss, .join: Appearance(isUnderlined: true)
    case .warning: Appearance(isBold: true, isUnderlined: true)
    case .error: Appearance(isBold: true, isReversed: true)
    }
  }
}
