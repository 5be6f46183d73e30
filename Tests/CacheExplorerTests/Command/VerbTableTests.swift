import Testing

@testable import ExplorerModel

struct VerbTableTests {
  @Test("No two verbs have one name, and every verb has a line of help of its own")
  func unique() {
    #expect(Set(Verb.all.map(\.name)).count == Verb.all.count)
    #expect(Set(Verb.all.map(\.line)).count == Verb.all.count)
    #expect(Verb.all.allSatisfy { !$0.name.isEmpty && !$0.line.isEmpty && $0.usage.hasPrefix($0.name) })
  }

  @Test("Every verb is understood in its simplest use", arguments: Verb.all.map(\.name))
  func simplest(name: String) throws {
    let verb = try #require(Verb.named(name))
    let words = verb.arguments.prefix(verb.required).map { argument in
      switch argument {
      case .workload: "zipf"
      case .logLevel: "info"
      case .verb: "get"
      case .severity: "low"
      case .fault: "down"
      case .amount: name == "speed" ? "2" : "1s"
      case .column: "ttl"
      case .file: "a.json"
      case .expectation: "hit>=1%"
      case .recording: "a.rec"
      case .moment: "1s"
      case .key, .value, .level, .text: "a"
      }
    }
    // `expire` alone would be a dangerous slip: it wants to be told that everything is meant.
    let line = ([name] + words + (name == "expire" ? ["--all"] : [])).joined(separator: " ")
    #expect(try Command.parse(line) != nil)
  }

  @Test("Every option is named in the usage, with what stands behind it", arguments: Verb.all.map(\.name))
  func options(name: String) throws {
    let verb = try #require(Verb.named(name))
    for option in verb.options {
      #expect(verb.usage.contains(option.value.map { "[\(option.name) \($0)]" } ?? option.name))
    }
  }

  @Test("Help tells of every verb, and of one in full")
  func help() throws {
    let all = try #require(Verb.help(nil))
    #expect(all.split(separator: "\n").count == Verb.all.count)
    #expect(Verb.help("get") == "get KEY [--level L]: read through the levels")
    let run = try #require(Verb.help("run"))
    for workload in WorkloadTable.names { #expect(run.contains("\n  \(workload): ")) }
    #expect(Verb.help("elephant") == nil)
  }

  @Test("The usage follows the first word of the line")
  func usage() {
    #expect(Verb.usage(for: "  stop now") == "stop — stop the workload")
    #expect(Verb.usage(for: "war") == nil)
    #expect(Verb.usage(for: "") == nil)
  }
}
