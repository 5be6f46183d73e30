/// Other names for keys, so that a picture can be shown to those whom the keys are no business of.
///
/// A key has one name for as long as the program runs, and another the next time: who guesses a key cannot look it up.
struct KeyMask: Sendable, Equatable {
  var salt: UInt64 = 0
  /// Keys have other names already, as in a masked recording.
  var isApplied = false

  /// A name such as `key-7f3a9c`.
  func name(of key: String) -> String {
    guard !isApplied else { return key }
    // FNV-1a, and a finish that mixes its high bits in. It need not be a secret's match: the salt is never shown.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ salt
    for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    let digits = String(hash >> 40, radix: 16)
    return "key-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  /// A text with the names in place of these keys.
  func hide(_ keys: [String], in text: String) -> String {
    // The longest first: one key may begin with another.
    keys.filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }
      .reduce(text) { $0.replacing($1, with: name(of: $1)) }
  }
}
