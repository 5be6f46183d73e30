#if Explorer
import ExplorerCommands
import ExplorerText
import Yams

/// Conditions on keys, and what is done to keys and values.
extension ConfigurationReader {
  mutating func when(_ fields: inout FieldReader) -> KeyCondition? {
    guard let node = fields.require("when", "write when: { prefix: \"img:\" }", fields.node("when")) else { return nil }
    return condition(node, depth: 0)
  }

  /// Several tests in one condition must all hold.
  private mutating func condition(_ node: Node, depth: Int) -> KeyCondition? {
    let place = node.place ?? Place(line: 1, column: 1)
    guard depth < Self.mostNested else {
      report("conditions are nested too deeply", "nest at most \(Self.mostNested)", at: place)
      return nil
    }
    let before = problems.count
    var fields = FieldReader(node, owner: "when", file: file, place: place)
    var tests: [KeyCondition] = []
    if let text = fields.text("prefix") { tests.append(.prefix(text)) }
    if let text = fields.text("suffix") { tests.append(.suffix(text)) }
    if let text = fields.text("contains") { tests.append(.contains(text)) }
    if let text = fields.text("equals") { tests.append(.equals(text)) }
    if let pattern = fields.quantity("matches", KeyPattern.init) { tests.append(.matches(pattern)) }
    if let length = fields.quantity("length", Self.length) { tests.append(.length(length)) }
    if let inner = fields.node("not"), let test = condition(inner, depth: depth + 1) { tests.append(.not(test)) }
    if let list = fields.node("any"), let all = conditions("any", list, depth: depth) { tests.append(.any(all)) }
    if let list = fields.node("all"), let all = conditions("all", list, depth: depth) { tests.append(.all(all)) }
    problems += fields.finish()
    guard problems.count == before else { return nil }
    guard let first = tests.first else {
      report(
        "a condition needs a test", "use one of \(KeyCondition.words.joined(separator: ", "))", at: place)
      return nil
    }
    return tests.count == 1 ? first : .all(tests)
  }

  private mutating func conditions(_ word: String, _ node: Node, depth: Int) -> [KeyCondition]? {
    guard let sequence = node.sequence, !sequence.isEmpty else {
      report("“\(word)” needs a list of conditions", "write \(word): [{ prefix: \"img:\" }]", at: node.place)
      return nil
    }
    return sequence.compactMap { condition($0, depth: depth + 1) }
  }

  private static func length(_ text: String) throws(QuantityError) -> ClosedRange<Int> {
    try Quantity.range(text) { (text) throws(QuantityError) in try Quantity.number(text, in: 0...Int.max) }
  }

  /// The list in “with”; one step needs no list.
  mutating func steps<Step>(
    _ fields: inout FieldReader, example: String, _ read: (inout Self, Node) -> Step?
  ) -> [Step]? {
    guard let node = fields.require("with", "write with: [\(example)]", fields.node("with")) else { return nil }
    let nodes = node.sequence.map(Array.init) ?? [node]
    guard !nodes.isEmpty, !node.isEmpty else {
      report("“with” of \(fields.owner) needs a step", "write with: [\(example)]", at: node.place)
      return nil
    }
    return nodes.compactMap { read(&self, $0) }
  }

  static func keyStep(_ reader: inout Self, _ node: Node) -> KeyStep? {
    guard let (word, text, place) = reader.step(node, words: KeyStep.words, fields: KeyStep.fields) else { return nil }
    switch (word, text) {
    case ("lowercase", _): return .lowercase
    case ("uppercase", _): return .uppercase
    case ("sha256", _): return .sha256
    case ("prefix", let text?): return .prefix(text)
    case ("suffix", let text?): return .suffix(text)
    case (_, let text?):
      if text.contains("{key}") { return .template(text) }
      reader.report(
        "the template does not say where the key goes: all keys would become one", "put {key} into it", at: place)
      return nil
    default: return nil
    }
  }

  mutating func valueStep(_ node: Node, among words: [String], fields: [String]) -> ValueStep? {
    guard let (word, text, _) = step(node, words: words, fields: fields) else { return nil }
    switch (word, text) {
    case ("prefix", let text?): return .prefix(text)
    case ("suffix", let text?): return .suffix(text)
    default: return ValueStep(word: word)
    }
  }

  /// `word`, or `{ field: text }`.
  private mutating func step(
    _ node: Node, words: [String], fields: [String]
  ) -> (word: String, text: String?, place: Place?)? {
    if let word = node.scalar?.string, words.contains(word) { return (word, nil, node.place) }
    if let mapping = node.mapping, mapping.count == 1, let field = mapping.first, let name = field.key.string,
      fields.contains(name)
    {
      if let text = field.value.scalar?.string, !field.value.isEmpty { return (name, text, field.value.place) }
      report("“\(name)” needs a text", "write { \(name): \"…\" }", at: field.value.place)
      return nil
    }
    let name = node.scalar?.string ?? node.mapping?.first?.key.string ?? ""
    if fields.contains(name) {
      report("“\(name)” needs a text", "write { \(name): \"…\" }", at: node.place)
    } else {
      report("there is no step “\(name)”", NearestName.remedy(for: name, among: words + fields), at: node.place)
    }
    return nil
  }
}
#endif
