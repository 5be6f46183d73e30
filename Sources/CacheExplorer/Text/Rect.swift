/// A part of the screen.
struct Rect: Equatable, Sendable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  init(x: Int, y: Int, width: Int, height: Int) {
    self.x = Self.clamp(x)
    self.y = Self.clamp(y)
    self.width = max(0, Self.clamp(width))
    self.height = max(0, Self.clamp(height))
  }

  func contains(_ place: Point) -> Bool { (x..<right).contains(place.x) && (y..<bottom).contains(place.y) }

  var right: Int { x + width }
  var bottom: Int { y + height }
  /// What a border around the part leaves inside.
  var inner: Rect { Rect(x: x + 1, y: y + 1, width: max(0, width - 2), height: max(0, height - 2)) }

  /// Far outside every screen is far enough, and arithmetic there cannot overflow.
  static func clamp(_ value: Int) -> Int { min(max(value, -1_000_000), 1_000_000) }
}

extension Style {
  static let faint = Style(role: .faint)
  static let title = Style(role: .title, isBold: true)
  static let border = Style(role: .border)
  static let hit = Style(role: .hit)
  static let miss = Style(role: .miss)
  static let join = Style(role: .join)
  static let fill = Style(role: .fill)
  static let warning = Style(role: .warning, isBold: true)
  static let error = Style(role: .error, isBold: true)
  static let accent = Style(role: .accent)
  static let key = Style(role: .key, isBold: true)

  var reversed: Style { Style(role: role, isBold: isBold, isReversed: !isReversed) }
}
