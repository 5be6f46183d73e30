package import ExplorerText

/// How many colours a terminal has, as far as that matters here.
package enum ColorDepth: String, CaseIterable, Sendable {
  case mono, eight, sixteen, many
  /// Any colour, by its parts of red, green and blue.
  case full

  /// The depth to use for a terminal that describes itself as having so many colours.
  ///
  /// A variable `NO_COLOR` that is not empty asks for none (https://no-color.org). That a terminal takes any colour it says
  /// by `COLORTERM`, or its description says it.
  ///
  /// `isDirect`: The description of the terminal says that it takes any colour.
  static func chosen(colors: Int, environment: [String: String], isDirect: Bool = false) -> ColorDepth {
    if let noColor = environment["NO_COLOR"], !noColor.isEmpty { return .mono }
    let isFull = isDirect || ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "")
    return switch colors {
    case 256... where isFull: .full
    case 256...: .many
    case 16...: .sixteen
    case 8...: .eight
    default: .mono
    }
  }
}

/// How a style looks on a terminal: a colour and the signs that do without colour.
package struct Appearance: Equatable, Hashable, Sendable {
  /// The colour's number, `nil` for the terminal's own.
  package var foreground: Int?
  package var isBold = false
  package var isDim = false
  package var isUnderlined = false
  package var isReversed = false
}

/// The looks of all roles at one depth of colour.
///
/// No role is told by its colour alone: where two roles may stand for each other in one place (hit and miss, warning and
/// error), they also differ in weight, underline or reverse, and the words and glyphs of the view say the same again.
package struct Palette: Equatable, Sendable {
  let depth: ColorDepth
  let theme: Theme

  package init(depth: ColorDepth, theme: Theme = .standard) {
    self.depth = theme == .mono ? .mono : depth
    self.theme = theme
  }

  package func appearance(of style: Style) -> Appearance {
    var look = depth == .mono ? Self.mono(style.role) : colored(style.role)
    if theme == .contrast, look.foreground != nil, style.role != .miss { look.isBold = true }
    if style.isBold { look.isBold = true }
    if style.isReversed { look.isReversed.toggle() }
    // Bold and dim together are undefined on many terminals.
    if look.isBold { look.isDim = false }
    return look
  }

  private func colored(_ role: Style.Role) -> Appearance {
    let look = Self.other(theme, role) ?? Self.standard(role)
    let foreground: Int? =
      switch depth {
      case .mono: nil
      case .eight: look.eight
      case .sixteen: look.sixteen
      case .many: look.shade?.number
      case .full: look.shade?.color == nil ? look.shade?.number : Self.number(of: role)
      }
    var appearance = Appearance(foreground: foreground)
    switch role {
    case .title, .key, .warning: appearance.isBold = true
    case .error: (appearance.isBold, appearance.isReversed) = (true, true)
    case .miss: appearance.isUnderlined = depth == .eight
    case .faint, .border: appearance.isDim = foreground == nil
    case .plain, .hit, .join, .fill, .accent: break
    }
    return appearance
  }

  /// Where any colour can be had, a role has a number of its own, and this says which colour that is.
  package var colorsByNumber: [Int: Shade.Color] {
    guard depth == .full else { return [:] }
    return Style.Role.allCases.reduce(into: [:]) { colors, role in
      colors[Self.number(of: role)] = (Self.other(theme, role) ?? Self.standard(role)).shade?.color
    }
  }

  /// Above the sixteen that every terminal's owner may have set.
  private static func number(of role: Style.Role) -> Int { 200 + (Style.Role.allCases.firstIndex(of: role) ?? 0) }

  /// The colour of a role with 8 colours, with 16, and with 256 or any.
  private struct Look {
    var eight: Int?
    var sixteen: Int?
    var shade: Shade?

    init(_ eight: Int? = nil, _ sixteen: Int? = nil, _ shade: Shade? = nil) {
      (self.eight, self.sixteen, self.shade) = (eight, sixteen, shade)
    }
  }

  /// Of a middle lightness, readable on black and on white.
  private static func standard(_ role: Style.Role) -> Look {
    switch role {
    case .plain, .title: Look()
    case .faint, .border: Look(nil, 8, .rgb(0x7b7b7b))
    case .key, .accent: Look(6, 14, .rgb(0x0987a6))
    case .hit: Look(2, 10, .rgb(0x298e2d))
    case .miss: Look(3, 11, .rgb(0xb46a09))
    case .join: Look(5, 13, .rgb(0xaf52d4))
    case .fill: Look(4, 12, .rgb(0x487bd1))
    case .warning: Look(3, 11, .rgb(0x957908))
    case .error: Look(1, 9, .rgb(0xee2929))
    }
  }

  /// Where a theme differs from the standard one.
  private static func other(_ theme: Theme, _ role: Style.Role) -> Look? {
    switch (theme, role) {
    case (.standard, _), (.mono, _), (_, .plain), (_, .title): nil
    case (.dark, .faint), (.dark, .border): Look(nil, 8, .rgb(0x9c9c9c))
    case (.dark, .key), (.dark, .accent): Look(6, 14, .rgb(0x62d4fb))
    case (.dark, .hit): Look(2, 10, .rgb(0x8cd58f))
    case (.dark, .miss): Look(3, 11, .rgb(0xfbb366))
    case (.dark, .join): Look(5, 13, .rgb(0xd38cfb))
    case (.dark, .fill): Look(4, 12, .rgb(0x8ab2fc))
    case (.dark, .warning): Look(3, 11, .rgb(0xfad75c))
    case (.dark, .error): Look(1, 9, .rgb(0xff6060))
    case (.light, .faint), (.light, .border): Look(nil, 8, .rgb(0x6a6a6a))
    case (.light, .key), (.light, .accent): Look(6, 6, .rgb(0x065c88))
    case (.light, .hit): Look(2, 2, .rgb(0x06840a))
    case (.light, .miss): Look(1, 1, .rgb(0xae5c06))
    case (.light, .join): Look(5, 5, .rgb(0x86068a))
    case (.light, .fill): Look(4, 4, .rgb(0x065cac))
    case (.light, .warning): Look(1, 1, .rgb(0x865c06))
    case (.light, .error): Look(1, 1, .rgb(0xd01010))
    // Numbers of the terminal's own palette: whoever needs contrast has set it there.
    case (.contrast, .faint), (.contrast, .border): Look(nil, 7, .own(7))
    case (.contrast, .key), (.contrast, .accent): Look(6, 14, .own(14))
    case (.contrast, .hit): Look(2, 10, .own(10))
    case (.contrast, .miss): Look(3, 11, .own(11))
    case (.contrast, .join): Look(5, 13, .own(13))
    case (.contrast, .fill): Look(6, 14, .own(14))
    case (.contrast, .warning): Look(3, 11, .own(11))
    case (.contrast, .error): nil
    // Apart for those who see no red, no green or no blue; a test computes it.
    case (.distinct, .hit): Look(4, 12, .rgb(0x2f6eee))
    case (.distinct, .miss): Look(3, 11, .rgb(0xa47904))
    case (.distinct, .join): Look(5, 13, .rgb(0xb23bb2))
    case (.distinct, .fill): Look(6, 14, .rgb(0x108c6d))
    case (.distinct, .warning): Look(3, 11, .rgb(0x927f08))
    case (.distinct, .error): Look(1, 9, .rgb(0xcc1d75))
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
