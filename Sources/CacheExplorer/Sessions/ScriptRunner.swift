import CacheEngine
import ExplorerCache
import ExplorerModel
import ExplorerText

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
  ///
  /// `names`: What expectations can be about, as far as the script does not load another configuration.
  static func parse(
    _ text: String, file: String, names: ExpectationNames? = nil
  ) throws(ScriptFailure) -> [any Verb] {
    var names = names
    var commands: [any Verb] = []
    var problems: [String] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.hasSuffix("\r") ? line.dropLast() : line
      do {
        guard let command = try Verbs.parse(String(line)) else { continue }
        if command is LoadVerb { names = nil }
        if let expect = command as? ExpectVerb { try names?.check(expect.expectation) }
        commands.append(command)
      } catch {
        problems.append("\(file):\(index + 1):\(error.column + 1): error: \(error)" + error.pointed(in: String(line)))
      }
    }
    guard problems.isEmpty else { throw ScriptFailure(description: problems.joined(separator: "\n")) }
    return commands
  }

  /// What is left when a script has been played.
  struct Ending: Sendable {
    /// The cache in use at the end, for the caller to close.
    var live: LiveCache
    var expectations = 0
    /// How many of them failed: those that could not be understood as well.
    var failed = 0
    /// Commands that could not be carried out: what follows them was asked of another cache than was meant.
    var refused = 0
  }

  /// Plays everything: an expectation that fails does not keep the next ones from being told.
  @discardableResult
  func play(_ commands: [any Verb]) async -> Ending {
    let interpreter = Interpreter(opened, mode: .script)
    var ending = Ending(live: opened.live)
    for command in commands {
      if command is QuitVerb { break }
      let result = await interpreter.run(command)
      switch format {
      case .text: print(result.sentence)
      case .json: print(command is StatsVerb ? interpreter.current.live.statisticsJSON : result.json)
      }
      if command is ExpectVerb {
        ending.expectations += 1
        if result.outcome == .error { ending.failed += 1 }
      } else if result.isRefused {
        ending.refused += 1
      }
      if Task.isCancelled { break }
    }
    await interpreter.stopWorkload()
    ending.live = interpreter.current.live
    return ending
  }
}

/// A script that cannot be understood: one line for each problem.
struct ScriptFailure: Error, CustomStringConvertible {
  let description: String
}
