import CacheEngine
package import CacheEngineHitRatio

/// What the What if screen shows, and where the reader is.
package struct WhatIfSheet: Sendable {
  /// From the top level down; empty until they were asked.
  package var reports: [HitRatioReport] = []
  /// How many events never came to where that is estimated.
  package var unseen = 0
  /// The chosen row, counted through all levels.
  package var row = 0

  package init() {}
}
