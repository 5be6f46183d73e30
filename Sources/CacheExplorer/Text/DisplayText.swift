/// Text that may be shown: the only text that a canvas takes.
///
/// Keys, values, log lines and file names are hostile. Making a `DisplayText` of them turns everything that could move
/// the cursor, hide, or reverse the direction into visible escapes, and cuts text into glyphs of one or two cells.
package struct DisplayText: Equatable, Sendable, ExpressibleByStringInterpolation {
  package private(set) var glyphs: [Glyph] = []
  /// In cells.
  package private(set) var width = 0

  /// The most cells that one text is given; what follows could not be seen anyway.
  static let mostCells = 1024

  package init() {}

  package init(stringLiteral value: String) { self.init(value) }

  package init(_ raw: String, atMost limit: Int = DisplayText.mostCells) {
    guard !appendAlone(raw, atMost: limit) else { return }
    glyphs.removeAll()
    // A single character may be millions of marks long: only a prefix is ever looked at.
    let scalars = raw.unicodeScalars
    let end = scalars.index(scalars.startIndex, offsetBy: limit * 4, limitedBy: scalars.endIndex) ?? scalars.endIndex
    for character in String(scalars[..<end]) {
      if width > limit { break }
      append(character)
    }
    if width > limit || end < scalars.endIndex { cut(to: min(limit, width + 1)) }
  }

  /// Takes a text of nothing but what stands alone, which nearly every text is; whether it was one.
  private mutating func appendAlone(_ raw: String, atMost limit: Int) -> Bool {
    glyphs.reserveCapacity(min(limit, raw.utf8.count))
    for scalar in raw.unicodeScalars {
      guard DisplayWidth.standsAlone(scalar) else { return false }
      guard glyphs.count < limit else {
        width = glyphs.count
        cut(to: limit)
        return true
      }
      glyphs.append(Glyph(scalar))
    }
    width = glyphs.count
    return true
  }

  package init(_ glyphs: some Sequence<Glyph>) {
    for glyph in glyphs { append(glyph) }
  }

  /// A bar, a rule or another row of one glyph of ours.
  package init(repeating glyph: Glyph, count: Int) {
    glyphs = Array(repeating: glyph, count: max(0, min(count, Self.mostCells)))
    width = glyphs.count
  }

  private mutating func append(_ glyph: Glyph) {
    glyphs.append(glyph)
    width += glyph.width
  }

  private mutating func appendSpaces(_ count: Int) {
    guard count > 0 else { return }
    glyphs.append(contentsOf: repeatElement(" ", count: count))
    width += count
  }

  private mutating func append(_ character: Character) {
    var scalars = character.unicodeScalars.makeIterator()
    guard let first = scalars.next() else { return }
    let base = DisplayWidth.classify(first)
    guard var other = scalars.next() else { return append(first, as: base) }
    var glyph = Glyph(first, isWide: base == .wide)
    var marks = 0
    while true {
      guard base == .narrow || base == .wide, DisplayWidth.classify(other) == .mark else {
        return appendSequence(character)
      }
      if marks < Glyph.mostMarks { glyph.set(other, at: marks) }
      marks += 1
      guard let next = scalars.next() else { break }
      other = next
    }
    append(glyph)
  }

  /// Emoji sequences, flags and scripts whose letters join are one `□`: no two terminals agree on their width.
  ///
  /// Whatever hides something is spelled out.
  private mutating func appendSequence(_ character: Character) {
    let isEmoji =
      character.unicodeScalars.first.map { $0.value > 0xff && DisplayWidth.classify($0) != .escaped } ?? false
    let hides = character.unicodeScalars.contains { scalar in
      DisplayWidth.classify(scalar) == .escaped && !(isEmoji && (scalar == "\u{200d}" || scalar == "\u{fe0f}"))
    }
    guard hides else { return append("□" as Glyph) }
    for scalar in character.unicodeScalars { append(scalar, as: DisplayWidth.classify(scalar)) }
  }

  private mutating func append(_ scalar: Unicode.Scalar, as kind: DisplayWidth.Class) {
    switch kind {
    case .narrow: append(Glyph(scalar))
    case .wide: append(Glyph(scalar, isWide: true))
    case .unknown: append("□" as Glyph)
    case .mark, .escaped:
      for unit in Self.escape(of: scalar).unicodeScalars { append(Glyph(unit, isEscape: true)) }
    }
  }

  private static func escape(of scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\0": "\\0"
    case "\t": "\\t"
    case "\n": "\\n"
    case "\r": "\\r"
    case "\u{1b}": "\\e"
    default: "\\u{\(String(scalar.value, radix: 16))}"
    }
  }

  private mutating func cut(to limit: Int) { self = cutOff(at: limit) }
}

extension DisplayText {
  /// At most `limit` cells; what was left out shows as `…` at the end.
  ///
  /// A wide glyph is never split.
  package func clipped(to limit: Int) -> DisplayText { width <= limit ? self : cutOff(at: limit) }

  private func cutOff(at limit: Int) -> DisplayText {
    var result = DisplayText()
    guard limit > 0 else { return result }
    for glyph in glyphs {
      guard result.width + glyph.width < limit else { break }
      result.append(glyph)
    }
    result.append("…" as Glyph)
    return result
  }

  /// At most `limit` cells; what was left out shows as `…` in the middle: the ends of keys tell most.
  package func shortened(to limit: Int) -> DisplayText {
    guard width > limit else { return self }
    guard limit > 4 else { return clipped(to: limit) }
    var tail: [Glyph] = []
    var room = (limit - 1) / 3
    for glyph in glyphs.reversed() {
      guard glyph.width <= room else { break }
      tail.append(glyph)
      room -= glyph.width
    }
    var result = cutOff(at: limit - tail.reduce(0) { $0 + $1.width })
    for glyph in tail.reversed() { result.append(glyph) }
    return result
  }

  /// Exactly `length` cells, filled with spaces on the right.
  package func padded(to length: Int) -> DisplayText {
    var result = clipped(to: length)
    result.appendSpaces(length - result.width)
    return result
  }

  /// Exactly `length` cells, filled with spaces on the left.
  package func rightAligned(to length: Int) -> DisplayText {
    let text = clipped(to: length)
    guard text.width < length else { return text }
    var result = DisplayText()
    result.glyphs.reserveCapacity(length)
    result.appendSpaces(length - text.width)
    result += text
    return result
  }

  /// The text without its first cells.
  package func dropping(cells: Int) -> DisplayText {
    var result = DisplayText()
    var skipped = 0
    for glyph in glyphs {
      if skipped < cells { skipped += glyph.width } else { result.append(glyph) }
    }
    return result
  }

  package static func + (left: DisplayText, right: DisplayText) -> DisplayText {
    var result = left
    result += right
    return result
  }

  package static func += (left: inout DisplayText, right: DisplayText) {
    left.glyphs += right.glyphs
    left.width += right.width
  }
}
