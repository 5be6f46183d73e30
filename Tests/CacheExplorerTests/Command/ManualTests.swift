#if Explorer
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct ManualTests {
  @Test(
    "The manual names every verb, key, workload, demonstration, kind of level and exit status",
    arguments: Manual.Format.allCases)
  func complete(format: Manual.Format) {
    let text = Manual.text(format).replacing("\\-", with: "-").replacing("\\e", with: "\\")
    for verb in Grammar.commandLine.verbs {
      #expect(text.contains(verb.usage) && text.contains(verb.line), "\(verb.name)")
    }
    for binding in KeyTable.bindings { #expect(text.contains(binding.does), "\(binding.name)") }
    for workload in WorkloadTable.all { #expect(text.contains(workload.line)) }
    for demo in Demo.all { #expect(text.contains(demo.caption)) }
    for kind in ConfigurationReader.kinds { #expect(text.contains(kind)) }
    for status in ExitStatus.all { #expect(text.contains(status.status) && text.contains(status.meaning)) }
    for command in ["open", "check", "run", "replay", "compare", "demo"] {
      #expect(text.contains("cache-explorer \(command) "), "\(command)")
    }
    for option in [
      "--plain", "--screen", "--ascii", "--color", "--theme", "--read-only", "--mask", "--clipboard", "--once",
      "--strict", "--record", "--replay", "--export",
    ] {
      #expect(text.contains(option), "\(option)")
    }
  }

  @Test("No line of the manual begins with what roff would take for a request of ours")
  func roff() {
    let known = [".TH", ".SH", ".PP", ".TP", ".nf", ".fi"]
    for line in Manual.text(.roff).split(separator: "\n") where line.first == "." || line.first == "'" {
      #expect(known.contains { line.hasPrefix($0) }, "\(line)")
    }
  }

  @Test("Every verb has a command that is written with it, and the word of a command is a verb")
  func verbs() throws {
    let examples = [
      "get a", "set a b", "del a", "clear", "expire a", "warn", "run zipf", "stop", "speed 1", "advance 1s",
      "fault a off", "load a", "reload", "mark a", "filter a", "sort key", "export a.csv", "record a", "replay a",
      "jump 1s", "log info", "expect hit>=1%", "stats", "status", "whatif", "monitor 5s", "undo", "config", "help",
      "quit",
    ]
    var seen: Set<String> = []
    for line in examples {
      let command = try #require(try Verbs.parse(line))
      #expect(line.hasPrefix(command.name))
      seen.insert(command.name)
    }
    #expect(seen == Set(Grammar.commandLine.names))
  }
}
#endif
