/// What the command line asks for.
struct Options {
  var isQuick = false
  var isHuge = false
  /// Only the parts whose names contain one of these.
  var only: [String] = []
  /// Only the tables whose titles contain this.
  var filter = ""
  var json: String?
  var plots: String?
  /// The folder with the peers that are programs of their own.
  var peers: String?
  var check: String?
  var record: String?

  static let usage = """
    usage: CacheBenchmarks [--quick] [--huge] [--only PART]... [--filter TEXT] [--json FILE] [--plots DIR] [--peers DIR]
                           [--check FILE | --record FILE]
      --quick        fewer rounds
      --huge         10 million entries too
      --only PART    memory, footprint, growth, async, stack, glue, inspector, eviction or models
      --filter TEXT  only tables whose titles contain the text
      --json FILE    write every sample
      --plots DIR    draw how cost grows, as SVG (part growth)
      --peers DIR    run the programs that Scripts/install-bench-peers put there
      --check FILE   fail if a row is more than 10 % slower, relative to the floor, than recorded; only what the
                     processor's caches hold
      --record FILE  record the ratios of this run, of the same tables
    """

  init(_ arguments: [String]) throws(Problem) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--quick": isQuick = true
      case "--huge": isHuge = true
      case "--only": only.append(try Self.value(of: argument, &rest))
      case "--filter": filter = try Self.value(of: argument, &rest)
      case "--json": json = try Self.value(of: argument, &rest)
      case "--plots": plots = try Self.value(of: argument, &rest)
      case "--peers": peers = try Self.value(of: argument, &rest)
      case "--check": check = try Self.value(of: argument, &rest)
      case "--record": record = try Self.value(of: argument, &rest)
      default: throw Problem(description: "unknown argument \(argument)\n\(Self.usage)")
      }
    }
  }

  /// What is judged is so short that more rounds cost little, and the quickest of many is the same in every run.
  var rounds: Int { judges ? 41 : isQuick ? 5 : 11 }

  /// Whether only what can be judged is measured.
  var judges: Bool { check != nil || record != nil }

  func wants(_ part: String) -> Bool { only.isEmpty || only.contains { part.contains($0) } }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Problem) -> String {
    guard let value = rest.popFirst() else { throw Problem(description: "\(option) needs a value\n\(usage)") }
    return value
  }
}
