import Foundation
import Testing

@testable import CacheExplorer

/// What is printed for programs, and the page that describes it.
@Suite(.timeLimit(.minutes(10))) struct SchemaTests {
  private static let configuration = """
    levels:
      - memory: { capacity: 1 MiB, expiry: 1h }
      - disk: { directory: ./d, capacity: 4 MiB }
      - pooled:
          breaker: { failures: 3, level: { origin: { latency: 0s, seed: 7 } } }
    """

  @Test("Every answer of a command fits its schema")
  func answers() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.configuration, to: "c.yaml")
    let entries = folder.url.appending(path: "entries.json").path()
    let run = try await Program.run(
      ["run", file, "--format", "json"],
      input: """
        get a
        get a
        set b "\\xff"
        get b
        get none --level memory
        expire a
        warn
        clear memory
        del b
        undo
        advance 1s
        speed 2
        fault origin error 100%
        get c
        fault origin off
        run zipf --requests 50
        expect memory.hit >= 0%
        expect nowhere.hit >= 0%
        expect p99 < 1ns
        gte a
        help
        log info
        mark here
        filter a
        sort key
        config
        status
        whatif
        export \(entries)
        stats
        """)
    let (answer, statistics) = (try JSONSchema(named: "answer"), try JSONSchema(named: "statistics"))
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 30, "\(run.errors)")
    #expect(
      lines.dropFirst().contains { $0.contains(/"microseconds":\d+\.\d/) },
      "a fast answer has fractions of a microsecond")
    for line in lines.dropLast() { #expect(answer.faults(in: line) == [], "\(line)") }
    #expect(statistics.faults(in: try #require(lines.last)) == [])
    let written = try String(contentsOfFile: entries, encoding: .utf8)
    #expect(try JSONSchema(named: "entries").faults(in: written) == [])
    #expect(written.contains("\"key\""))
  }

  @Test("What replay, compare and open print fits its schema")
  func reports() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.configuration, to: "c.yaml")
    let second = try folder.write(
      "levels:\n  - memory: { count: 2, policy: lru }\n  - origin: { latency: 0s, seed: 7 }\n", to: "d.yaml")
    let trace = (0..<200).map { "key:\($0 % 30)\n" }.joined()
    for (schema, arguments) in [
      ("statistics", ["replay", file, "--trace", "-", "--format", "json"]),
      ("statistics", ["open", file, "--run", "zipf --requests 20", "--json"]),
      ("curves", ["replay", file, "--trace", "-", "--what-if", "--format", "json"]),
      ("comparison", ["compare", file, second, "--trace", "-", "--format", "json"]),
    ] {
      let run = try await Program.run(arguments, input: trace)
      #expect(run.status == 0, "\(run.errors)")
      let line = try #require(run.output.split(separator: "\n").last.map(String.init))
      #expect(try JSONSchema(named: schema).faults(in: line) == [], "\(arguments)")
      #expect(line.hasPrefix(#"{"version":1,"#))
    }
  }

  @Test("The validator finds what it is there for")
  func validator() throws {
    let schema = try JSONSchema(named: "answer")
    for wrong in [
      #"{"outcome":"hit","microseconds":1}"#, #"{"command":"get","outcome":"perhaps","microseconds":1}"#,
      #"{"command":"get","outcome":"hit","microseconds":"1"}"#,
      #"{"command":"get","outcome":"hit","microseconds":true}"#,
      #"{"command":"get","outcome":"hit","microseconds":1,"colour":"red"}"#,
      #"{"command":"get","outcome":"hit","microseconds":1,"value":{"base65":""}}"#, "[]", "{",
    ] { #expect(!schema.faults(in: wrong).isEmpty, "\(wrong)") }
    #expect(!JSONSchema(["maximum": 3]).faults(in: "4").isEmpty, "what it does not understand it does not let pass")
  }

  @Test("The page names every schema, and every exit status as the manual does")
  func page() throws {
    let page = try String(contentsOf: Program.root.appending(path: "Documentation/JSON.md"), encoding: .utf8)
    for file in try FileManager.default.contentsOfDirectory(
      atPath: Program.root.appending(path: "Documentation/json").path())
    {
      #expect(page.contains("(json/\(file))"))
    }
    for (status, meaning) in ExitStatus.all { #expect(page.contains("| \(status) | \(meaning) |")) }
  }
}
