/// A strict reader of the text format 0.0.4: it refuses whatever Prometheus may refuse, and what makes no sense.
struct Exposition {
  struct Refusal: Error, CustomStringConvertible {
    var description: String
  }

  struct Series: Hashable {
    var name: String
    var labels: [String: String]
  }

  private(set) var types: [String: String] = [:]
  private(set) var samples: [Series: Double] = [:]

  init(_ text: String) throws(Refusal) {
    guard text.isEmpty || text.utf8.last == UInt8(ascii: "\n") else {
      throw Refusal(description: "no end of the last line")
    }
    var helped: Set<String> = []
    var family = ""
    // By scalars, since to Swift `\r\n` is one character.
    for line in text.unicodeScalars.split(separator: "\n").map({ String($0) }) {
      if line.hasPrefix("# ") {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count == 4 else { throw Refusal(description: "a comment without content: \(line)") }
        if words[1] == "HELP" {
          guard helped.insert(words[2]).inserted else { throw Refusal(description: "two helps: \(line)") }
        } else {
          guard words[1] == "TYPE", ["counter", "gauge", "histogram"].contains(words[3]), types[words[2]] == nil else {
            throw Refusal(description: "no type, or the second: \(line)")
          }
          family = words[2]
          types[family] = words[3]
        }
        continue
      }
      let (series, value) = try Self.sample(line)
      let endings = types[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
      guard endings.contains(where: { series.name == family + $0 }) else {
        throw Refusal(description: "a sample outside its family: \(line)")
      }
      guard samples.updateValue(value, forKey: series) == nil else { throw Refusal(description: "twice: \(line)") }
    }
    for (name, type) in types where type == "histogram" { try checkHistogram(name) }
  }

  subscript(name: String, labels: [String: String]) -> Double? { samples[Series(name: name, labels: labels)] }

  func all(_ name: String) -> [Series] { samples.keys.filter { $0.name == name } }

  private func checkHistogram(_ name: String) throws(Refusal) {
    var buckets: [[String: String]: [(bound: Double, count: Double)]] = [:]
    for (series, count) in samples where series.name == name + "_bucket" {
      guard let text = series.labels["le"], let bound = text == "+Inf" ? .infinity : Double(text) else {
        throw Refusal(description: "a bucket without bound: \(series)")
      }
      buckets[series.labels.filter { $0.key != "le" }, default: []].append((bound, count))
    }
    guard Set(buckets.keys) == Set(all(name + "_count").map(\.labels)),
      Set(buckets.keys) == Set(all(name + "_sum").map(\.labels))
    else { throw Refusal(description: "\(name) has not one sum and one count for each histogram") }
    for (labels, unordered) in buckets {
      let ordered = unordered.sorted { $0.bound < $1.bound }
      guard ordered.last?.bound == .infinity, ordered.last?.count == self[name + "_count", labels] else {
        throw Refusal(description: "\(name) \(labels): the last bucket is not all")
      }
      for (lower, higher) in zip(ordered, ordered.dropFirst()) {
        guard lower.bound < higher.bound, lower.count <= higher.count else {
          throw Refusal(description: "\(name) \(labels): the buckets do not add up")
        }
      }
    }
  }

  private static func sample(_ line: String) throws(Refusal) -> (Series, Double) {
    var rest = line.unicodeScalars[...]
    func fail(_ why: String) -> Refusal { Refusal(description: "\(why): \(line)") }
    func word() throws(Refusal) -> String {
      let word = rest.prefix {
        ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "_"
      }
      guard let first = word.first, !("0"..."9").contains(first) else { throw fail("no name") }
      rest = rest[word.endIndex...]
      return String(word)
    }
    func take(_ scalar: Unicode.Scalar) throws(Refusal) {
      guard rest.popFirst() == scalar else { throw fail("no \(scalar)") }
    }
    let name = try word()
    var labels: [String: String] = [:]
    if rest.first == "{" {
      try take("{")
      while true {
        let label = try word()
        try take("=")
        try take("\"")
        var value = String.UnicodeScalarView()
        reading: while true {
          switch rest.popFirst() {
          case "\"": break reading
          case "\\":
            switch rest.popFirst() {
            case "n": value.append("\n")
            case "\\": value.append("\\")
            case "\"": value.append("\"")
            default: throw fail("no such escape")
            }
          case let scalar?: value.append(scalar)
          case nil: throw fail("no end of a label")
          }
        }
        guard labels.updateValue(String(value), forKey: label) == nil else { throw fail("a label twice") }
        if rest.first == "," { try take(",") } else { break }
      }
      try take("}")
    }
    try take(" ")
    guard let value = Double(String(rest)), !value.isNaN else { throw fail("no number") }
    return (Series(name: name, labels: labels), value)
  }
}
