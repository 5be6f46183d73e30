import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal
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

  // MARK: What can be read, and told apart

  /// The parts of a colour as amounts of light, from 0 to 1 (sRGB, IEC 61966-2-1).
  private static func light(_ color: Shade.Color) -> [Double] {
    [color.red, color.green, color.blue].map { part in
      let value = Double(part) / 255
      return value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
  }

  /// The contrast of two colours, from 1 to 21 (WCAG 2.2).
  private static func contrast(_ one: Shade.Color, _ other: Shade.Color) -> Double {
    let luminances = [one, other].map { color in
      zip([0.2126, 0.7152, 0.0722], light(color)).reduce(0) { $0 + $1.0 * $1.1 }
    }
    return (luminances.max()! + 0.05) / (luminances.min()! + 0.05)
  }

  private static let coloured: [Style.Role] = [
    .faint, .border, .key, .hit, .miss, .join, .fill, .warning, .error, .accent,
  ]

  private static func color(_ theme: Theme, _ role: Style.Role) throws -> Shade.Color {
    let palette = Palette(depth: .full, theme: theme)
    let number = try #require(palette.appearance(of: Style(role: role)).foreground)
    return try #require(palette.colorsByNumber[number])
  }

  @Test(
    "every role can be read on the backgrounds that its theme is for",
    arguments: [
      (Theme.standard, [0x000000, 0xffffff], 4.0), (.distinct, [0x000000, 0xffffff], 3.9), (.dark, [0x1e1e1e, 0], 4.5),
      (.light, [0xffffff, 0xf4f4f4], 4.2),
    ] as [(Theme, [UInt32], Double)])
  func contrasts(theme: Theme, papers: [UInt32], least: Double) throws {
    for paper in papers {
      for role in Self.coloured {
        let contrast = Self.contrast(try Self.color(theme, role), try #require(Shade.rgb(paper).color))
        #expect(contrast >= least, "\(theme) \(role) on \(paper): \(contrast)")
      }
    }
  }

  /// What those see who lack a kind of cone, for amounts of light (Machado, Oliveira and Fernandes 2009, severity 1).
  private static let sights: [(name: String, matrix: [[Double]])] = [
    ("all colours", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    (
      "no red",
      [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]]
    ),
    (
      "no green",
      [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]]
    ),
    (
      "no blue",
      [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]]
    ),
  ]

  /// Where a colour stands in CIE L*a*b*, in which distances are those that are seen.
  private static func place(_ light: [Double]) -> [Double] {
    let rows = [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
    let parts = zip(rows, [0.9505, 1, 1.0888]).map { row, white in
      let value = zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } / white
      return value > 216.0 / 24_389 ? cbrt(value) : (24_389.0 / 27 * value + 16) / 116
    }
    return [116 * parts[1] - 16, 500 * (parts[0] - parts[1]), 200 * (parts[1] - parts[2])]
  }

  @Test("In the theme “distinct”, hit, miss and error are apart for everybody")
  func apart() throws {
    for sight in Self.sights {
      let places = try [Style.Role.hit, .miss, .error].map { role in
        let light = Self.light(try Self.color(.distinct, role))
        return Self.place(sight.matrix.map { row in min(1, max(0, zip(row, light).reduce(0) { $0 + $1.0 * $1.1 })) })
      }
      for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        let distance = zip(places[one], places[other]).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
        #expect(distance >= 40, "\(sight.name): \(one) and \(other) are \(distance) apart")
      }
    }
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
