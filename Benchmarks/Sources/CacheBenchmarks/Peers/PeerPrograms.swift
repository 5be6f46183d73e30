import Foundation

/// Caches of other languages, each in a program of its own that does the same work on as many keys.
///
/// `Scripts/install-bench-peers` puts one script for each into a folder. A script is called with the number of
/// rounds and prints a line for each row: the scenario, the number of threads, the name, and nanoseconds an operation
/// for each round, separated by tabs.
struct PeerPrograms {
  let folder: String

  /// Runs every program once: rows by scenario.
  func run(rounds: Int) throws -> [String: [Comparison.Row]] {
    var rows: [String: [Comparison.Row]] = [:]
    let scripts = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sh") }.sorted()
    for script in scripts {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = [folder + "/" + script, String(rounds)]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        print("\n\(script) failed with status \(process.terminationStatus); its rows are missing")
        continue
      }
      for line in text.split(separator: "\n") {
        let fields = line.split(separator: "\t").map(String.init)
        guard fields.count > 3 else { continue }
        let row = Comparison.Row(name: fields[2], samples: fields.dropFirst(3).compactMap(Double.init))
        rows["\(fields[0]) \(fields[1])", default: []].append(row)
      }
    }
    return rows
  }
}
