import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// The manual in `Documentation/Explorer.md`: what it lists is what there is, and what it shows is what the program says.
@Suite(.timeLimit(.minutes(10))) struct ExplorerPageTests {
  private static func page() throws -> String {
    try String(contentsOf: Program.root.appending(path: "Documentation/Explorer.md"), encoding: .utf8)
  }

  /// The block of a page in which a line begins with a text, without that line.
  private func transcript(_ command: String) throws -> [String] {
    let blocks = try Self.page().components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }
    let lines = blocks.map { $0.element.split(separator: "\n").map(String.init) }
    let block = try #require(lines.first { $0.contains { $0.hasPrefix("$ \(command)") } })
    return Array(block.drop { !$0.hasPrefix("$ \(command)") }.dropFirst())
  }

  @Test("the manual lists every level and operator of configurations, and nothing else")
  func kinds() throws {
    var listed: Set<String> = []
    for table in ["| level | fields |", "| operator | fields |"] {
      let rows = try #require(try Self.page().components(separatedBy: table).dropFirst().first)
      for line in rows.components(separatedBy: "\n").dropFirst(2).prefix(while: { $0.hasPrefix("|") }) {
        let words = try #require(line.firstMatch(of: #/^\| `(\w+)`/#))
        #expect(listed.insert(String(words.1)).inserted)
      }
    }
    #expect(listed == Set(ConfigurationReader.kinds))
  }

  @Test("the manual names the verbs, and no subcommand or option that there is not")
  func words() async throws {
    let page = try Self.page()
    for verb in Grammar.commandLine.names {
      #expect(page.firstMatch(of: try Regex("(?m)(^|\\s|`)\(verb)\\b")) != nil, "\(verb)")
    }
    var help = try await Program.run(["--help"]).output
    for command in Set(page.matches(of: #/(?m)(?:^|\$ |\| |`)cache-explorer ([a-z]+)/#).map { String($0.1) }).sorted() {
      let run = try await Program.run([command, "--help"])
      #expect(run.status == 0 && run.output.contains("cache-explorer \(command)"), "\(command)")
      help += run.output
    }
    let options = page.matches(of: #/[ `|](--[a-z][a-z-]+)/#).map { String($0.1) }
    // Options of verbs stand in the grammar.
    let usages = Grammar.commandLine.verbs.map(\.usage).joined(separator: "\n")
    #expect(options.count > 30)
    for option in options { #expect(help.contains(option) || usages.contains(option), "\(option)") }
  }

  @Test("check names the place and the remedy, as the manual shows")
  func check() async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("levels:\n  - memroy: { capacity: 2 MiB }\n", to: "photos.yaml")
    let run = try await Program.run(["check", "photos.yaml"], directory: folder.url)
    #expect(run.status == 3)
    #expect(run.errors.split(separator: "\n").map(String.init) == (try transcript("cache-explorer check photos.yaml")))
  }

  @Test("run answers in JSON as the manual shows, but for sizes and times")
  func json() async throws {
    let folder = try TemporaryFolder()
    let example = try String(
      contentsOf: Program.root.appending(path: "Examples/memory-disk-origin.yaml"), encoding: .utf8)
    let text = example.replacing("latency: 40ms..200ms", with: "latency: 0s")
    #expect(text != example)
    let configuration = try ConfigurationReader.read(text, file: "c.yaml", folder: folder.url.path())
    // While the clock stands still a read waits for its copies, however slow the disk is.
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: ManualClock())
    let lines = Mutex<[String]>([])
    let runner = ScriptRunner(opened: OpenedCache(live: live), format: .json) { line in
      lines.withLock { $0.append(line) }
    }
    await runner.play(try ScriptRunner.parse("get a\nget a\nwarn\nget a\n", file: "script"))
    try await live.close()
    func plain(_ line: some StringProtocol) -> String {
      String(line).replacing(#/size=[^"]*/#, with: "size=…").replacing(
        #/"microseconds":[\d.]+/#, with: "\"microseconds\":0")
    }
    let shown = try transcript("printf 'get a\\nget a\\nwarn\\nget a\\n'").map(plain)
    #expect(lines.withLock { $0 }.map(plain) == shown)
  }

  @Test("an expectation that does not hold is told as the manual shows")
  func expectation() async throws {
    let folder = try TemporaryFolder()
    let example = try String(contentsOf: Program.root.appending(path: "Examples/ci/photos.yaml"), encoding: .utf8)
    let file = try folder.write(example, to: "photos.yaml")
    let run = try await Program.run(["run", file, "--expect", "memory.hit >= 80%"], input: "get a\nget a\n")
    #expect(run.status == 1)
    let shown = try transcript("printf 'get a\\nget a\\n' | cache-explorer run photos.yaml").map(Self.untimed)
    let told = (run.output + run.errors).split(separator: "\n").map { Self.untimed(String($0)) }
    // The answers to the commands are left out there.
    #expect(Array(told.drop { !$0.hasPrefix("expect: ") }) == Array(shown.drop { $0 == "…" }))
  }

  private static func untimed(_ line: String) -> String { line.replacing(#/\d+(\.\d+)? s ago/#, with: "0 s ago") }
}
