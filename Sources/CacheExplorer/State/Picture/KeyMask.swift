import ExplorerText

/// Other names for keys, so that a picture can be shown to those whom the keys are no business of.
///
/// A key has one name for as long as the program runs, and another the next time: who guesses a key cannot look it up.
package struct KeyMask: Sendable, Equatable {
  /// What stands for a text in which a key may be.
  package static let hidden = "hidden by --mask"

  package var salt: UInt64 = 0
  /// Keys have other names already, as in a masked recording.
  package var isApplied = false

  package init(salt: UInt64 = 0, isApplied: Bool = false) {
    self.salt = salt
    self.isApplied = isApplied
  }

  /// A name such as `key-7f3a9c`.
  package func name(of key: String) -> String {
    guard !isApplied else { return key }
    // FNV-1a, and a finish that mixes its high bits in. It need not be cryptographic: the salt is never shown.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ salt
    for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    let digits = String(hash >> 40, radix: 16)
    return "key-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  /// A text with the names in place of these keys, also where they were made harmless or stand in the address of a resource.
  package func hide(_ keys: [String], in text: String) -> String {
    let spellings = keys.flatMap { key in
      Set([key, harmless(key), Self.encoded(key, but: ""), Self.encoded(key, but: Self.reserved)])
        .filter { !$0.isEmpty }.map { (spelling: $0, name: name(of: key)) }
    }
    // The longest first: one key may begin with another.
    var pieces = [(text: text, isName: false)]
    for (spelling, name) in spellings.sorted(by: { $0.spelling.utf8.count > $1.spelling.utf8.count }) {
      pieces = pieces.flatMap { piece in
        // A name that was put in is looked at no more: a short key may stand in it.
        piece.isName
          ? [piece]
          : Array(Self.split(piece.text, at: spelling).map { [($0, false)] }.joined(separator: [(name, true)]))
      }
    }
    return pieces.map(\.text).joined()
  }

  private static func split(_ text: String, at spelling: String) -> [String] {
    text.unicodeScalars.split(separator: spelling.unicodeScalars, omittingEmptySubsequences: false)
      // Also what only looks the same: a level may know a key in its canonical form.
      .flatMap { String($0).split(separator: spelling, omittingEmptySubsequences: false) }
      .flatMap { split(String($0), atBeginningsOf: spelling) }
  }

  /// Beginnings that are shorter say little, and stand in front of an ellipsis by chance.
  private static let leastBeginning = 4
  /// No error shows more of a key.
  private static let mostBeginning = 2_000

  /// The same for a beginning of it in front of an ellipsis, as errors show long keys and long addresses.
  private static func split(_ text: String, atBeginningsOf spelling: String) -> [String] {
    guard text.unicodeScalars.contains("…") else { return [text] }
    let key = Array(spelling.unicodeScalars.prefix(mostBeginning))
    var pieces: [String] = []
    var shown: [Unicode.Scalar] = []
    for scalar in text.unicodeScalars {
      if scalar == "…" {
        let counts = stride(from: min(key.count, shown.count), through: leastBeginning, by: -1)
        if let count = counts.first(where: { shown.suffix($0).elementsEqual(key.prefix($0)) }) {
          pieces.append(String(String.UnicodeScalarView(shown.dropLast(count))))
          shown = []
        }
      }
      shown.append(scalar)
    }
    return pieces + [String(String.UnicodeScalarView(shown))]
  }

  private static let reserved = ":/?#[]@!$&'()*+,;="

  /// As a key stands in an address: RFC 3986, but for these characters.
  private static func encoded(_ key: String, but kept: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return key.utf8.reduce(into: "") { text, byte in
      let character = Character(Unicode.Scalar(byte))
      let isPlain = character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
      if isPlain || kept.contains(character) {
        text.append(character)
      } else {
        text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
  }
}
