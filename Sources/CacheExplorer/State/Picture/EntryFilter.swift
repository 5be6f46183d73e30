package import CacheEngine
package import ExplorerText

/// Which entries are listed: words that all must hold.
///
/// `text` is looked for in the key, `/re/` as a regular expression; `level:disk`, `ttl:<10s`, `age:>5m`, `size:>1M`,
/// `hits:>3` ask for what a column shows; `!` before any of them turns it round.
package struct EntryFilter: Sendable, Equatable {
  private enum Test: Sendable, Equatable {
    case text(TextSearch)
    case pattern(KeyPattern)
    /// A word from the name of a level.
    case level(String)
    case noExpiry
    case time(left: Bool, Comparison, Duration)
    case size(Comparison, Int)
    case hits(Comparison, Int)
    case expired
  }

  private enum Comparison: Sendable { case less, more, equal }

  private struct Term: Sendable, Equatable {
    var isInverted: Bool
    var test: Test
  }

  /// As typed.
  package let text: String
  private var terms: [Term] = []
  /// A word that cannot be understood, which is left out, and what is wrong with it.
  package private(set) var problem: (word: String, error: QuantityError)?

  package init(_ text: String) {
    self.text = text
    for word in text.split(separator: " ") { add(String(word)) }
  }

  package var isEmpty: Bool { terms.isEmpty }

  /// What matches changes as time goes by.
  var dependsOnTime: Bool {
    terms.contains { term in
      switch term.test {
      case .time, .expired: true
      default: false
      }
    }
  }

  package static func == (left: EntryFilter, right: EntryFilter) -> Bool { left.text == right.text }

  private mutating func add(_ word: String) {
    let isInverted = word.hasPrefix("!") && word.utf8.count > 1
    let word = isInverted ? String(word.dropFirst()) : word
    do throws(QuantityError) {
      terms.append(Term(isInverted: isInverted, test: try Self.test(word)))
    } catch {
      problem = (word, error)
    }
  }

  private static func test(_ word: String) throws(QuantityError) -> Test {
    if word.utf8.count > 2, word.hasPrefix("/"), word.hasSuffix("/") {
      return .pattern(try KeyPattern(String(word.dropFirst().dropLast())))
    }
    guard let colon = word.firstIndex(of: ":"), let name = Name(rawValue: word[..<colon].lowercased()) else {
      return .text(TextSearch(word, canInvert: false))
    }
    let value = String(word[word.index(after: colon)...])
    if name == .level { return .level(value.lowercased()) }
    if name == .ttl, ["none", "never"].contains(value.lowercased()) { return .noExpiry }
    if name == .ttl, value.lowercased() == "expired" { return .expired }
    let (comparison, number) = comparison(value)
    switch name {
    case .size: return .size(comparison, try bytes(number))
    case .hits:
      guard let count = Int(number) else { throw QuantityError("“\(number)” is not a number", "write hits:>3") }
      return .hits(comparison, count)
    case .ttl, .age: return .time(left: name == .ttl, comparison, try Quantity.duration(number))
    case .level: return .level(value)
    }
  }

  private enum Name: String { case level, ttl, age, size, hits }

  private static func comparison(_ text: String) -> (Comparison, String) {
    switch text.first {
    case "<": (.less, String(text.dropFirst()))
    case ">": (.more, String(text.dropFirst()))
    case "=": (.equal, String(text.dropFirst()))
    default: (.equal, text)
    }
  }

  /// `1M` is short for `1 MiB`.
  private static func bytes(_ text: String) throws(QuantityError) -> Int {
    let units = ["k": "KiB", "m": "MiB", "g": "GiB"]
    if let last = text.last, let unit = units[last.lowercased()] {
      return try Quantity.bytes("\(text.dropLast()) \(unit)")
    }
    if let count = Int(text), count >= 0 { return count }
    return try Quantity.bytes(text)
  }
}

extension EntryFilter {
  package func matches(_ row: EntryTable.Row, levels: [LevelRow], at now: CacheInstant) -> Bool {
    terms.allSatisfy { Self.holds($0.test, row, levels, now) != $0.isInverted }
  }

  private static func holds(
    _ test: Test, _ row: EntryTable.Row, _ levels: [LevelRow], _ now: CacheInstant
  ) -> Bool {
    switch test {
    case .text(let search): return search.matches(row.key)
    case .pattern(let pattern): return pattern.matches(row.key)
    case .level(let name):
      return zip(levels, row.presence).contains { $1 != nil && $0.name.lowercased().hasPrefix(name) }
    case .noExpiry: return row.topmost.map { $0.deadline == nil } ?? false
    case .expired: return row.topmost?.deadline.map { $0 <= now } ?? false
    case .time(let isLeft, let comparison, let wanted):
      if isLeft {
        guard let deadline = row.topmost?.deadline else { return false }
        return compare(max(.zero, now.duration(to: deadline)), comparison, wanted)
      }
      guard let created = row.created else { return false }
      return compare(created.duration(to: now), comparison, wanted)
    case .size(let comparison, let wanted): return row.size.map { compare($0, comparison, wanted) } ?? false
    case .hits(let comparison, let wanted): return compare(row.hits, comparison, wanted)
    }
  }

  private static func compare<Value: Comparable>(_ value: Value, _ comparison: Comparison, _ wanted: Value) -> Bool {
    switch comparison {
    case .less: value < wanted
    case .more: value > wanted
    case .equal: value == wanted
    }
  }
}
