import CacheEngine
import ExplorerText

/// What `expect` compares: a figure of the cache, of a level or of an operator with a value.
///
/// `memory.hit >= 80%`, `origin.requests <= 120`, `p99 < 5ms`; `p99 < 5ms lately` is about the last seconds.
package struct Expectation: Equatable, Sendable {
  package enum Comparison: String, CaseIterable, Sendable {
    case atLeast = ">="
    case atMost = "<="
    case more = ">"
    case less = "<"
    case equal = "=="
    case unequal = "!="

    /// As the difference tells it.
    package var words: String {
      switch self {
      case .atLeast: "at least"
      case .atMost: "at most"
      case .more: "more than"
      case .less: "less than"
      case .equal: "exactly"
      case .unequal: "anything but"
      }
    }

    package func holds(_ actual: Double, _ expected: Double) -> Bool {
      switch self {
      case .atLeast: actual >= expected
      case .atMost: actual <= expected
      case .more: actual > expected
      case .less: actual < expected
      case .equal: actual == expected
      case .unequal: actual != expected
      }
    }
  }

  /// The level or operator; `nil` for the whole cache.
  package var owner: String?
  package var figure: ExpectedFigure
  package var comparison: Comparison
  /// A share from 0 to 1, a count, bytes or nanoseconds, as the figure has it.
  package var value: Double
  /// The value as it was written.
  var valueText: String
  /// It is about the last seconds, and not about all since the cache was opened.
  package var isLately = false
  /// Where owner and figure begin, in characters from 0, for what is found out later.
  var ownerColumn = 0
  var figureColumn = 0

  package var name: String { (owner.map { "\($0)." } ?? "") + figure.name }
  package var text: String { "\(name) \(comparison.rawValue) \(valueText)" + (isLately ? " \(Self.lately)" : "") }

  /// What owns the figures of a proxy.
  package static let proxy = "http"

  /// The word behind a value for the last seconds.
  package static let lately = "lately"

  private static let example = "write FIGURE COMPARISON VALUE, as in memory.hit >= 80%"
  private static let signs: Set<Character> = ["<", ">", "=", "!", "≤", "≥", "≠"]

  /// Understands an expectation.
  ///
  /// `column`: Where the text begins in the line, for what is wrong.
  package init(_ text: String, column start: Int = 0) throws(CommandError) {
    let characters = Array(text)
    func fail(_ place: Int, _ message: String, _ remedy: String) -> CommandError {
      CommandError(column: start + place, message: message, remedy: remedy)
    }
    guard let nameStart = characters.firstIndex(where: { !$0.isWhitespace }) else {
      throw fail(0, "nothing is expected", Self.example)
    }
    guard let signStart = characters.firstIndex(where: { Self.signs.contains($0) }) else {
      throw fail(characters.count, "there is no comparison", "use one of \(Self.comparisons), as in memory.hit >= 80%")
    }
    let signEnd = characters[signStart...].firstIndex { !Self.signs.contains($0) } ?? characters.count
    comparison = try Self.comparison(String(characters[signStart..<signEnd]), at: start + signStart)

    let name = String(characters[..<signStart]).trimmingSpaces
    guard !name.isEmpty else { throw fail(signStart, "there is no figure before the comparison", Self.example) }
    // The last dot: the name of a level may have some of its own.
    let dot = name.lastIndex(of: ".")
    owner = dot.map { String(name[..<$0]) }
    let word = dot.map { String(name[name.index(after: $0)...]) } ?? name
    ownerColumn = start + nameStart
    figureColumn = start + nameStart + (owner.map { $0.count + 1 } ?? 0)
    figure = try Self.figure(word, of: owner, at: figureColumn)

    guard let valueStart = characters[signEnd...].firstIndex(where: { !$0.isWhitespace }) else {
      throw fail(characters.count, "there is no value to compare with", "write it in \(figure.unit.words)")
    }
    valueText = String(characters[valueStart...]).trimmingSpaces
    if valueText.hasSuffix(" " + Self.lately) {
      guard !figure.isHeld else {
        throw fail(
          characters.count - Self.lately.count, "\(figure.name) is what is held now, and nothing that was counted",
          "leave out “\(Self.lately)”")
      }
      isLately = true
      valueText = String(valueText.dropLast(Self.lately.count + 1)).trimmingSpaces
    }
    do { value = try figure.value(valueText) } catch {
      throw fail(valueStart, error.message, error.remedy)
    }
  }

  private static var comparisons: String { Comparison.allCases.map(\.rawValue).joined(separator: " ") }

  private static func comparison(_ sign: String, at column: Int) throws(CommandError) -> Comparison {
    if let comparison = Comparison(rawValue: sign) { return comparison }
    switch sign {
    case "≥", "=>": if sign == "≥" { return .atLeast }
    case "≤": return .atMost
    case "≠": return .unequal
    case "=": return .equal
    default: break
    }
    let remedy =
      switch sign {
      case "=>": "did you mean “>=”?"
      case "=<": "did you mean “<=”?"
      case "<>", "!": "did you mean “!=”?"
      default: "use one of \(comparisons)"
      }
    throw CommandError(column: column, message: "“\(sign)” is no comparison", remedy: remedy)
  }

  private static func figure(_ word: String, of owner: String?, at column: Int) throws(CommandError) -> ExpectedFigure {
    let owners: [ExpectedFigure.Owner] = owner == nil ? [.cache] : [.level, .operation, .http]
    let names = ExpectedFigure.names(of: owners)
    guard let figure = ExpectedFigure.named(word) else {
      throw CommandError(
        column: column, message: "there is no figure “\(word)”", remedy: NearestName.remedy(for: word, among: names))
    }
    guard names.contains(word) else {
      throw CommandError(
        column: column, message: "“\(word)” is a figure of one level or operator",
        remedy: "write which, as in \(figure.owners.contains(.level) ? "memory" : "pool").\(word)")
    }
    return figure
  }
}

extension ExpectedFigure.Unit {
  /// What a value is written in.
  fileprivate var words: String {
    switch self {
    case .share: "percent, as in 80%"
    case .count: "a whole number, as in 120"
    case .bytes: "bytes, as in 512 KiB"
    case .time: "a time, as in 5ms"
    }
  }
}

extension ExpectedFigure {
  /// Up to here every count is a `Double` of its own.
  private static let mostCounted = 1 << 53

  fileprivate func value(_ text: String) throws(QuantityError) -> Double {
    switch unit {
    case .share: return try Quantity.probability(text)
    case .count:
      if text.hasSuffix("%") {
        let share: Kind? =
          switch kind {
          case .hits: .hit
          case .misses: .miss
          case .errors: .error
          default: nil
          }
        throw QuantityError(
          "\(name) is a count", share.map { "write \($0.rawValue), which is the share" } ?? "write \(unit.words)")
      }
      let digits = text.filter { $0 != "_" && $0 != " " }
      return Double(try Quantity.number(digits.allSatisfy(\.isNumber) ? digits : text, in: 0...Self.mostCounted))
    case .bytes: return text == "0" ? 0 : Double(try Quantity.bytes(text))
    case .time: return Double(try Quantity.duration(text).clampedNanoseconds)
    }
  }
}

/// The names that expectations can be about: levels, and operators with their kinds.
package struct ExpectationNames: Sendable {
  package var levels: [String]
  package var operators: [(name: String, kind: String)]
  /// There is a proxy in front.
  package var hasProxy: Bool

  package init(levels: [String], operators: [(name: String, kind: String)], hasProxy: Bool = false) {
    self.levels = levels
    self.operators = operators
    self.hasProxy = hasProxy
  }

  /// Checks that there is what an expectation is about.
  package func check(_ expectation: Expectation) throws(CommandError) {
    guard let owner = expectation.owner else { return }
    let figure = expectation.figure
    if owner == Expectation.proxy, hasProxy {
      guard !figure.owners.contains(.http) else { return }
      throw CommandError(
        column: expectation.figureColumn, message: "the proxy has no figure “\(figure.name)”",
        remedy: "use one of \(ExpectedFigure.names(of: [.http]).joined(separator: ", "))")
    }
    if levels.contains(owner) {
      guard !figure.owners.contains(.level) else { return }
      let pool = operators.first { OperatorTraffic().counters(of: $0.kind).contains { $0.name == figure.name } }
      throw CommandError(
        column: expectation.figureColumn, message: "the level \(owner) has no figure “\(figure.name)”",
        remedy: pool.map { "did you mean “\($0.name).\(figure.name)”?" }
          ?? "use one of \(ExpectedFigure.names(of: [.level]).joined(separator: ", "))")
    }
    guard let operation = operators.first(where: { $0.name == owner }) else {
      guard owner != Expectation.proxy else {
        throw CommandError(
          column: expectation.ownerColumn, message: "there is no proxy here, which “\(owner)” stands for",
          remedy: "ask for a level, or use cache-explorer serve")
      }
      throw CommandError(
        column: expectation.ownerColumn, message: "there is no level “\(owner)”",
        remedy: NearestName.remedy(
          for: owner, among: levels + operators.map(\.name) + (hasProxy ? [Expectation.proxy] : [])))
    }
    let names = OperatorTraffic().counters(of: operation.kind).map(\.name)
    guard !names.contains(figure.name) else { return }
    throw CommandError(
      column: expectation.figureColumn, message: "the operator \(owner) has no figure “\(figure.name)”",
      remedy: names.isEmpty ? "ask for a figure of a level" : NearestName.remedy(for: figure.name, among: names))
  }
}
