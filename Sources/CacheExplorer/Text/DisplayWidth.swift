/// How many cells a scalar takes, and which scalars are never shown as they are.
///
/// A table of our own: the C library's follows the locale and its own age, terminals follow Unicode.
enum DisplayWidth {
  enum Class: Equatable {
    case narrow
    case wide
    /// A mark that is drawn on the character before it.
    case mark
    /// Moves the cursor, hides, turns the direction or cannot be told from another: shown as an escape.
    case escaped
    /// No terminal can be trusted to know it.
    case unknown
  }

  /// The newest Unicode that fonts, terminals and C libraries in use agree on.
  private static let newestAge = 14

  static func classify(_ scalar: Unicode.Scalar) -> Class {
    let value = scalar.value
    if value >= 0x20, value < 0x7f { return .narrow }
    if value < 0xa0 { return .escaped }
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint || properties.isVariationSelector { return .escaped }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .spaceSeparator: return .escaped
    case .unassigned, .privateUse: return .unknown
    case .spacingMark: return .unknown
    case .nonspacingMark, .enclosingMark: return isKnown(properties) ? .mark : .unknown
    default: break
    }
    // The vowels and finals of Hangul, and the halves of flags, join with their neighbours.
    if (0x1160...0x11ff).contains(value) || (0xd7b0...0xd7ff).contains(value) { return .unknown }
    if (0x1f1e6...0x1f1ff).contains(value) || properties.isEmojiModifier { return .unknown }
    guard isKnown(properties) else { return .unknown }
    return isWide(value) ? .wide : .narrow
  }

  /// Whether a scalar takes one cell, whatever is beside it that stands alone as well.
  ///
  /// What nearly all of a screen is made of: ASCII, and the marks of our own. To ask Unicode for each takes most of a frame.
  static func standsAlone(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7e: true
    // Lines, blocks and shapes; arrows; the dot, micro, times, the dash and the ellipsis; about, at most and at least.
    case 0x2500...0x25fc, 0x2190...0x21ff, 0xb7, 0xb5, 0xd7, 0x2014, 0x2026, 0x2248, 0x2264...0x2265: true
    default: false
    }
  }

  private static func isKnown(_ properties: Unicode.Scalar.Properties) -> Bool {
    guard let age = properties.age else { return false }
    return age.major <= newestAge
  }

  private static func isWide(_ value: UInt32) -> Bool {
    if value < wide[0].lowerBound { return false }
    var low = 0
    var high = wide.count
    while low < high {
      let middle = (low + high) / 2
      if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < wide.count && wide[low].contains(value)
  }

  // EastAsianWidth.txt of Unicode 14, W and F, joined across scalars that are not assigned.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
    0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
    0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
    0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
    0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
    0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
    0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9,
    0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F004...0x1F004,
    0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F335,
    0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0,
    0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D,
    0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4,
    0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF,
    0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945,
    0x1F947...0x1F9FF, 0x1FA70...0x1FAF6, 0x20000...0x3134A,
  ]
}
