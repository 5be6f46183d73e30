import Foundation
import Testing

@testable import CacheExplorer

@Suite struct CommandParserTests {
  @Test(
    "lines are understood",
    arguments: [
      ("get a", .get(key: "a", level: nil)),
      ("  get 'a b' --level disk  # why", .get(key: "a b", level: "disk")),
      (#"get "a\x1b\u{e9}\n\"b""#, .get(key: "a\u{1b}\u{e9}\n\"b", level: nil)),
      (#"get a\ b"#, .get(key: "a b", level: nil)),
      ("get -- --level", .get(key: "--level", level: nil)),
      ("get '--level'", .get(key: "--level", level: nil)),
      ("get ''", .get(key: "", level: nil)),
      ("set a b --ttl 30s", .set(key: "a", value: .text("b"), timeToLive: .seconds(30), level: nil)),
      ("set a @/tmp/x", .set(key: "a", value: .file("/tmp/x"), timeToLive: nil, level: nil)),
      ("set a '@x' --level memory", .set(key: "a", value: .text("@x"), timeToLive: nil, level: "memory")),
      ("del a", .delete(key: "a")), ("clear", .clear(level: nil)), ("clear --all", .clear(level: nil)),
      ("clear disk", .clear(level: "disk")), ("expire a", .expire(key: "a")), ("expire --all", .expire(key: nil)),
      ("warn", .warn), ("stop", .stop), ("stats", .stats), ("quit", .quit), ("log info", .log(level: "info")),
      ("help", .help(verb: nil)), ("help get", .help(verb: "get")),
      (
        "run burst --requests 50 --key x --rate 2.5 --seed 7 --keys 9",
        .run(WorkloadRequest(name: "burst", rate: 2.5, requests: 50, seed: 7, keys: 9, key: "x"))
      ),
    ] as [(String, Command)])
  func understood(line: String, command: Command) throws {
    #expect(try Command.parse(line) == command)
  }

  @Test("empty lines and comments are no commands", arguments: ["", "   ", "# get a", "\t# x"])
  func nothing(line: String) throws {
    #expect(try Command.parse(line) == nil)
  }

  @Test(
    "what is wrong is told with its column and a remedy",
    arguments: [
      ("gte a", 0, "did you mean “get”?"), ("get", 3, "write get KEY"), ("get a b", 6, "one word too many"),
      ("get a --levle x", 6, "did you mean “--level”?"), ("get a --level", 13, "--level needs a value"),
      ("get 'a", 4, "a quote is not closed"), (#"get a\q"#, 5, "there is no escape"),
      (#"get "\xg0""#, 5, "two hexadecimal"),
      ("set a b --ttl 30", 14, "has no unit"), ("log loud", 4, "there is no log level"),
      ("run zpif", 4, "did you mean “zipf”?"),
      ("run zipf --rate -1", 16, "is not a rate"), ("expire", 6, "needs more"),
      ("clear disk --all", 11, "--all stands alone"),
      ("help gte", 5, "did you mean “get”?"), ("run zipf --seed 1 --seed 2", 18, "is given twice"),
    ])
  func refused(line: String, column: Int, message: String) {
    do {
      let command = try Command.parse(line)
      Issue.record("\(line) was understood as \(String(describing: command))")
    } catch {
      #expect(error.column == column)
      #expect(error.description.contains(message), "\(error)")
    }
  }

  @Test("no line whatever makes the parser trap", arguments: 0..<4)
  func fuzz(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let parts = [
      "get", "set", "run", "--", "--ttl", "'", "\"", "\\", "\\x", "\\u{", "}", " ", "#", "é", "\u{202e}", "30s", "@",
      "a",
    ]
    for _ in 0..<5_000 {
      let line = (0..<Int.random(in: 0..<12, using: &generator)).map { _ in parts.randomElement(using: &generator) ?? ""
      }
      _ = try? Command.parse(line.joined())
    }
  }

  @Test("every verb has a name of its own, a line of help, and a simplest use that is understood")
  func verbs() throws {
    #expect(Set(Verb.all.map(\.name)).count == Verb.all.count)
    let simplest = ["run": "zipf", "log": "info"]
    for verb in Verb.all {
      let arguments = (0..<verb.required).map { _ in simplest[verb.name] ?? "x" }
      let line = ([verb.name] + arguments + (verb.name == "expire" ? ["--all"] : [])).joined(separator: " ")
      #expect(try Command.parse(line) != nil, "\(line)")
      #expect(!verb.line.isEmpty)
      #expect(Verb.help(verb.name)?.hasPrefix(verb.usage) == true)
    }
  }
}
