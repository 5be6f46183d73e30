/// A value that somebody asked to see.
package struct ValueSight: Sendable, Equatable, Codable {
  /// More bytes are not shown.
  package static let mostBytes = 64 << 10

  package enum Content: Sendable, Equatable, Codable {
    case asked
    /// At most ``mostBytes`` of it, and how many there are.
    case bytes([UInt8], of: Int)
    case absent
    case failed(String)
  }

  package var key: String
  /// The level that was read.
  package var level: String?
  package var content = Content.asked

  package init(key: String, level: String?, content: Content = Content.asked) {
    self.key = key
    self.level = level
    self.content = content
  }
}
