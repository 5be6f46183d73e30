#if Redis
import Foundation
import PseudoTerminal
import TestRedis
import Testing

/// The promise of the manual: two terminals, one server.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct TwoTerminalsTests {
  private func open(_ file: String, _ width: Int, _ height: Int) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["open", file], width: width, height: height,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])
    try await terminal.wait(for: "changes to be heard") {
      $0.screen.contains("listening") || $0.screen.contains("heard")
    }
    return terminal
  }

  @Test(
    "the example is open in two terminals, a key is set in one, and leaves the other’s memory at once",
    arguments: [(120, 40), (80, 24)])
  func forgets(width: Int, height: Int) async throws {
    let redis = try await TestRedis()
    let folder = try TemporaryFolder()
    let example = try String(contentsOf: Program.root.appending(path: "Examples/shared.yaml"), encoding: .utf8)
    #expect(example.contains("redis://127.0.0.1:6379"))
    let file = try folder.write(
      example.replacing("redis://127.0.0.1:6379", with: "redis+unix://\(redis.socket)"), to: "shared.yaml")
    let (one, other) = (try await open(file, width, height), try await open(file, width, height))

    func ask(_ terminal: PseudoTerminal, _ command: String, until answer: String) async throws {
      terminal.send(":\(command)")
      terminal.send(.enter)
      try await terminal.wait(for: "“\(answer)” for “\(command)”") { $0.screen.contains(answer) }
    }
    /// Whether the other terminal has the key in its memory, as its list of entries shows by itself.
    @Sendable func row(_ sight: PseudoTerminal.Sight, _ signs: String) -> Bool {
      sight.screen.rows.contains { $0.contains("greeting ") && $0.contains(" \(signs) ") && $0.contains("  ") }
    }
    try await ask(one, "set greeting hello", until: "stored in redis, memory")
    // What is heard after a read has begun keeps its copy away.
    try await other.wait(forText: "forgot greeting")
    try await ask(other, "get greeting", until: "from REDIS")
    try await other.wait(for: "a copy in memory") { row($0, "● ●") }
    try await ask(one, "set greeting bonjour", until: "set greeting bonjour → done")
    // Nobody touches the other terminal.
    try await other.wait(for: "the other to forget") { row($0, "· ●") }
    try await ask(other, "get greeting", until: "7 B from REDIS")
    other.send("v")
    try await other.wait(forText: "bonjour")
    for terminal in [one, other] {
      terminal.send(.escape)
      terminal.send("q")
      #expect(try await terminal.ending() == .exited(0))
    }
  }
}
#endif
