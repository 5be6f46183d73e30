import Foundation

/// What was asked for on the command line.
struct Settings: Sendable {
  var isQuick = false
  var isJSON = false
  var only: [String] = []
  var directory = FileManager.default.temporaryDirectory.path
  private var askedChurnSeconds: Double?

  static let usage = """
    usage: DiskBenchmarks [--quick] [--json] [--only NAME]... [--directory PATH] [--churn-seconds N]
      --quick            fewer rounds
      --json             one object with every sample, in place of tables
      --only NAME        points, main, million, tasks, group, amplification, opening, listing,
                         churn; may be given several times
      --directory PATH   where the stores stand while they are measured; default: the temporary directory
      --churn-seconds N  how long the churn of each length runs; default: ten, two with --quick
    """

  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--quick": isQuick = true
      case "--json": isJSON = true
      case "--only":
        guard let name = rest.popFirst() else { return nil }
        only.append(name)
      case "--directory":
        guard let path = rest.popFirst() else { return nil }
        directory = path
      case "--churn-seconds":
        guard let seconds = rest.popFirst().flatMap(Double.init) else { return nil }
        askedChurnSeconds = seconds
      default: return nil
      }
    }
  }

  func asks(for name: String) -> Bool { only.isEmpty || only.contains(name) }
  var rounds: Int { isQuick ? 3 : 7 }
  var churnSeconds: Double { askedChurnSeconds ?? (isQuick ? 2 : 10) }

  /// Runs something in a directory of its own, which goes with it.
  func inFolder<Answer>(_ body: (String) async throws -> Answer) async throws -> Answer {
    let folder = directory + "/disk-bench-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
  }
}
