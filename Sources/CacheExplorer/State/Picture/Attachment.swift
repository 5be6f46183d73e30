package import ExplorerText

/// How it stands with the program that the shown cache belongs to.
package struct Attachment: Sendable, Equatable, Codable {
  /// What stands in the header: `attached 4711 photos`, `folder`.
  package var label: String
  /// Why nothing can be changed; `nil` if it can.
  package var whyReadOnly: String?
  /// Why there is nobody to ask any more; `nil` while there is.
  package var ended: String?
  /// Since when it answers nothing, as a time of day; `nil` while it does.
  package var silentSince: Duration?

  package init(label: String, whyReadOnly: String? = nil, ended: String? = nil) {
    self.label = label
    self.whyReadOnly = whyReadOnly
    self.ended = ended
  }

  /// How the header says it.
  ///
  /// `timeOfDay`: The milliseconds of the reader's day at a time of day.
  package func sign(timeOfDay: (Duration) -> Int64) -> Span {
    if ended != nil { return Span("✕ app gone, trying again", .error) }
    if let silentSince {
      return Span("✕ not answering since \(Format.clock(seconds: timeOfDay(silentSince) / 1_000))", .error)
    }
    return Span("● " + DisplayText(label).shortened(to: 32), .hit)
  }
}
