import Foundation
import PseudoTerminal
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `--record` and `--replay` as processes on a terminal of their own.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RecordTests {
  private static let environment = ["TERM": "xterm-256color", "LANG": "C.UTF-8"]

  private func configuration(in folder: borrowing TemporaryFolder) throws -> String {
    try folder.write(
      """
      name: recorded
      levels:
        - memory: { capacity: 1 MiB }
        - pooled:
            origin: { latency: 1ms, size: 64 B }
      """, to: "cache.yaml")
  }

  private func open(
    _ arguments: [String], in folder: borrowing TemporaryFolder, height: Int = 40
  ) throws -> PseudoTerminal {
    try PseudoTerminal(
      Program.path, arguments: arguments, width: 120, height: height,
      environment: Self.environment.merging(["HOME": folder.url.path()]) { $1 })
  }

  /// Records a session in which a key was read, and tells what was on its last whole screen.
  private func record(in folder: borrowing TemporaryFolder) async throws -> (String, [String]) {
    let path = folder.url.appending(path: "s.rec").path()
    let terminal = try open(["open", try configuration(in: folder), "--record", path], in: folder)
    try await terminal.wait(for: "the picture") { $0.screen.rows[0].contains("● REC ") }
    terminal.send(":get user:1\r")
    try await terminal.wait(forText: "from ORIGIN")
    // Frozen, so that the picture stays.
    terminal.send(" ")
    try await terminal.wait(for: "PAUSED") { $0.screen.rows[0].contains("PAUSED") }
    let rows = terminal.sight.screen.rows
    terminal.send("q")
    try await terminal.wait(forText: "the session is recorded: quit?")
    terminal.send("y")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.modes == terminal.modesBefore)
    #expect(terminal.sight.screen.contains("watch it with cache-explorer --replay"))
    return (path, rows)
  }

  @Test("a session is recorded, closed whole on leaving, and replayed on a terminal as it was")
  func replays() async throws {
    let folder = try TemporaryFolder()
    let (path, rows) = try await record(in: folder)
    #expect(try String(contentsOfFile: path, encoding: .utf8).hasSuffix("}\n"))
    let terminal = try open(["--replay", path, "--speed", "0.25"], in: folder, height: 41)
    try await terminal.wait(for: "the replay") { $0.screen.rows[40].contains("REPLAY") }
    terminal.send("L")
    try await terminal.wait(for: "its end") { $0.screen.rows[40].contains("■ REPLAY") }
    let shown = terminal.sight.screen.rows
    // Below stands the question that ended it.
    #expect(shown[1..<37] == rows[1..<37])
    #expect(
      shown[37].contains("the session is recorded: quit?") || shown[38].contains("the session is recorded: quit?"))
    terminal.send(":jump 0s\r")
    try await terminal.wait(for: "its beginning") { $0.screen.rows[40].contains("picture 1 of") }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.modes == terminal.modesBefore)
    #expect(!terminal.sight.screen.isAlternate)
  }

  @Test("a session that was killed can be opened up to its end, which is said")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "k.rec").path()
    let terminal = try open(
      ["open", try configuration(in: folder), "--run", "zipf --rate 200", "--record", path], in: folder)
    try await terminal.wait(for: "traffic") { $0.screen.rows[0].contains("● REC ") && $0.screen.contains("key:0") }
    terminal.signal(SIGKILL)
    #expect(try await terminal.ending() == .signalled(SIGKILL))
    let replay = try open(["--replay", path], in: folder)
    try await replay.wait(for: "what is said about the end") {
      $0.screen.contains("the recording was not closed") || $0.screen.contains("the recording broke off")
    }
    replay.signal(SIGTERM)
    #expect(try await replay.ending() == .exited(128 + SIGTERM))
    #expect(replay.modes == replay.modesBefore)
  }

  @Test("without a screen a recording becomes an asciicast, or its last picture as text without an escape byte")
  func headless() async throws {
    let folder = try TemporaryFolder()
    let (path, _) = try await record(in: folder)
    let cast = folder.url.appending(path: "s.cast").path()
    let export = try await Program.run(["--replay", path, "--export", cast])
    #expect(export.status == 0, "\(export.errors)")
    #expect(export.output.contains("every one as it was shown"))
    #expect(try String(contentsOfFile: cast, encoding: .utf8).hasPrefix("{\"version\":2,\"width\":120,\"height\":40,"))
    let text = try await Program.run(["open", "--replay", path])
    #expect(text.status == 0)
    #expect(text.output.contains("a session of recorded,"))
    #expect(text.output.contains("‖ PAUSED"))
    #expect(!text.output.utf8.contains(0x1b))
  }

  @Test("--mask keeps keys and values out of the file")
  func masked() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "m.rec").path()
    let terminal = try open(["open", try configuration(in: folder), "--mask", "--record", path], in: folder)
    try await terminal.wait(for: "the picture") { $0.screen.rows[0].contains("● REC ") }
    terminal.send(":set account:vier geheim\r")
    try await terminal.wait(forText: "✓ set key-")
    terminal.send(":get account:vier\r")
    try await terminal.wait(forText: "6 B from MEMORY")
    // What a level holds is listed a moment after it was stored.
    try await terminal.wait(forText: "▸key-")
    let export = folder.url.appending(path: "m.csv").path()
    terminal.send(":export \(export)\r")
    try await terminal.wait(forText: "written to")
    let rows = try String(contentsOfFile: export, encoding: .utf8)
    #expect(rows.contains("key-") && !rows.contains("vier"))
    terminal.send("q")
    try await terminal.wait(forText: "the session is recorded: quit?")
    terminal.send("y")
    #expect(try await terminal.ending() == .exited(0))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(!text.contains("vier") && !text.contains("geheim") && !text.contains("account"))
    #expect(text.contains("key-1"))
    let replay = try await Program.run(["--replay", path])
    #expect(replay.output.contains("key-1"))
    let cast = folder.url.appending(path: "m.cast").path()
    let checked = try await Program.run(["--replay", path, "--export", cast])
    #expect(checked.output.contains("every one as it was recorded"), "\(checked.output)")
  }

  @Test("where files may not grow, a recording stops, the session goes on, and the exit status tells it")
  func full() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "s.rec").path()
    let terminal = try PseudoTerminal(
      "/bin/sh",
      arguments: [
        "-c", "ulimit -f 64; exec \"$0\" \"$@\"", Program.path, "open", try configuration(in: folder), "--record", path,
        "--run", "zipf --rate 1000",
      ], width: 120, height: 40, environment: Self.environment.merging(["HOME": folder.url.path()]) { $1 })
    try await terminal.wait(for: "the end of the recording") { $0.screen.rows[0].contains("✕ REC stopped ") }
    terminal.send("q")
    try await terminal.wait(forText: "quit?")
    terminal.send("y")
    #expect(try await terminal.ending() == .exited(2))
    #expect(terminal.modes == terminal.modesBefore)
    #expect(terminal.sight.screen.contains("s.rec could not be written to its end (File too large); "))
    let cast = folder.url.appending(path: "s.cast").path()
    let export = try await Program.run(["--replay", path, "--export", cast])
    #expect(export.status == 0 && export.errors.contains("the recording broke off within line "), "\(export.errors)")
  }

  @Test("an export never takes the place of the recording that it is of")
  func ownRecording() async throws {
    let folder = try TemporaryFolder()
    let (path, _) = try await record(in: folder)
    let recording = try Data(contentsOf: URL(filePath: path))
    for name in ["s.cast", "s.svg"] {
      let own = folder.url.appending(path: name).path()
      try recording.write(to: URL(filePath: own))
      let export = try await Program.run(["--replay", own, "--export", own])
      #expect(export.status == 2 && export.errors.contains("which is read; name another file"), "\(export.errors)")
      #expect(try Data(contentsOf: URL(filePath: own)) == recording)
    }
  }

  #if os(Linux)
  @Test("a file that is no recording is refused without being read, however large it is")
  func large() async throws {
    let folder = try TemporaryFolder()
    for beginning in ["", #"{"about":"a cache-explorer recording"}"#] {
      let file = try folder.write(beginning, to: "large")
      #expect(unsafe truncate(file, 64 << 30) == 0)
      let program = try RunningProgram(
        [
          "-c", "ulimit -v 8000000; export SWIFT_BACKTRACE=enable=no; exec \"$0\" \"$@\"", Program.path, "--replay",
          file,
        ], executable: "/bin/sh")
      let (status, _, complaints) = await program.end()
      #expect(status == 2)
      #expect(complaints.first?.hasPrefix("\(file):1: error: this is not a recording of cache-explorer; ") == true)
    }
  }
  #endif

  @Test("files that are no recordings, and options that do not fit, are refused with the remedy")
  func refused() async throws {
    let folder = try TemporaryFolder()
    let file = try configuration(in: folder)
    let foreign = try await Program.run(["--replay", file])
    #expect(foreign.status == 2)
    #expect(
      foreign.errors.contains("\(file):1: error: this is not a recording of cache-explorer; make one with --record"))
    for arguments in [
      ["open"], ["open", file, "--replay", "x"], ["open", file, "--speed", "2"], ["open", file, "--export", "a.cast"],
      ["--replay", "x", "--export", "a.txt"], ["open", file, "--record", "a.rec", "--once"],
      ["open", file, "--record-limit", "1MiB"], ["open", file, "--record", "x", "--record-limit", "1KiB"],
    ] {
      #expect(try await Program.run(arguments).status == 2, "\(arguments)")
    }
    let plain = try await Program.run(["open", file, "--record", folder.url.appending(path: "p.rec").path()])
    #expect(plain.status == 4)
    #expect(plain.errors.contains("--record needs a screen: standard output is not a terminal"))
    let asked = try await Program.run(["open", file, "--plain", "--record", folder.url.appending(path: "p.rec").path()])
    #expect(asked.status == 2 && asked.errors == "error: --record needs a screen: leave out --plain\n")
    let taken = try open(["open", file, "--record", file], in: folder)
    #expect(try await taken.ending() == .exited(2))
    #expect(taken.modes == taken.modesBefore)
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("name: recorded"))
  }
}
