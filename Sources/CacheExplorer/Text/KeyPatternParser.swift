/// Reads a regular expression and writes the steps of a search for it.
struct KeyPatternParser {
  private typealias Step = KeyPattern.Step

  /// Whether it begins with `(?i)`; then it is read in lower case, apart from ranges.
  private(set) var ignoresCase = false
  private let text: String
  private var rest: Substring

  /// What a character may be compared with, and the steps without a character.
  private static let longest = 1_000

  init(_ text: String) {
    self.text = text
    rest = text[...]
    if take("(?i)") { ignoresCase = true }
  }

  mutating func steps() throws(QuantityError) -> [KeyPattern.Step] {
    let steps = try choice(depth: 0)
    guard rest.isEmpty else { throw malformed }
    return steps + [.success]
  }

  /// Reads expressions with a bar between them, up to a closing bracket or the end.
  ///
  /// - Returns: Steps whose numbers count from the first of them.
  private mutating func choice(depth: Int) throws(QuantityError) -> [Step] {
    guard depth < 50 else { throw tooLong }
    var steps = try sequence(depth: depth)
    while take("|") {
      let other = try sequence(depth: depth)
      // The first goes past the other.
      let (second, end) = (steps.count + 2, steps.count + 2 + other.count)
      steps = [.either(1, second)] + Self.moved(steps, by: 1) + [.either(end, end)] + Self.moved(other, by: second)
      try check(steps)
    }
    return steps
  }

  private mutating func sequence(depth: Int) throws(QuantityError) -> [Step] {
    var steps: [Step] = []
    while let next = rest.first, next != "|", next != ")" {
      let part = try repeated(try atom(depth: depth))
      steps += Self.moved(part, by: steps.count)
      try check(steps)
    }
    return steps
  }

  private mutating func atom(depth: Int) throws(QuantityError) -> [Step] {
    if take("(") {
      if rest.hasPrefix("?"), !take("?:") { throw unsupported }
      let steps = try choice(depth: depth + 1)
      guard take(")") else { throw malformed }
      return steps
    }
    if take("[") { return [.one(try list())] }
    if take(".") { return [.one(.any)] }
    if take("^") || take("\\A") { return [.condition(.start)] }
    if take("$") || take("\\z") { return [.condition(.end)] }
    if take("\\b") { return [.condition(.boundary)] }
    if take("\\B") { return [.condition(.noBoundary)] }
    guard let next = rest.first, !"*+?{".contains(next) else { throw malformed }
    return [.one(CharacterSort(members: [folded(try member())]))]
  }

  /// The members of a list, behind its opening bracket.
  private mutating func list() throws(QuantityError) -> CharacterSort {
    var sort = CharacterSort(members: [], isInverted: take("^"))
    while !take("]") {
      guard sort.members.count < Self.longest else { throw tooLong }
      guard !rest.isEmpty, !rest.hasPrefix("[") else { throw malformed }
      guard !["&&", "--", "~~"].contains(where: { rest.hasPrefix($0) }) else { throw unsupported }
      let first = try member(inList: true)
      guard rest.hasPrefix("-"), !rest.hasPrefix("-]"), !rest.hasPrefix("--"), case .one(let low) = first else {
        sort.members.append(folded(first))
        continue
      }
      _ = take("-")
      guard !rest.isEmpty, case .one(let high) = try member(endsRange: true),
        let low = CharacterSort.scalar(low.unicodeScalars), let high = CharacterSort.scalar(high.unicodeScalars),
        low <= high
      else { throw malformed }
      sort.members.append(.range(low...high))
    }
    guard !sort.members.isEmpty else { throw malformed }
    return sort
  }

  /// A character, or a backslash and what it makes of the next one.
  private mutating func member(inList: Bool = false, endsRange: Bool = false) throws(QuantityError)
    -> CharacterSort.Member
  {
    let character = rest.removeFirst()
    guard character == "\\" else { return .one(character) }
    guard let escaped = rest.popFirst() else { throw malformed }
    switch escaped {
    case "d": return .digit
    case "w": return .word
    case "s": return .space
    case "D": return .not(.digit)
    case "W": return .not(.word)
    case "S": return .not(.space)
    case "t": return .one("\t")
    case "n": return .one("\n")
    case "r":
      // Together they are one character of a key, unless one of them alone is repeated or begins or ends a range.
      let next = rest.dropFirst(2)
      let isApart =
        endsRange || (inList ? next.hasPrefix("-") && !next.hasPrefix("-]") : next.first.map("*+?{".contains) ?? false)
      return .one(!isApart && take("\\n") ? "\r\n" : "\r")
    default:
      guard !escaped.isLetter, !escaped.isNumber else { throw unsupported }
      return .one(escaped)
    }
  }

  /// A character as it is in keys whose case does not matter.
  private func folded(_ member: CharacterSort.Member) -> CharacterSort.Member {
    guard ignoresCase, case .one(let character) = member else { return member }
    return .one(character.lowercased().first ?? character)
  }

  /// The steps as often as what stands behind them says.
  private mutating func repeated(_ steps: [Step]) throws(QuantityError) -> [Step] {
    let range: (least: Int, most: Int?)
    switch rest.first {
    case "*": range = (0, nil)
    case "+": range = (1, nil)
    case "?": range = (0, 1)
    case "{": range = try counts()
    default: return steps
    }
    rest.removeFirst()
    // How much it takes where it may take more or less does not matter to whether it matches.
    _ = take("?")
    guard !rest.hasPrefix("+") else { throw unsupported }
    guard rest.first.map({ !"*?{".contains($0) }) ?? true else { throw malformed }
    let (copies, work) = (range.most ?? range.least, Self.work(steps))
    guard copies <= Self.longest, copies * work + (copies - range.least) <= Self.longest else { throw tooLong }
    var all: [Step] = []
    for _ in 0..<range.least { all += Self.moved(steps, by: all.count) }
    guard let most = range.most else {
      let (start, end) = (all.count, all.count + steps.count + 2)
      return all + [.either(start + 1, end)] + Self.moved(steps, by: start + 1) + [.either(start, start)]
    }
    let end = all.count + (most - range.least) * (steps.count + 1)
    for _ in range.least..<most {
      all.append(.either(all.count + 1, end))
      all += Self.moved(steps, by: all.count)
    }
    return all
  }

  /// What stands in `{2}`, `{2,}`, `{,5}` or `{2,5}`; the closing brace is left.
  private mutating func counts() throws(QuantityError) -> (least: Int, most: Int?) {
    guard let end = rest.firstIndex(of: "}") else { throw malformed }
    let parts = rest[..<end].dropFirst().split(separator: ",", omittingEmptySubsequences: false)
    rest = rest[end...]
    guard (1...2).contains(parts.count) else { throw malformed }
    if parts.count == 1 || parts[1].isEmpty {
      let least = try count(parts[0])
      return (least, parts.count == 1 ? least : nil)
    }
    let (least, most) = (parts[0].isEmpty ? 0 : try count(parts[0]), try count(parts[1]))
    guard most >= least else { throw malformed }
    return (least, most)
  }

  private func count(_ digits: Substring) throws(QuantityError) -> Int {
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { throw malformed }
    guard let count = UInt16(digits) else { throw tooLong }
    return Int(count)
  }

  private mutating func take(_ text: String) -> Bool {
    guard rest.hasPrefix(text) else { return false }
    rest = rest.dropFirst(text.count)
    return true
  }

  private func check(_ steps: [Step]) throws(QuantityError) {
    guard Self.work(steps) <= Self.longest else { throw tooLong }
  }

  /// What all of it takes for one character.
  private static func work(_ steps: [Step]) -> Int {
    steps.reduce(0) { work, step in
      guard case .one(let sort) = step else { return work + 1 }
      return work + sort.members.count
    }
  }

  private static func moved(_ steps: [Step], by distance: Int) -> [Step] {
    steps.map { step in
      guard case .either(let one, let other) = step else { return step }
      return .either(one + distance, other + distance)
    }
  }

  /// As much as tells it apart and leaves room for what is wrong.
  private var quoted: String {
    let scalars = text.unicodeScalars
    return scalars.count > 20 ? "“\(String.UnicodeScalarView(scalars.prefix(18)))…”" : "“\(text)”"
  }

  private var malformed: QuantityError {
    QuantityError("\(quoted) is not a regular expression", "close its brackets, and escape . ( ) [ ] { } * + ?")
  }

  private var unsupported: QuantityError {
    QuantityError(
      "\(quoted) is more than a search of a key can do",
      "use . [ ] ( ) | * + ? { } ^ $ \\d \\w \\s \\b, and (?i) at the beginning")
  }

  private var tooLong: QuantityError {
    QuantityError("\(quoted) has more than \(Self.longest) steps", "repeat less, and nest less")
  }
}
