/// How it stands with the program that the shown cache belongs to.
struct Attachment: Sendable, Equatable {
  /// What stands in the header: `attached 4711 photos`, `folder`.
  var label: String
  /// Why nothing can be changed; `nil` if it can.
  var whyReadOnly: String?
  /// Why there is nobody to ask any more; `nil` while there is.
  var ended: String?

  /// How the header says it.
  var sign: Span {
    if ended != nil { return Span("✕ app gone, trying again", .error) }
    return Span("● " + DisplayText(label).shortened(to: 32), .hit)
  }
}
