/// Which colours stand for what.
package enum Theme: String, CaseIterable, Sendable, Codable {
  /// The one that `t` chooses after this one.
  package var next: Theme {
    let all = Self.allCases
    return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
  }

  /// Of a middle lightness, readable on black and on white.
  case standard
  /// For a dark background, and for a light one.
  case dark, light
  /// As far from the background as can be, and bold.
  case contrast
  /// Hit, miss and error in colours that those who see no red, no green or no blue tell apart.
  case distinct
  /// No colours at all.
  case mono
}
