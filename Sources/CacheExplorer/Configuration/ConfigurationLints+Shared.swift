import ExplorerText

/// What levels that processes share allow but hardly anybody means.
extension Lints {
  /// So long a silence is served over by nobody who cares.
  private static let longestSilence = Duration.seconds(3_600)

  /// `unheard`: The shared levels whose changes nobody above hears.
  mutating func shared(_ levels: [LevelSpecification], unheard: [LevelSpecification]) {
    for level in unheard where level.isTold("coherence") || level.isTold("whileDeaf") {
      warn(
        "\(level.name) tells what others change, and nothing above it holds copies",
        "put a memory above it, or leave coherence and whileDeaf out", level)
    }
    copies(levels, above: [])
    for level in levels.flatMap(\.withInner) {
      guard case .redis(let redis) = level.kind else { continue }
      if redis.isCoherent, redis.whileDeaf > Self.longestSilence {
        warn(
          "whileDeaf of \(level.name) is hardly a limit: for \(Quantity.text(redis.whileDeaf)) the levels above serve what others have replaced",
          "give seconds, or at most \(Quantity.text(Self.longestSilence))", level)
      }
      if !redis.isCoherent, level.isTold("whileDeaf") {
        warn("\(level.name) has whileDeaf and does not listen", "write coherence: true, or leave whileDeaf out", level)
      }
    }
  }

  /// Levels above a shared one that is not listened to, and that keep copies for ever.
  private mutating func copies(_ levels: [LevelSpecification], above: [LevelSpecification]) {
    var above = above
    for level in levels {
      if case .redis(let redis) = level.kind {
        if !redis.isCoherent, let upper = above.last(where: { $0.lifetime == .some(nil) }) {
          warn(
            "\(upper.name) keeps its copies for ever, and never hears what others change in \(level.name)",
            "write coherence: true, or give \(upper.name) an expiry", level)
        }
      }
      copies(level.inner, above: above)
      if level.lifetime != nil { above.append(level) }
    }
  }
}

extension LevelSpecification {
  fileprivate func isTold(_ field: String) -> Bool { origins.places[field] != nil }
}
