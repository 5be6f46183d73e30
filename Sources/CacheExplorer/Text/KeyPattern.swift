/// A regular expression that a key is searched with.
///
/// All ways through it are followed side by side, so that each character of the key is compared 1,000 times at most: an expression
/// has no more to compare it with. `Regex` tries them one after the other, and never ends if there are too many: `(a+)+b` froze the
/// program on a key of 50 letters.
///
/// It finds what `Regex` finds, but for two things: `\b` stands wherever a `\w` is next to something else, so that it sees two words
/// in `a.b`; and a range holds only characters that are one scalar, as `é` is, unless it is written as `e` and an accent.
package struct KeyPattern: Equatable, Sendable {
  /// One thing to be done at a place in the key.
  enum Step: Sendable {
    case one(CharacterSort)
    case condition(Condition)
    /// Go on at each of two steps.
    case either(Int, Int)
    case success
  }

  /// What has to be the case between two characters.
  enum Condition: Sendable { case start, end, boundary, noBoundary }

  package let text: String
  private let steps: [Step]
  private let ignoresCase: Bool

  /// - Throws: If the text is no regular expression, or needs more than such a search can do.
  package init(_ text: String) throws(QuantityError) {
    self.text = text
    var parser = KeyPatternParser(text)
    (steps, ignoresCase) = (try parser.steps(), parser.ignoresCase)
  }

  package static func == (left: KeyPattern, right: KeyPattern) -> Bool { left.text == right.text }

  /// Whether it matches anywhere in the key; `^` and `$` tie it to the ends.
  package func matches(_ key: String) -> Bool {
    var before: Character?
    var now = Places(steps.count)
    var next = now
    for written in key {
      let character = ignoresCase ? written.lowercased().first ?? written : written
      if reach(0, &now, between: before, and: character) { return true }
      next.removeAll()
      // A range may have it in either case.
      let forms = ignoresCase ? [String(written), written.lowercased(), written.uppercased()] : [String(written)]
      let scalars = forms.compactMap { CharacterSort.scalar($0.unicodeScalars) }
      for place in now.waiting {
        guard case .one(let sort) = steps[place], sort.contains(character, scalars) else { continue }
        next.toDo.append(place + 1)
      }
      before = character
      swap(&now, &next)
    }
    return reach(0, &now, between: before, and: nil)
  }

  /// The steps that a search has come to at one place in the key.
  private struct Places {
    /// What comes next, but has not been looked at.
    var toDo: [Int] = []
    /// The steps that wait for a character.
    var waiting: [Int] = []
    private var seen: [Bool]

    init(_ count: Int) { seen = Array(repeating: false, count: count) }

    mutating func isNew(_ place: Int) -> Bool {
      defer { seen[place] = true }
      return !seen[place]
    }

    mutating func removeAll() {
      toDo.removeAll(keepingCapacity: true)
      waiting.removeAll(keepingCapacity: true)
      for place in seen.indices { seen[place] = false }
    }
  }

  /// Goes from a step, and from all that are still to be done, as far as one can without a character.
  ///
  /// - Returns: Whether that is the end of the expression.
  private func reach(_ first: Int, _ places: inout Places, between left: Character?, and right: Character?) -> Bool {
    places.toDo.append(first)
    while let place = places.toDo.popLast() {
      guard places.isNew(place) else { continue }
      switch steps[place] {
      case .one: places.waiting.append(place)
      case .condition(let condition): if Self.holds(condition, left, right) { places.toDo.append(place + 1) }
      case .either(let one, let other): places.toDo += [other, one]
      case .success: return true
      }
    }
    return false
  }

  private static func holds(_ condition: Condition, _ left: Character?, _ right: Character?) -> Bool {
    let isBoundary = (left.map(CharacterSort.isWord) ?? false) != (right.map(CharacterSort.isWord) ?? false)
    return switch condition {
    case .start: left == nil
    case .end: right == nil
    case .boundary: isBoundary
    case .noBoundary: !isBoundary
    }
  }
}

/// A sort of characters: what `a`, `.`, `\d` or `[^a-z]` stands for.
struct CharacterSort: Sendable {
  enum Member: Sendable {
    case one(Character)
    case range(ClosedRange<Unicode.Scalar>)
    case digit, word, space, newline
    indirect case not(Member)
  }

  /// Anything but the end of a line.
  static let any = CharacterSort(members: [.newline], isInverted: true)

  var members: [Member]
  var isInverted = false

  /// `scalars`: What it may be in a range, which holds characters of one scalar.
  func contains(_ character: Character, _ scalars: [Unicode.Scalar]) -> Bool {
    members.contains { Self.holds($0, character, scalars) } != isInverted
  }

  private static func holds(_ member: Member, _ character: Character, _ scalars: [Unicode.Scalar]) -> Bool {
    switch member {
    case .one(let wanted): character == wanted
    case .range(let range): scalars.contains(where: range.contains)
    case .digit: character.isNumber
    case .word: isWord(character)
    case .space: character.isWhitespace
    case .newline: character.isNewline
    case .not(let member): !holds(member, character, scalars)
    }
  }

  /// The scalar, if it is only one.
  static func scalar(_ scalars: some Collection<Unicode.Scalar>) -> Unicode.Scalar? {
    scalars.count == 1 ? scalars.first : nil
  }

  static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
}
