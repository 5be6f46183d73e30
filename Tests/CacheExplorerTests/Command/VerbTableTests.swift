import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

struct VerbTableTests {
  @Test("Every verb that has a file is in the table that help, completion, manual and scripts are made of")
  func complete() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources/CacheExplorer/Cache/Verbs")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix("Verb.swift") && $0 != "Verb.swift"
    }
    #expect(Set(files) == Set(Verbs.all.map { "\($0).swift" }))
  }

  @Test("No two verbs have one name, and every verb has a line of help of its own")
  func unique() {
    #expect(Set(Grammar.commandLine.names).count == Grammar.commandLine.verbs.count)
    #expect(Set(Grammar.commandLine.verbs.map(\.line)).count == Grammar.commandLine.verbs.count)
    for verb in Grammar.commandLine.verbs {
      #expect(!verb.name.isEmpty && !verb.line.isEmpty && verb.usage.hasPrefix(verb.name))
    }
  }

  @Test("Every verb is understood in its simplest use", arguments: Grammar.commandLine.names)
  func simplest(name: String) throws {
    let verb = try #require(Grammar.commandLine.named(name))
    let words = verb.arguments.prefix(verb.required).map { argument in
      switch argument {
      case .choice(let words): name == "fault" ? "down" : words[0]
      case .verb: "get"
      case .amount: name == "speed" ? "2" : "1s"
      case .file: "a.json"
      case .expectation: "hit>=1%"
      case .key, .value, .level, .text: "a"
      }
    }
    // `expire` alone would be a dangerous slip: it wants to be told that everything is meant.
    let line = ([name] + words + (name == "expire" ? ["--all"] : name == "jump" ? ["warning"] : [])).joined(
      separator: " ")
    #expect(try Verbs.parse(line) != nil)
  }

  @Test("Every option is named in the usage, with what stands behind it", arguments: Grammar.commandLine.names)
  func options(name: String) throws {
    let verb = try #require(Grammar.commandLine.named(name))
    for option in verb.options {
      #expect(verb.usage.contains(option.value.map { "[\(option.name) \($0)]" } ?? option.name))
    }
  }

  @Test("Help tells of every verb, and of one in full")
  func help() throws {
    let all = try #require(Grammar.commandLine.help(nil))
    #expect(all.split(separator: "\n").count == Grammar.commandLine.verbs.count)
    #expect(Grammar.commandLine.help("get") == "get KEY [--level L]: read through the levels")
    let run = try #require(Grammar.commandLine.help("run"))
    for workload in WorkloadTable.names { #expect(run.contains("\n  \(workload): ")) }
    #expect(Grammar.commandLine.help("elephant") == nil)
  }

  @Test("The usage follows the first word of the line")
  func usage() {
    #expect(Grammar.commandLine.usage(for: "  stop now") == "stop — stop the workload")
    #expect(Grammar.commandLine.usage(for: "war") == nil)
    #expect(Grammar.commandLine.usage(for: "") == nil)
  }
}
