import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerState
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
    for (index, line) in text.lines.enumerated() {
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
  ///
  /// `expecting`: What is expected at the end, also of a script that says `quit`.
  @discardableResult
  func play(_ commands: [any Verb], expecting: [Expectation] = []) async -> Ending {
    let interpreter = Interpreter(opened, mode: .script)
    var ending = Ending(live: opened.live)
    await play(commands, by: interpreter, &ending)
    if !Task.isCancelled { await play(expecting.map(ExpectVerb.init), by: interpreter, &ending) }
    await interpreter.stopWorkload()
    ending.live = interpreter.current.live
    return ending
  }

  /// Answers each line before it waits for the next one, so that whoever writes them can go by the answers.
  ///
  /// A line that is not understood is answered as a command that cannot be carried out is, and the next one is waited for.
  /// Empty lines and comments have no answer.
  ///
  /// `names`: What expectations can be about, until another configuration is loaded. `expecting`: What is expected at the end.
  func play(
    _ lines: AsyncStream<InputLines.Line>, names: ExpectationNames, expecting: [Expectation]
  ) async -> Ending {
    let interpreter = Interpreter(opened, mode: .script)
    var ending = Ending(live: opened.live)
    var names: ExpectationNames? = names
    for await line in lines {
      do throws(CommandError) {
        guard case .text(let text) = line else { throw Self.unreadable(line) }
        guard let command = try Verbs.parse(text.hasSuffix("\r") ? String(text.dropLast()) : text) else { continue }
        if command is LoadVerb { names = nil }
        if let expect = command as? ExpectVerb { try names?.check(expect.expectation) }
        if command is QuitVerb { break }
        await play([command], by: interpreter, &ending)
      } catch {
        ending.refused += 1
        let word = if case .text(let text) = line { text.split(separator: " ").first ?? "" } else { Substring() }
        let result = CommandResult(
          command: String(word), outcome: .error, microseconds: 0, error: "column \(error.column + 1): \(error)")
        print(format == .json ? result.json : result.sentence)
      }
      if Task.isCancelled { break }
    }
    if !Task.isCancelled { await play(expecting.map(ExpectVerb.init), by: interpreter, &ending) }
    await interpreter.stopWorkload()
    ending.live = interpreter.current.live
    return ending
  }

  private static func unreadable(_ line: InputLines.Line) -> CommandError {
    switch line {
    case .text: CommandError(column: 0, message: "", remedy: "")
    case .unreadable(let why):
      CommandError(column: 0, message: why, remedy: "write a command a line, as text in UTF-8")
    case .failed(let why):
      CommandError(
        column: 0, message: "standard input cannot be read (\(why))",
        remedy: "leave it open, or name a file with --script")
    }
  }

  private func play(_ commands: [any Verb], by interpreter: Interpreter, _ ending: inout Ending) async {
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
  }
}

/// A script that cannot be understood: one line for each problem.
struct ScriptFailure: Error, CustomStringConvertible {
  let description: String
}
