import CacheEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Plays the lines of a script on a cache and prints an answer for each.
struct ScriptRunner {
  enum Format: String, Sendable, CaseIterable { case text, json }

  let opened: OpenedCache
  let format: Format
  /// Where answers go, a line at a time.
  let print: @Sendable (String) -> Void

  /// Understands every line of a script, before any is carried out.
  ///
  /// - Returns: The commands, or everything that is wrong, each with its place.
  static func parse(_ text: String, file: String) throws(ScriptFailure) -> [Command] {
    var commands: [Command] = []
    var problems: [String] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.hasSuffix("\r") ? line.dropLast() : line
      do {
        if let command = try Command.parse(String(line)) { commands.append(command) }
      } catch {
        problems.append("\(file):\(index + 1):\(error.column + 1): error: \(error)")
      }
    }
    guard problems.isEmpty else { throw ScriptFailure(description: problems.joined(separator: "\n")) }
    return commands
  }

  /// - Returns: The cache in use at the end, for the caller to close.
  @discardableResult
  func play(_ commands: [Command]) async -> LiveCache {
    let interpreter = Interpreter(opened, mode: .script)
    for command in commands {
      if command == .quit { break }
      let result = await interpreter.run(command)
      switch format {
      case .text: print(result.sentence)
      case .json: print(command == .stats ? interpreter.current.live.statisticsJSON : result.json)
      }
      if Task.isCancelled { break }
    }
    await interpreter.stopWorkload()
    return interpreter.current.live
  }
}

/// A script that cannot be understood: one line for each problem.
struct ScriptFailure: Error, CustomStringConvertible {
  let description: String
}
