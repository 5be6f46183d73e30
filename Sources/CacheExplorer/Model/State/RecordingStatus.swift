/// How the recording of the session does, for the header of the screen.
struct RecordingStatus: Sendable, Equatable {
  enum Phase: String, Sendable {
    case going
    /// The file has reached its bound; nothing is added any more.
    case full
    /// The file cannot be written any more.
    case broken
  }

  static let leastLimit = 64 << 10

  var phase = Phase.going
  var bytes = 0
  /// Events that happened faster than they could be written.
  var lost = 0

  /// What the header says.
  var text: String {
    switch phase {
    case .going: "● REC \(Format.bytes(bytes))" + (lost > 0 ? " lost \(Format.count(lost))" : "")
    case .full: "■ REC full \(Format.bytes(bytes))"
    case .broken: "✕ REC stopped \(Format.bytes(bytes))"
    }
  }
}
