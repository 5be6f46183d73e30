import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerText

@Suite("Palette")
struct PaletteTests {
  @Test(
    "the depth follows the terminal",
    arguments: [(0, .mono), (7, .mono), (8, .eight), (16, .sixteen), (88, .sixteen), (256, .many), (1 << 24, .many)]
      as [(Int, ColorDepth)])
  func depth(colors: Int, expected: ColorDepth) {
    #expect(ColorDepth.chosen(colors: colors, environment: [:]) == expected)
  }

  @Test("any colour can be had where the terminal or its description says so, and has colours enough for it")
  func fullDepth() {
    for word in ["truecolor", "24bit"] {
      #expect(ColorDepth.chosen(colors: 256, environment: ["COLORTERM": word]) == .full)
      #expect(ColorDepth.chosen(colors: 8, environment: ["COLORTERM": word]) == .eight)
      #expect(ColorDepth.chosen(colors: 256, environment: ["COLORTERM": word, "NO_COLOR": "1"]) == .mono)
    }
    #expect(ColorDepth.chosen(colors: 256, environment: ["COLORTERM": "yes"]) == .many)
    #expect(ColorDepth.chosen(colors: 1 << 24, environment: [:], isDirect: true) == .full)
  }

  @Test("with any colour each role has a number of its own and a colour for it", arguments: Theme.allCases)
  func colorsByNumber(theme: Theme) {
    let palette = Palette(depth: .full, theme: theme)
    let colors = palette.colorsByNumber
    for role in Style.Role.allCases {
      guard let number = palette.appearance(of: Style(role: role)).foreground, number > 15 else { continue }
      #expect(colors[number] != nil, "\(role)")
    }
    #expect(Palette(depth: .many, theme: theme).colorsByNumber.isEmpty)
  }

  @Test("NO_COLOR asks for none, unless it is empty")
  func noColor() {
    #expect(ColorDepth.chosen(colors: 256, environment: ["NO_COLOR": "1"]) == .mono)
    #expect(ColorDepth.chosen(colors: 256, environment: ["NO_COLOR": ""]) == .many)
  }

  @Test("without colours there is no colour", arguments: Style.Role.allCases)
  func mono(role: Style.Role) {
    #expect(Palette(depth: .mono).appearance(of: Style(role: role)).foreground == nil)
  }

  @Test("every colour exists at its depth", arguments: Style.Role.allCases)
  func colorsExist(role: Style.Role) {
    for (depth, count) in [(ColorDepth.eight, 8), (.sixteen, 16), (.many, 256)] {
      #expect(Palette(depth: depth).appearance(of: Style(role: role)).foreground ?? 0 < count)
    }
  }

  @Test("the roles that stand for each other differ without colour as well", arguments: ColorDepth.allCases)
  func secondSign(depth: ColorDepth) {
    func sign(_ role: Style.Role) -> Appearance {
      var look = Palette(depth: depth).appearance(of: Style(role: role))
      look.foreground = nil
      return look
    }
    #expect(sign(.warning) != sign(.plain))
    #expect(sign(.error) != sign(.plain))
    #expect(sign(.error) != sign(.warning))
    #expect(sign(.title) != sign(.plain))
  }

  @Test("hit and miss never look alike", arguments: ColorDepth.allCases)
  func hitAndMiss(depth: ColorDepth) {
    let palette = Palette(depth: depth)
    #expect(palette.appearance(of: Style(role: .hit)) != palette.appearance(of: Style(role: .miss)))
  }

  @Test("bold and reverse come from the style as well", arguments: ColorDepth.allCases)
  func styleFlags(depth: ColorDepth) {
    let palette = Palette(depth: depth)
    #expect(palette.appearance(of: Style(role: .plain, isBold: true)).isBold)
    #expect(palette.appearance(of: Style(role: .plain, isReversed: true)).isReversed)
    // A reversed error must still differ from an error.
    #expect(!palette.appearance(of: Style(role: .error, isReversed: true)).isReversed)
  }

  @Test("every theme has colours of its depth, and hit and miss apart", arguments: Theme.allCases)
  func themes(theme: Theme) {
    for (depth, count) in [(ColorDepth.mono, 0), (.eight, 8), (.sixteen, 16), (.many, 256), (.full, 256)] {
      let palette = Palette(depth: depth, theme: theme)
      for role in Style.Role.allCases {
        let foreground = palette.appearance(of: Style(role: role)).foreground
        #expect(foreground.map { (0..<count).contains($0) } ?? true, "\(depth) \(role)")
        if theme == .mono { #expect(foreground == nil) }
      }
      #expect(palette.appearance(of: Style(role: .hit)) != palette.appearance(of: Style(role: .miss)))
      #expect(palette.appearance(of: Style(role: .warning)) != palette.appearance(of: Style(role: .error)))
    }
  }
}
