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

/// Which colours stand for what.
enum Theme: String, CaseIterable, Sendable {
  /// Of a middle lightness, readable on black and on white.
  case standard
  /// For a dark background, and for a light one.
  case dark, light
  /// As far from the background as can be, and bold.
  case contrast
  /// Hit and miss in blue and orange, which those who see no red or green tell apart.
  case distinct
  /// No colours at all.
  case mono
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
  let theme: Theme

  init(depth: ColorDepth, theme: Theme = .standard) {
    self.depth = theme == .mono ? .mono : depth
    self.theme = theme
  }

  func appearance(of style: Style) -> Appearance {
    var look = depth == .mono ? Self.mono(style.role) : colored(style.role)
    if theme == .contrast, look.foreground != nil, style.role != .miss { look.isBold = true }
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
    let other = Self.other(theme, style: role)
    let foreground: Int? =
      switch depth {
      case .mono: nil
      case .eight: other.map(\.eight) ?? eight
      case .sixteen: other.map(\.sixteen) ?? sixteen
      case .many: other.map(\.many) ?? many
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

  /// Where a theme differs from the standard one.
  private static func other(_ theme: Theme, style role: Style.Role) -> (eight: Int?, sixteen: Int?, many: Int)? {
    switch (theme, role) {
    case (.standard, _), (.mono, _), (_, .plain), (_, .title), (_, .error): nil
    case (.dark, .faint), (.dark, .border): (nil, 8, 247)
    case (.dark, .key), (.dark, .accent): (6, 14, 81)
    case (.dark, .hit): (2, 10, 114)
    case (.dark, .miss): (3, 11, 215)
    case (.dark, .join): (5, 13, 177)
    case (.dark, .fill): (4, 12, 111)
    case (.dark, .warning): (3, 11, 221)
    case (.light, .faint), (.light, .border): (nil, 8, 242)
    case (.light, .key), (.light, .accent): (6, 6, 24)
    case (.light, .hit): (2, 2, 28)
    case (.light, .miss): (1, 1, 130)
    case (.light, .join): (5, 5, 90)
    case (.light, .fill): (4, 4, 25)
    case (.light, .warning): (1, 1, 94)
    // Numbers of the terminal's own palette: whoever needs contrast has set it there.
    case (.contrast, .faint), (.contrast, .border): (nil, 7, 7)
    case (.contrast, .key), (.contrast, .accent): (6, 14, 14)
    case (.contrast, .hit): (2, 10, 10)
    case (.contrast, .miss): (3, 11, 11)
    case (.contrast, .join): (5, 13, 13)
    case (.contrast, .fill): (6, 14, 14)
    case (.contrast, .warning): (3, 11, 11)
    case (.distinct, .hit): (4, 12, 75)
    case (.distinct, .miss): (3, 11, 214)
    case (.distinct, .fill): (6, 14, 37)
    case (.distinct, .warning): (3, 11, 220)
    case (.distinct, _): nil
    }
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
