import CacheEngine
package import ExplorerText

/// How it stands with the store under a level that processes share.
package struct SharedStatus: Sendable, Equatable, Codable {
  /// There is a connection at this moment.
  package var isConnected = false
  /// Somebody wants to hear what other processes change.
  package var isAsked = false
  /// For how long nothing has been heard; `nil` while changes are heard, and where nobody asked.
  package var deafFor: Duration?
  /// Why the store does not tell changes, in its words.
  package var refusal: String?
  /// So many changes of single names were heard.
  package var invalidations = 0
  /// So often everything was in doubt.
  package var doubts = 0
  /// Changes that were heard, a second, of late.
  package var perSecond = 0.0
  /// How long the last answer took.
  package var roundTrip: Duration?
  /// So many keys have writes that failed, and are misses until the store has been set right.
  package var unsettled = 0

  package init() {}

  /// Whether there is a connection, and whether changes are heard.
  package var hearing: String {
    guard isAsked else { return isConnected ? "connected" : "not connected" }
    guard let deafFor else { return "listening" }
    return "deaf \(Quantity.text(.seconds(deafFor.components.seconds)))"
  }

  /// What there is to see, in the order of what matters.
  package var items: [String] {
    var items = [deafFor != nil || !isConnected ? "✕ \(hearing)" : hearing]
    if unsettled > 0 { items.append("unsettled \(Format.count(unsettled))") }
    if let roundTrip { items.append("trip \(Format.latency(nanoseconds: roundTrip.clampedNanoseconds))") }
    if isAsked { items.append("told \(Format.perSecond(perSecond))") }
    return items
  }

  /// The same as the beginning of a sentence for somebody who listens.
  package var sentence: String {
    var parts = [
      isAsked
        ? deafFor.map { "it has heard no changes for \(Quantity.text(.seconds($0.components.seconds)))" }
          ?? "it hears what others change"
        : isConnected ? "it is connected" : "it is not connected"
    ]
    if isAsked { parts.append("it was told of \(Format.counted(invalidations, "change"))") }
    if let refusal { parts.append("the store tells none: \(refusal)") }
    if unsettled > 0 { parts.append("\(Format.counted(unsettled, "key")) written in vain") }
    return parts.joined(separator: "; ")
  }

  /// The same for programs.
  package var json: JSONText {
    .object([
      ("connected", .flag(isConnected)), ("listening", isAsked ? .flag(deafFor == nil) : nil),
      ("deafSeconds", deafFor.map { .number(Int($0.components.seconds)) }), ("refusal", refusal.map(JSONText.text)),
      ("invalidations", .number(invalidations)), ("everything", .number(doubts)),
      ("roundTripMicroseconds", roundTrip.map { .microseconds(nanoseconds: $0.clampedNanoseconds) }),
      ("unsettled", .number(unsettled)),
    ])
  }
}
