/// Finds text in text without regard to the case of ASCII letters, byte by byte.
package struct TextSearch: Sendable, Equatable {
  package let text: String
  private let bytes: [UInt8]
  /// A leading `!` keeps what does not match.
  private let isInverted: Bool

  package init(_ text: String, canInvert: Bool = true) {
    self.text = text
    isInverted = canInvert && text.utf8.count > 1 && text.utf8.first == UInt8(ascii: "!")
    bytes = (isInverted ? text.dropFirst() : text[...]).utf8.map(Self.lowercased)
  }

  package var isEmpty: Bool { bytes.isEmpty }

  package func matches(_ subject: String) -> Bool { isEmpty || contains(subject) != isInverted }

  private func contains(_ subject: String) -> Bool {
    let utf8 = subject.utf8
    guard utf8.count >= bytes.count else { return false }
    var start = utf8.startIndex
    for _ in 0...(utf8.count - bytes.count) {
      if utf8[start...].prefix(bytes.count).lazy.map(Self.lowercased).elementsEqual(bytes) { return true }
      start = utf8.index(after: start)
    }
    return false
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte }
}
