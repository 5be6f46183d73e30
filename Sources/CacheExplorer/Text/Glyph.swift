/// What is drawn as one character: a base and at most four marks on it, or nothing, for the right half of a wide one.
///
/// A plain value without a string: a picture has thousands, which are copied, compared and released.
package struct Glyph: Equatable, Sendable {
  package static let mostMarks = 4
  package static let rightHalf = Glyph()

  /// The base and two marks, 21 bits for each: a scalar's value and one, so that 0 is none.
  private var front: UInt64 = 0
  /// Two more marks, and above them what else there is to know.
  private var back: UInt64 = 0

  private static let scalarBits = 21
  private static let wide: UInt64 = 1 << 62
  private static let escape: UInt64 = 1 << 63

  private init() {}

  package init(_ base: Unicode.Scalar, isWide: Bool = false, isEscape: Bool = false) {
    front = UInt64(base.value) + 1
    if isWide { back |= Self.wide }
    if isEscape { back |= Self.escape }
  }

  /// As wide as its base; what is more than a base and four marks is `?`.
  package init(_ text: String) {
    var scalars = text.unicodeScalars.makeIterator()
    guard let base = scalars.next() else {
      self = .rightHalf
      return
    }
    self.init(base, isWide: !DisplayWidth.standsAlone(base) && DisplayWidth.classify(base) == .wide)
    var count = 0
    while let mark = scalars.next() {
      guard count < Self.mostMarks else {
        self = "?"
        return
      }
      set(mark, at: count)
      count += 1
    }
  }

  package var isEmpty: Bool { front == 0 }
  package var isWide: Bool { back & Self.wide != 0 }
  package var width: Int { isWide ? 2 : 1 }

  /// Part of an escape: drawn reversed, so that it cannot be taken for the text itself.
  var isEscape: Bool {
    get { back & Self.escape != 0 }
    set { back = newValue ? back | Self.escape : back & ~Self.escape }
  }

  package var base: Unicode.Scalar? { Self.scalar(front) }

  package var hasMarks: Bool { front >> Self.scalarBits != 0 }

  package var marks: [Unicode.Scalar] {
    hasMarks ? (0..<Self.mostMarks).compactMap { mark(at: $0) } : []
  }

  package var text: String {
    guard let base else { return "" }
    return hasMarks ? String(String.UnicodeScalarView([base] + marks)) : String(base)
  }

  /// Sets one of the marks; those before it are there.
  mutating func set(_ mark: Unicode.Scalar, at place: Int) {
    let value = UInt64(mark.value) + 1
    if place < 2 {
      front |= value << ((place + 1) * Self.scalarBits)
    } else {
      back |= value << ((place - 2) * Self.scalarBits)
    }
  }

  private func mark(at place: Int) -> Unicode.Scalar? {
    Self.scalar(place < 2 ? front >> ((place + 1) * Self.scalarBits) : back >> ((place - 2) * Self.scalarBits))
  }

  private static func scalar(_ bits: UInt64) -> Unicode.Scalar? {
    let value = UInt32(truncatingIfNeeded: bits & (1 << scalarBits - 1))
    return value == 0 ? nil : Unicode.Scalar(value - 1)
  }
}

extension Glyph: ExpressibleByUnicodeScalarLiteral {
  /// One of ours, of one cell.
  package init(unicodeScalarLiteral value: Unicode.Scalar) { self.init(value) }
}
