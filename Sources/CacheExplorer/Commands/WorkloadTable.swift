package import ExplorerText

/// The workloads that there are, and what can be asked of them: one table for parsing, help and completion.
package enum WorkloadTable {
  package struct Row: Sendable {
    package let name: String
    package let line: String
    /// Requests a second.
    package let rate: Double
    package let keys: Int
    /// What may be given to it beside a rate, a number of requests and a seed.
    fileprivate let options: [String]
  }

  package static let all = [
    Row(
      name: "zipf", line: "a few keys are asked for often, most seldom (skew 0.99)",
      rate: 20, keys: 1_000, options: ["keys", "key", "skew"]),
    Row(name: "uniform", line: "every key is as likely as any other", rate: 20, keys: 1_000, options: ["keys", "key"]),
    Row(name: "scan", line: "every key once, in order, and never again", rate: 50, keys: 1_000_000, options: ["key"]),
    Row(name: "loop", line: "all keys in order, round and round", rate: 50, keys: 500, options: ["keys", "key"]),
    Row(name: "burst", line: "everybody wants one key at the same time", rate: 100, keys: 1, options: ["key"]),
    Row(
      name: "mixed", line: "zipf, and every twentieth request is a set",
      rate: 20, keys: 1_000, options: ["keys", "key", "skew"]),
    Row(name: "trace", line: "the requests of a file, given with --file", rate: 50, keys: 1, options: ["file"]),
  ]

  /// The requests a second that may be asked for: from one in a quarter of an hour up to more than any cache answers.
  static let rates = 0.001...10_000_000

  /// Stands for a rate: as fast as the cache answers.
  static let fastest = "max"

  /// How much more often the first keys of a Zipf distribution are asked for, if nobody says otherwise.
  package static let usualSkew = 0.99

  /// Requests a second, or `max` for infinitely many.
  package static func rate(_ text: String) throws(QuantityError) -> Double {
    if text == fastest { return .infinity }
    guard let rate = Double(text.filter { $0 != "_" }), rates.contains(rate) else {
      throw QuantityError("“\(text)” is not a rate", "write requests a second, such as 100, or \(fastest)")
    }
    return rate
  }

  /// What only some workloads use.
  package static let ownOptions = ["keys", "key", "skew", "file"]

  /// Refuses an option that a workload would ignore.
  package static func check(_ option: String, of name: String) throws(QuantityError) {
    guard let row = named(name), !row.options.contains(option) else { return }
    let users = all.filter { $0.options.contains(option) }.map(\.name).joined(separator: ", ")
    throw QuantityError("\(name) does not use it", "leave it out; it is for \(users)")
  }

  /// The exponent of a Zipf distribution.
  package static func skew(_ text: String) throws(QuantityError) -> Double {
    guard let skew = Double(text), (0...10).contains(skew) else {
      throw QuantityError("“\(text)” is not a skew", "write a number from 0 (uniform) to 10, such as 0.99")
    }
    return skew
  }

  /// How many keys a workload asks for again and again; `nil` where it never comes back to one, or a file tells.
  package static func keys(of request: WorkloadRequest) -> Int? {
    guard !["scan", "trace"].contains(request.name) else { return nil }
    return request.keys ?? named(request.name)?.keys
  }

  package static var names: [String] { all.map(\.name) }

  package static func named(_ name: String) -> Row? { all.first { $0.name == name } }
}
