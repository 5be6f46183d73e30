import CacheEngine
import ExplorerState
import ExplorerText

/// What a figure on the screen means: its definition, unit, window, and the counter that it is made of.
package struct Figure: Sendable {
  var name: String
  /// What it is now, for the row that is chosen; empty if the figure has no single value.
  var value = ""
  var definition: String
  var unit: String
  /// The time that it is about.
  var window: String
  /// The events that it counts.
  var source: String
}

/// The figures of a panel, with what they are now.
package struct FigureTable: Sendable {
  package var title: String
  package var figures: [Figure]

  init(_ title: String, _ figures: [Figure]) {
    self.title = title
    self.figures = figures
  }

  // The windows that figures are about.
  static let session = "since the start"
  static let last = "last \(SecondRing.rateWindow) s"
  /// The last seconds are the one under way and the five before it.
  static let windows = session + "; with R the \(last)"

  static func percent(_ part: Int, _ whole: Int) -> String {
    whole > 0 ? Format.percent(part, of: whole) + "%" : Format.none
  }

  static func span(_ duration: Duration) -> String {
    Format.span(seconds: duration.clampedNanoseconds / 1_000_000_000)
  }
}
