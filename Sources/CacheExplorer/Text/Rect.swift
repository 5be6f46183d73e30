/// A part of the screen.
package struct Rect: Equatable, Sendable {
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int

  package init(x: Int, y: Int, width: Int, height: Int) {
    self.x = Self.clamp(x)
    self.y = Self.clamp(y)
    self.width = max(0, Self.clamp(width))
    self.height = max(0, Self.clamp(height))
  }

  package func contains(_ place: Point) -> Bool { (x..<right).contains(place.x) && (y..<bottom).contains(place.y) }

  /// One of its rows, counted from the top.
  package func row(_ line: Int) -> Rect { Rect(x: x, y: y + line, width: width, height: 1) }

  package var right: Int { x + width }
  package var bottom: Int { y + height }
  /// What a border around the part leaves inside.
  package var inner: Rect { Rect(x: x + 1, y: y + 1, width: max(0, width - 2), height: max(0, height - 2)) }

  /// Far outside every screen is far enough, and arithmetic there cannot overflow.
  static func clamp(_ value: Int) -> Int { min(max(value, -1_000_000), 1_000_000) }
}

extension Style {
  package static let faint = Style(role: .faint)
  package static let title = Style(role: .title, isBold: true)
  package static let border = Style(role: .border)
  package static let hit = Style(role: .hit)
  package static let miss = Style(role: .miss)
  package static let join = Style(role: .join)
  package static let fill = Style(role: .fill)
  package static let warning = Style(role: .warning, isBold: true)
  package static let error = Style(role: .error, isBold: true)
  package static let accent = Style(role: .accent)
  package static let key = Style(role: .key, isBold: true)

  package var reversed: Style { Style(role: role, isBold: isBold, isReversed: !isReversed) }
}
