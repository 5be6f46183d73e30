/// A colour of a theme: one of its own, or one that the terminal's owner has set.
package enum Shade: Equatable, Sendable {
  case own(Int)
  /// Red, green and blue, a byte each.
  case rgb(UInt32)

  package struct Color: Equatable, Sendable {
    package var red: Int
    package var green: Int
    package var blue: Int
  }

  /// `nil` for a colour that only the terminal knows.
  var color: Color? {
    guard case .rgb(let value) = self else { return nil }
    return Color(red: Int(value >> 16 & 0xff), green: Int(value >> 8 & 0xff), blue: Int(value & 0xff))
  }

  /// The nearest of the 256 colours that nobody sets otherwise: the cube of 6x6x6 and the greys.
  var number: Int {
    switch self {
    case .own(let number): return number
    case .rgb:
      guard let color else { return 0 }
      let cube = [color.red, color.green, color.blue].map(Self.step)
      let grey = min(23, max(0, ((color.red + color.green + color.blue) / 3 - 3) / 10))
      let greyLevel = 8 + 10 * grey
      let inCube = Color(red: Self.levels[cube[0]], green: Self.levels[cube[1]], blue: Self.levels[cube[2]])
      let isGrey =
        color.distance(to: Color(red: greyLevel, green: greyLevel, blue: greyLevel)) < color.distance(to: inCube)
      return isGrey ? 232 + grey : 16 + 36 * cube[0] + 6 * cube[1] + cube[2]
    }
  }

  private static let levels = [0, 95, 135, 175, 215, 255]

  private static func step(_ part: Int) -> Int {
    levels.indices.min { abs(levels[$0] - part) < abs(levels[$1] - part) } ?? 0
  }
}

extension Shade.Color {
  fileprivate func distance(to other: Self) -> Int {
    let (red, green, blue) = (red - other.red, green - other.green, blue - other.blue)
    return red * red + green * green + blue * blue
  }
}
