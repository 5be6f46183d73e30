import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

struct OperatorConfigurationTests {
  private func read(_ level: String) throws(ConfigurationFailure) -> LevelSpecification? {
    try ConfigurationReader.read("levels:\n  - \(level)", file: "c.yaml", folder: "/home/me").levels.first
  }

  private func problems(_ level: String) -> [String] {
    do {
      _ = try read(level)
      return []
    } catch { return error.problems.map(\.description) }
  }

  private static let good: [(text: String, operation: OperatorSpecification)] = [
    ("capped: { limit: 3, level: origin }", .capped(limit: 3)),
    ("conditioned: { when: { prefix: \"img:\" }, level: origin }", .conditioned(.prefix("img:"))),
    (
      "transformKeys: { with: [lowercase, { prefix: v1/ }, sha256, { template: \"u/{key}.json\" }], level: origin }",
      .transformKeys([.lowercase, .prefix("v1/"), .sha256, .template("u/{key}.json")])
    ),
    ("transformKeys: { with: { suffix: .json }, level: origin }", .transformKeys([.suffix(".json")])),
    ("transformValues: { with: [gzip, base64], level: origin }", .transformValues([.gzip, .base64])),
    ("transformValues: { with: json, level: origin }", .transformValues([.json])),
    (
      "transformValues: { with: gzip, when: { prefix: \"img:\" }, level: origin }",
      .transformValues([.gzip], when: .prefix("img:"))
    ),
    (
      "postProcess: { with: uppercase, when: { suffix: \".txt\" }, level: origin }",
      .postProcess([.uppercase], when: .suffix(".txt"))
    ),
    (
      "postProcess: { with: [uppercase, { prefix: \"> \" }], level: origin }",
      .postProcess([.uppercase, .prefix("> ")])
    ),
    ("expiry: { after: 30s, level: origin }", .expiry(after: .seconds(30))),
    ("expiry: { after: 30s, jitter: 20%, level: origin }", .expiry(after: .seconds(30), jitter: 0.2)),
    ("expiry: { maximumAge: 5m, level: origin }", .maximumAge(.seconds(300))),
    (
      "negative: { for: 5s, count: 10, level: origin }",
      .negative(NegativeSpecification(lifetime: .seconds(5), countLimit: 10))
    ),
    ("negative: { for: 5s, level: origin }", .negative(NegativeSpecification(lifetime: .seconds(5)))),
    ("timeout: { after: 2s, level: origin }", .timeout(after: .seconds(2))),
    (
      "retry: { attempts: 4, delay: 10ms, factor: 3, maximum: 1s, jitter: 20%, level: origin }",
      .retry(
        RetrySpecification(
          attempts: 4, delay: .milliseconds(10), factor: 3, maximum: .seconds(1), jitter: 0.2))
    ),
    ("retry: { level: origin }", .retry(RetrySpecification())),
    (
      "retry: { delay: 10s, level: origin }", .retry(RetrySpecification(delay: .seconds(10), maximum: .seconds(10)))
    ),
    (
      "breaker: { failures: 2, reset: 1m, level: origin }",
      .breaker(BreakerSpecification(failures: 2, reset: .seconds(60)))
    ),
    ("breaker: { level: origin }", .breaker(BreakerSpecification())),
    ("fallback: { value: \"…\", level: origin }", .fallback(value: "…")),
    ("fallback: { value: \"\", level: origin }", .fallback(value: "")),
  ]

  @Test("Every operator becomes exactly the value that it describes", arguments: good.indices)
  func operators(index: Int) throws {
    let (text, operation) = Self.good[index]
    let level = try #require(try read(text))
    guard case .around(operation, let inner) = level.kind else {
      Issue.record("\(level.kind)")
      return
    }
    #expect(inner.map(\.name) == ["origin"])
    #expect(level.word == operation.word)
    #expect(level.name == operation.word)
  }

  @Test(
    "An operator holds its levels in any of its spellings",
    arguments: [
      "level: origin", "level: { origin: {} }", "level: [origin]", "levels: [origin]", "origin: {}",
      "levels: [{ origin: {} }]",
    ])
  func spellings(inner: String) throws {
    #expect(try read("capped: { limit: 3, \(inner) }")?.inner.map(\.word) == ["origin"])
  }

  @Test("Operators nest, and levels inside are listed after what holds them")
  func nesting() throws {
    let text = "pooled: { capped: { limit: 3, name: three, level: { retry: { levels: [memory, origin] } } } }"
    let names = try #require(try read(text)).withInner.map(\.name)
    #expect(names == ["pool", "three", "retry", "memory", "origin"])
  }

  @Test("Lanes hold a level or a list in each lane")
  func lanes() throws {
    let level = try #require(
      try read("lanes: { when: { suffix: .png }, then: [memory, origin], else: { origin: { seed: 3 } } }"))
    guard case .lanes(.suffix(".png"), let then, let otherwise) = level.kind else {
      Issue.record("\(level.kind)")
      return
    }
    #expect(then.map(\.name) == ["memory", "origin"])
    #expect(otherwise.map(\.name) == ["origin-2"])
    #expect(level.inner.count == 3)
  }

  @Test("A stale composition knows its times, what holds and what is asked")
  func stale() throws {
    let level = try #require(
      try read(
        "stale: { whileRevalidate: 30s, ifError: 10m, refreshAhead: 5s, "
          + "level: { memory: { keepExpired: 10m } }, from: origin }"))
    let expected = StaleSpecification(
      whileRevalidate: .seconds(30), ifError: .seconds(600), refreshAhead: .seconds(5))
    guard case .stale(expected, let holding, let source) = level.kind else {
      Issue.record("\(level.kind)")
      return
    }
    #expect(holding.map(\.keepsExpired) == [.seconds(600)])
    #expect(source.map(\.name) == ["origin"])
    #expect(expected.longest == .seconds(600))
  }

  @Test("Settings have a domain, and a directory below the configuration's")
  func defaults() throws {
    #expect(
      try read("defaults: { domain: com.example, directory: ./settings }")?.kind
        == .defaults(DefaultsSpecification(domain: "com.example", directory: "/home/me/settings")))
    #expect(
      try read("defaults: { domain: com.example }")?.kind == .defaults(DefaultsSpecification(domain: "com.example")))
  }

  @Test(
    "A condition is read in every form",
    arguments: [
      ("{ prefix: a }", .prefix("a"), "prefix a"), ("{ suffix: a }", .suffix("a"), "suffix a"),
      ("{ contains: a }", .contains("a"), "contains a"), ("{ equals: a }", .equals("a"), "equals a"),
      ("{ length: 1..20 }", .length(1...20), "length 1..20"), ("{ length: 3 }", .length(3...3), "length 3..3"),
      ("{ not: { prefix: a } }", .not(.prefix("a")), "not prefix a"),
      ("{ prefix: a, suffix: b }", .all([.prefix("a"), .suffix("b")]), "prefix a and suffix b"),
      (
        "{ any: [{ prefix: a }, { all: [{ suffix: b }, { contains: c }] }] }",
        .any([.prefix("a"), .all([.suffix("b"), .contains("c")])]), "prefix a or (suffix b and contains c)"
      ),
    ] as [(String, KeyCondition, String)])
  func conditions(text: String, condition: KeyCondition, shown: String) throws {
    let level = try #require(try read("conditioned: { when: \(text), level: origin }"))
    #expect(level.kind == .around(.conditioned(condition), level.inner))
    #expect(condition.text == shown)
  }

  @Test("A regular expression is read, and searched for")
  func patterns() throws {
    let level = try #require(try read("conditioned: { when: { matches: \"^user:[0-9]+$\" }, level: origin }"))
    guard case .around(.conditioned(let condition), _) = level.kind else {
      Issue.record("\(level.kind)")
      return
    }
    #expect(condition.text == "matches ^user:[0-9]+$")
    #expect(condition.holds("user:42"))
    #expect(!condition.holds("user:x"))
    #expect(!condition.holds("a user:42"))
  }

  @Test("What is wrong with an operator is told with its place and a remedy", arguments: badOperators.indices)
  func bad(index: Int) {
    let (text, expected) = badOperators[index]
    #expect(problems(text) == expected.map { "c.yaml:2:" + $0 }, "\(text)")
  }
}

private let needsCondition = "error: a condition needs a test; use one of \(KeyCondition.words.joined(separator: ", "))"
private let moreThanNothing = "a time limit of nothing; give more than 0"

private let badOperators: [(text: String, problems: [String])] = [
  ("capped: { level: origin }", ["5: error: capped needs “limit”; write limit: 3"]),
  (
    "capped: { limit: 0, level: origin }",
    ["22: error: “limit” of capped: 0 is out of range; give a number from 1 to 1000000"]
  ),
  (
    "capped: { limit: 3s, level: origin }",
    ["22: error: “limit” of capped: “3s” is not a whole number; write a number such as 1000"]
  ),
  (
    "capped: { limit: 99999999999999999999, level: origin }",
    ["22: error: “limit” of capped: 99999999999999999999 is out of range; give a number from 1 to 1000000"]
  ),
  ("capped: { limit: 3 }", ["5: error: capped needs a level inside; write level: { network: { … } }"]),
  ("capped: { limit: 3, level: }", ["5: error: capped needs a level inside; write level: { network: { … } }"]),
  ("capped: { limit: 3, levels: [] }", ["5: error: capped needs a level inside; write level: { network: { … } }"]),
  ("capped: { limit: 3, level: orgin }", ["32: error: there is no level “orgin”; did you mean “origin”?"]),
  (
    "capped: { limti: 3, level: origin }",
    [
      "5: error: capped needs “limit”; write limit: 3",
      "15: error: capped has no field “limti”; did you mean “limit”?",
    ]
  ),
  ("caped: { limit: 3, level: origin }", ["5: error: there is no level “caped”; did you mean “capped”?"]),
  ("conditioned: { level: origin }", ["5: error: conditioned needs “when”; write when: { prefix: \"img:\" }"]),
  ("conditioned: { when: {}, level: origin }", ["26: \(needsCondition)"]),
  (
    "conditioned: { when: { prefx: a }, level: origin }",
    ["28: error: when has no field “prefx”; did you mean “prefix”?"]
  ),
  (
    "conditioned: { when: a, level: origin }",
    ["26: error: when needs fields in braces or below it; write when: { … }"]
  ),
  (
    "conditioned: { when: { length: 5..1 }, level: origin }",
    ["36: error: “length” of when: 5..1 ends before it begins; put the smaller value first"]
  ),
  (
    "conditioned: { when: { length: -1 }, level: origin }",
    ["36: error: “length” of when: -1 is out of range; give a number from 0 to \(Int.max)"]
  ),
  (
    "conditioned: { when: { matches: \"[\" }, level: origin }",
    [
      "37: error: “matches” of when: “[” is not a regular expression; "
        + "close its brackets, and escape . ( ) [ ] { } * + ?"
    ]
  ),
  (
    "conditioned: { when: { any: [] }, level: origin }",
    ["33: error: “any” needs a list of conditions; write any: [{ prefix: \"img:\" }]"]
  ),
  (
    "lanes: { when: { prefix: a }, then: memory }",
    ["5: error: lanes needs “else”; write else: and the levels of that lane"]
  ),
  (
    "lanes: { when: { prefix: a }, then: [], else: memory }",
    ["41: error: “then” of lanes needs a level; write then: { memory: { … } }"]
  ),
  ("transformKeys: { level: origin }", ["5: error: transformKeys needs “with”; write with: [lowercase]"]),
  (
    "transformKeys: { with: [], level: origin }",
    ["28: error: “with” of transformKeys needs a step; write with: [lowercase]"]
  ),
  (
    "transformKeys: { with: [lowercse], level: origin }",
    ["29: error: there is no step “lowercse”; did you mean “lowercase”?"]
  ),
  (
    "transformKeys: { with: [prefix], level: origin }",
    ["29: error: “prefix” needs a text; write { prefix: \"…\" }"]
  ),
  (
    "transformKeys: { with: [{ template: users }], level: origin }",
    [
      "41: error: the template does not say where the key goes: all keys would become one; put {key} into it"
    ]
  ),
  (
    "transformValues: { with: [uppercase], level: origin }",
    ["31: error: there is no step “uppercase”; use one of gzip, zlib, base64, json"]
  ),
  (
    "expiry: { level: origin }",
    [
      "5: error: expiry needs “after” or “maximumAge”; "
        + "write after: 30s for what is stored, maximumAge: 5m for what is read"
    ]
  ),
  (
    "expiry: { after: 1s, maximumAge: 2s, level: origin }",
    [
      "5: error: expiry has “after” and “maximumAge”; "
        + "give one here, and the other in an expiry of its own around it"
    ]
  ),
  (
    "expiry: { maximumAge: 5m, jitter: 20%, level: origin }",
    ["27: error: “jitter” of expiry spreads what “after” gives; give after: 30s, or leave out the jitter"]
  ),
  (
    "expiry: { after: 1m, jitter: 2, level: origin }",
    ["34: error: “jitter” of expiry: 2 is more than everything; did you mean 2%?"]
  ),
  ("expiry: { after: 0s, level: origin }", ["22: error: “after” of expiry: \(moreThanNothing)"]),
  ("negative: { count: 3, level: origin }", ["5: error: negative needs “for”; write for: 5s"]),
  (
    "timeout: { after: 2, level: origin }", ["23: error: “after” of timeout: “2” has no unit; use us, ms, s, m, h or d"]
  ),
  (
    "retry: { attempts: 1, level: origin }",
    ["24: error: “attempts” of retry: 1 is out of range; give a number from 2 to 1000"]
  ),
  (
    "retry: { factor: 0.5, level: origin }",
    ["22: error: “factor” of retry: “0.5” is not a factor; write a number from 1 to 100, such as 2"]
  ),
  (
    "retry: { jitter: 2, level: origin }",
    ["22: error: “jitter” of retry: 2 is more than everything; did you mean 2%?"]
  ),
  (
    "retry: { delay: 10s, maximum: 1s, level: origin }",
    ["35: error: “maximum” of retry is shorter than its “delay”; give a longer maximum, or a shorter delay"]
  ),
  ("breaker: { reset: 0ms, level: origin }", ["23: error: “reset” of breaker: \(moreThanNothing)"]),
  ("stale: { ifSlow: 0s, level: memory, from: origin }", ["22: error: “ifSlow” of stale: \(moreThanNothing)"]),
  (
    "stale: { ifSlow: 1s, slowAfter: 0s, level: memory, from: origin }",
    ["37: error: “slowAfter” of stale: \(moreThanNothing)"]
  ),
  ("fallback: { level: origin }", ["5: error: fallback needs “value”; write value: \"…\""]),
  (
    "stale: { level: memory, from: origin }",
    [
      "5: error: stale does not say when a stale answer is good enough; "
        + "write whileRevalidate: 30s, ifError: 10m or both"
    ]
  ),
  (
    "stale: { missing: 1%, ifError: 10m, level: memory, from: origin }",
    [
      "14: error: stale has no field “missing”; "
        + "use one of name, whileRevalidate, ifError, refreshAhead, ifSlow, slowAfter, level, from"
    ]
  ),
  (
    "stale: { ifError: 10m, level: memory }",
    ["5: error: stale needs “from”; write from: { network: { … } }"]
  ),
  (
    "stale: { ifError: 10m, level: , from: origin }",
    ["35: error: “level” of stale needs a level; write level: { memory: { … } }"]
  ),
  ("defaults: {}", ["5: error: defaults needs “domain”; write domain: com.example.settings"]),
  (
    "defaults: { domain: a/b }",
    [
      "25: error: “domain” of defaults: “a/b” is no name of settings; use letters, digits, dots, dashes and underscores, as in com.example.app"
    ]
  ),
  (
    "memory: { keepExpired: 10 }",
    ["28: error: “keepExpired” of memory: “10” has no unit; use us, ms, s, m, h or d"]
  ),
]
