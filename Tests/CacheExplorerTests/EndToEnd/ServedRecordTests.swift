#if Explorer
import Foundation
import LoopbackServer
import PseudoTerminal
import Testing

/// `serve --record` as a process on a terminal of its own, with curl before it.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Curl.path != nil, "curl is not installed"))
struct ServedRecordTests {
  private static let path = "/-/with?Cache-Control:max-age=100000&ETag:%22a%22&Vary:Accept-Language&X-Owner:geheim"

  /// Records a session in which a page was asked for twice.
  ///
  /// `shown`: What stands on the screen for the page.
  private func record(
    in folder: borrowing TemporaryFolder, _ arguments: [String], shown: String
  ) async throws -> (file: String, rows: [String]) {
    let server = try LoopbackServer()
    defer { server.stop() }
    let configuration = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let file = folder.url.appending(path: "served.rec").path()
    let terminal = try PseudoTerminal(
      Program.path,
      arguments: ["serve", configuration, "--http", "127.0.0.1:0", "--origin", server.address, "--record", file]
        + arguments,
      width: 120, height: 40,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": folder.url.path()])
    try await terminal.wait(for: "the picture") { $0.screen.rows[0].contains("● REC ") }
    let place = try #require(terminal.sight.screen.rows[0].firstMatch(of: /(:\d+)\ →/))
    let address = "http://127.0.0.1\(place.1)"
    let fields = ["--header", "Accept-Language: geheim", "--header", "Cookie: geheim"]
    for _ in 0..<2 { #expect(try await Curl.run(fields + [address + Self.path]).output == "the content") }
    try await terminal.wait(for: "both requests") { sight in
      sight.screen.contains("200 forwarded") && sight.screen.contains("200 hit") && sight.screen.contains(shown)
    }
    let rows = terminal.sight.screen.rows
    terminal.send("q")
    try await terminal.wait(forText: "quit?")
    terminal.send("y")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.modes == terminal.modesBefore)
    return (file, rows)
  }

  @Test("a session of a proxy is recorded, and replayed with its requests")
  func replays() async throws {
    let folder = try TemporaryFolder()
    let (file, _) = try await record(in: folder, [], shown: "/-/with")
    let replay = try await Program.run(["--replay", file])
    #expect(replay.output.contains("/-/with") && replay.output.contains("hit"), "\(replay.output)")
    let cast = folder.url.appending(path: "s.cast").path()
    let checked = try await Program.run(["--replay", file, "--export", cast])
    #expect(checked.output.contains("every one as it was shown"), "\(checked.output)")
  }

  @Test("--mask keeps paths and fields out of the file")
  func masked() async throws {
    let folder = try TemporaryFolder()
    let (file, rows) = try await record(in: folder, ["--mask"], shown: "key-")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    for secret in ["geheim", "/-/with"] {
      #expect(!text.contains(secret) && !rows.joined().contains(secret), "\(secret)")
    }
    let replay = try await Program.run(["--replay", file])
    #expect(replay.output.contains("key-1") && replay.output.contains("hit"), "\(replay.output)")
    let cast = folder.url.appending(path: "m.cast").path()
    let checked = try await Program.run(["--replay", file, "--export", cast])
    #expect(checked.output.contains("every one as it was recorded"), "\(checked.output)")
  }
}
#endif
