import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads what the program is given, with failures that carry their exit status.
enum Loaded {
  /// How long a script may be, or a line of it where lines are read as they come.
  static let mostScriptBytes = 16 << 20

  static func file(_ path: String) throws(ProgramFailure) -> CacheConfiguration {
    do { return try ConfigurationFile.load(path) } catch { throw ProgramFailure(.configuration, error.description) }
  }

  static func demo(_ demo: Demo, folder: String) throws(ProgramFailure) -> CacheConfiguration {
    do { return try demo.configuration(folder: folder) } catch {
      throw ProgramFailure(.configuration, error.description)
    }
  }

  /// Reads a workload as the command line writes it behind `run`.
  static func workload(_ text: String) throws(ProgramFailure) -> WorkloadRequest {
    do {
      if let run = try Verbs.parse("run \(text)") as? RunVerb { return run.workload }
      throw ProgramFailure(
        .usage, "error: --run needs a workload; name one of \(WorkloadTable.names.joined(separator: ", "))")
    } catch let error as CommandError {
      throw ProgramFailure(.usage, "error: --run “\(text)”: \(error)")
    } catch { throw ProgramFailure(.usage, "error: \(error)") }
  }

  /// Reads what `--expect` says of a cache.
  static func expectations(
    _ texts: [String], of configuration: CacheConfiguration, hasProxy: Bool = false
  ) throws(ProgramFailure) -> [Expectation] {
    let names = ExpectationNames(configuration, hasProxy: hasProxy)
    var expectations: [Expectation] = []
    for text in texts {
      do {
        let expectation = try Expectation(text)
        try names.check(expectation)
        expectations.append(expectation)
      } catch {
        throw ProgramFailure(.usage, "error: --expect: \(error)\(error.pointed(in: text))")
      }
    }
    return expectations
  }

  /// `path`: `-` for standard input.
  static func script(_ path: String, for configuration: CacheConfiguration) throws(ProgramFailure) -> [any Verb] {
    let name = StandardStreams.name(of: path)
    func failure(_ problem: String) -> ProgramFailure { ProgramFailure(.usage, "\(name): error: \(problem)") }
    let bytes: Data
    do { bytes = try StandardStreams.readFile(path, atMost: mostScriptBytes + 1) } catch {
      let remedy = path == "-" ? "leave it open, or name a file" : "give the path of a file that can be read"
      throw failure("the script cannot be read (\(error)); \(remedy)")
    }
    guard bytes.count <= mostScriptBytes else {
      throw failure("the script has more than \(mostScriptBytes) bytes; divide it")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw failure("this is not a script; a script is text in UTF-8, a command a line")
    }
    do { return try ScriptRunner.parse(text, file: name, names: ExpectationNames(configuration)) } catch {
      throw ProgramFailure(.usage, error.description)
    }
  }
}
