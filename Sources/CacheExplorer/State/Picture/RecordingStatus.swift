import ExplorerText

/// How the recording of the session does, for the header of the screen.
package struct RecordingStatus: Sendable, Equatable, Codable {
  package enum Phase: String, Sendable, CaseIterable, Codable {
    case going
    /// The file has reached its bound; nothing is added any more.
    case full
    /// The file cannot be written any more.
    case broken
  }

  package static let leastLimit = 64 << 10

  package var phase = Phase.going
  package var bytes = 0
  /// Events that happened faster than they could be written.
  package var lost = 0

  package init(phase: Phase = Phase.going, bytes: Int = 0, lost: Int = 0) {
    self.phase = phase
    self.bytes = bytes
    self.lost = lost
  }

  /// What the header says.
  package var text: String {
    switch phase {
    case .going: "● REC \(Format.bytes(bytes))" + (lost > 0 ? " lost \(Format.count(lost))" : "")
    case .full: "■ REC full \(Format.bytes(bytes))"
    case .broken: "✕ REC stopped \(Format.bytes(bytes))"
    }
  }
}
