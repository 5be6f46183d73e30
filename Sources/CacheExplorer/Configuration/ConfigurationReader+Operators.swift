#if Explorer
import ExplorerCommands
import ExplorerText
import Yams

/// The operators, which hold levels.
extension ConfigurationReader {
  mutating func around(_ word: String, _ fields: inout FieldReader, depth: Int) -> LevelSpecification.Kind? {
    let operation = operation(word, &fields)
    let inner = inner(word, &fields, depth: depth)
    guard let operation, let inner else { return nil }
    return .around(operation, inner)
  }

  private mutating func operation(_ word: String, _ fields: inout FieldReader) -> OperatorSpecification? {
    switch word {
    case "pooled": return .pooled
    case "capped":
      return fields.require("limit", "write limit: 3", fields.number("limit", in: 1...1_000_000))
        .map { .capped(limit: $0) }
    case "conditioned": return when(&fields).map { .conditioned($0) }
    case "transformKeys": return steps(&fields, example: "lowercase", Self.keyStep).map { .transformKeys($0) }
    case "transformValues":
      let condition = fields.node("when") == nil ? nil : when(&fields)
      return steps(&fields, example: "gzip") { reader, node in
        reader.valueStep(node, among: ValueStep.stored, fields: [])
      }.map { .transformValues($0, when: condition) }
    case "postProcess":
      let condition = fields.node("when") == nil ? nil : when(&fields)
      return steps(&fields, example: "uppercase") { reader, node in
        reader.valueStep(node, among: ValueStep.read, fields: ValueStep.readFields)
      }.map { .postProcess($0, when: condition) }
    case "expiry": return expiry(&fields)
    case "negative": return negative(&fields)
    case "timeout":
      return fields.require("after", "write after: 2s", fields.quantity("after", Quantity.timeLimit))
        .map { .timeout(after: $0) }
    case "retry": return .retry(retry(&fields))
    case "breaker": return .breaker(breaker(&fields))
    default:
      return fields.require("value", "write value: \"…\"", fields.text("value")).map { .fallback(value: $0) }
    }
  }

  private func expiry(_ fields: inout FieldReader) -> OperatorSpecification? {
    let hasBoth = fields.node("after") != nil && fields.node("maximumAge") != nil
    let after = fields.quantity("after", Quantity.timeLimit)
    let age = fields.quantity("maximumAge", Quantity.timeLimit)
    if hasBoth {
      fields.report(
        "expiry has “after” and “maximumAge”", "give one here, and the other in an expiry of its own around it",
        at: fields.place)
    } else if fields.node("after") == nil, fields.node("maximumAge") == nil {
      fields.report(
        "expiry needs “after” or “maximumAge”", "write after: 30s for what is stored, maximumAge: 5m for what is read",
        at: fields.place)
    }
    let jitter = fields.quantity("jitter", Quantity.probability)
    if jitter != nil, fields.node("after") == nil, let age = fields.node("maximumAge") {
      fields.report(
        "“jitter” of expiry spreads what “after” gives", "give after: 30s, or leave out the jitter", at: age.place)
    }
    return after.map { .expiry(after: $0, jitter: jitter ?? 0) } ?? age.map { .maximumAge($0) }
  }

  private func negative(_ fields: inout FieldReader) -> OperatorSpecification? {
    let lifetime = fields.require("for", "write for: 5s", fields.quantity("for", Quantity.timeLimit))
    let count = fields.number("count", in: 1...10_000_000)
    guard let lifetime else { return nil }
    var negative = NegativeSpecification(lifetime: lifetime)
    if let count { negative.countLimit = count }
    return .negative(negative)
  }

  private func retry(_ fields: inout FieldReader) -> RetrySpecification {
    var retry = RetrySpecification()
    if let attempts = fields.number("attempts", in: 2...1_000) { retry.attempts = attempts }
    if let delay = fields.quantity("delay", Quantity.duration) { retry.delay = delay }
    if let factor = fields.quantity("factor", Self.factor) { retry.factor = factor }
    let maximum = fields.quantity("maximum", Quantity.timeLimit)
    retry.maximum = maximum ?? max(retry.maximum, retry.delay)
    if retry.maximum < retry.delay {
      fields.report(
        "“maximum” of retry is shorter than its “delay”", "give a longer maximum, or a shorter delay",
        at: fields.node("maximum")?.place)
    }
    if let jitter = fields.quantity("jitter", Quantity.probability) { retry.jitter = jitter }
    return retry
  }

  private static func factor(_ text: String) throws(QuantityError) -> Double {
    guard let factor = Double(text), (1...100).contains(factor) else {
      throw QuantityError("“\(text)” is not a factor", "write a number from 1 to 100, such as 2")
    }
    return factor
  }

  private func breaker(_ fields: inout FieldReader) -> BreakerSpecification {
    var breaker = BreakerSpecification()
    if let failures = fields.number("failures", in: 1...1_000_000) { breaker.failures = failures }
    if let reset = fields.quantity("reset", Quantity.timeLimit) { breaker.reset = reset }
    return breaker
  }

  mutating func lanes(_ fields: inout FieldReader, depth: Int) -> LevelSpecification.Kind? {
    let condition = when(&fields)
    let then = lane("then", &fields, depth: depth)
    let otherwise = lane("else", &fields, depth: depth)
    guard let condition, let then, let otherwise else { return nil }
    return .lanes(condition, then: then, otherwise: otherwise)
  }

  private mutating func lane(_ name: String, _ fields: inout FieldReader, depth: Int) -> [LevelSpecification]? {
    guard let node = fields.require(name, "write \(name): and the levels of that lane", fields.node(name)) else {
      return nil
    }
    return part(name, of: "lanes", node, depth: depth)
  }

  mutating func stale(_ fields: inout FieldReader, depth: Int) -> LevelSpecification.Kind? {
    var stale = StaleSpecification(
      whileRevalidate: fields.quantity("whileRevalidate", Quantity.timeLimit),
      ifError: fields.quantity("ifError", Quantity.timeLimit),
      refreshAhead: fields.quantity("refreshAhead", Quantity.timeLimit),
      ifSlow: fields.quantity("ifSlow", Quantity.timeLimit))
    if let slowAfter = fields.quantity("slowAfter", Quantity.timeLimit) { stale.slowAfter = slowAfter }
    let isGiven = ["whileRevalidate", "ifError", "refreshAhead", "ifSlow"].contains { fields.node($0) != nil }
    if !isGiven {
      fields.report(
        "stale does not say when a stale answer is good enough", "write whileRevalidate: 30s, ifError: 10m or both",
        at: fields.place)
    }
    let level = fields.require("level", "write level: { memory: { … } }", fields.node("level"))
    let from = fields.require("from", "write from: { network: { … } }", fields.node("from"))
    let holding = level.flatMap { part("level", of: "stale", $0, depth: depth) }
    let source = from.flatMap { part("from", of: "stale", $0, depth: depth) }
    guard isGiven, let holding, let source else { return nil }
    return .stale(stale, level: holding, from: source)
  }

  /// A field that holds one level or a list of them.
  private mutating func part(_ name: String, of word: String, _ node: Node, depth: Int) -> [LevelSpecification]? {
    guard !node.isEmpty, node.sequence?.isEmpty != true else {
      report("“\(name)” of \(word) needs a level", "write \(name): { memory: { … } }", at: node.place)
      return nil
    }
    let levels = levels(in: node, depth: depth + 1)
    return levels.isEmpty ? nil : levels
  }

  /// `level: …`, `levels: [ … ]`, or a kind among the operator's own fields.
  private mutating func inner(_ word: String, _ fields: inout FieldReader, depth: Int) -> [LevelSpecification]? {
    var inner: [LevelSpecification] = []
    var isGiven = false
    for name in ["levels", "level"] {
      guard let node = fields.node(name), !node.isEmpty, node.sequence?.isEmpty != true else { continue }
      isGiven = true
      inner += levels(in: node, depth: depth + 1)
    }
    // A pool has no other fields, so that everything in it is meant to be a level.
    for field in fields.takeRest(among: word == "pooled" ? nil : Self.kinds) {
      isGiven = true
      if let level = level(field.name, at: field.key.place ?? fields.place, field.value, depth: depth + 1) {
        inner.append(level)
      }
    }
    if !isGiven { reportEmpty(word, at: fields.place) }
    return inner.isEmpty ? nil : inner
  }

  mutating func reportEmpty(_ word: String, at place: Place) {
    let remedy = word == "pooled" ? "write pooled: { network: { … } }" : "write level: { network: { … } }"
    report("\(word) needs a level inside", remedy, at: place)
  }
}
#endif
