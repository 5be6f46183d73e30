import CacheEngine

/// One run of a check: the level, and what was found wrong.
struct ContractTrial<Level: CacheLevel> where Level.Value: Equatable {
  let subject: LevelUnderTest<Level>
  let name: String
  let check: String
  private(set) var violations: [ContractViolation] = []

  init(subject: LevelUnderTest<Level>, name: String, check: String) {
    self.subject = subject
    self.name = name
    self.check = check
  }

  var level: Level { subject.level }

  mutating func report(_ expected: String, _ seen: String) {
    violations.append(ContractViolation(level: name, check: check, expected: expected, seen: seen))
  }

  mutating func expect<Seen: Equatable>(_ what: String, _ seen: Seen, is expected: Seen) {
    guard seen != expected else { return }
    report("\(what) to be \(Self.text(expected))", Self.text(seen))
  }

  mutating func expect<Seen: Equatable>(_ what: String, _ seen: Seen, isOneOf expected: [Seen]) {
    guard !expected.contains(seen) else { return }
    let choices = expected.reduce(into: []) { $0.append(Self.text($1)) }.joined(separator: " or ")
    report("\(what) to be \(choices)", Self.text(seen))
  }

  mutating func expectGet(_ key: Level.Key, is expected: Level.Value?, _ when: String = "") async throws {
    expect("the value of \(Self.text(key))\(when)", try await level.get(key), is: expected)
  }

  /// The clock of an expiring level; a check ends where the one who wrote the test forgot it.
  func clock() throws -> ManualClock {
    guard let clock = subject.clock else { throw IncompleteFixture("an expiring level needs a clock") }
    return clock
  }

  func reopened() async throws -> Level {
    guard let reopen = subject.reopen else { throw IncompleteFixture("a durable level needs a way to reopen it") }
    return try await reopen(level)
  }

  // Long keys and values would bury the sentence that they stand in.
  private static func text(_ value: some Any) -> String {
    let text = String(reflecting: value)
    return text.count <= 80 ? text : "\(text.prefix(80))… (\(text.count) characters)"
  }
}

/// Something that a check needs is missing in the ``LevelUnderTest``.
struct IncompleteFixture: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
