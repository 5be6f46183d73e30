import CacheEngine

/// What the What if screen shows, and where the reader is.
struct WhatIfSheet: Sendable {
  /// From the top level down; empty until they were asked.
  var reports: [HitRatioReport] = []
  /// How many events never came to where that is estimated.
  var unseen = 0
  /// The line at the top.
  var top = 0
}
