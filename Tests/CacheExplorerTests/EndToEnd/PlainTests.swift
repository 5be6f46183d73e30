import CacheEngine
import CacheEngineInspector
import Foundation
import LoopbackServer
import PseudoTerminal
import Testing

/// The explorer without a screen, as a process.
@Suite(.timeLimit(.minutes(10))) struct PlainTests {
  private func stack(in folder: borrowing TemporaryFolder) throws -> String {
    try folder.write(
      """
      name: plain
      levels:
        - memory: { capacity: 1 MiB }
        - pooled: { origin: { latency: 0s, size: 40 B, seed: 7 } }
      """, to: "c.yaml")
  }

  @Test("where standard output is no terminal everything is told in sentences, and nothing but text comes out")
  func pipe() async throws {
    let folder = try TemporaryFolder()
    let run = try await Program.run(
      ["open", try stack(in: folder)],
      input:
        "get a\nget a\nlog debug\nget b\nset \"k\\x1b[2J\" \"v\\x1b]0;x\\x07\"\nget \"k\\x1b[2J\"\ngte\nstatus\nquit\n")
    #expect(run.status == 0)
    #expect(run.errors.contains("standard output is not a terminal"))
    #expect(run.output.contains("plain is open; its levels are memory, origin"))
    #expect(run.output.contains("get: hit from origin"))
    #expect(run.output.contains("get: hit from memory"))
    #expect(run.output.contains("memory did not have “b” (absent)"))
    #expect(run.output.contains("did you mean “get”?"))
    #expect(run.output.contains("There were 5 requests") || run.output.contains("There were 4 requests"))
    #expect(!run.output.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
  }

  @Test("what an app or a recording says of itself in a complaint is text, and nothing that a terminal obeys")
  func complaints() async throws {
    let folder = try TemporaryFolder()
    let title = "\u{1b}]0;x\u{7}"
    let server = try CacheInspector.serve(
      MemoryCacheLevel<String, Data>(), at: folder.url.appending(path: "s").path(), name: title,
      versions: ProtocolVersions(7, 7))
    let recording = try folder.write(
      #"{"format":"cache-explorer recording","version":99,"program":"\u001b]0;x\u0007"}"# + "\n", to: "a.rec")
    for arguments in [["attach", server.path, "--once"], ["--replay", recording]] {
      let run = try await Program.run(arguments)
      #expect(run.status == 2)
      #expect(run.errors.contains(#"\u{1b}]0;x\u{7}"#), "\(run.errors)")
      #expect(!run.errors.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }
    server.close()
  }

  @Test(
    "a demonstration that nobody reads any more ends as by the signal, and takes its folder away",
    arguments: ["", "trap '' PIPE; "])
  func unread(before: String) async throws {
    let folder = try TemporaryFolder()
    // Its input stays open, so that only its output ends it.
    let line = "{ \(before)TMPDIR=\"$1\" \"$0\" demo --plain; echo $? >&2; } | head -n 1"
    let program = try RunningProgram(["-c", line, Program.path, folder.url.path()], executable: "/bin/sh")
    let (_, lines, complaints) = await program.end()
    #expect(lines.count == 1)
    #expect(complaints.last == "141", "\(complaints)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path()) == [])
  }

  @Test(
    "a signal ends what goes on when there are no more commands", .timeLimit(.minutes(1)),
    arguments: [
      ["demo", "--plain"], ["open", "c.yaml", "--plain", "--run", "loop --rate 0.01", "--requests", "1000"],
    ], [SIGTERM, SIGQUIT])
  func noMoreCommands(arguments: [String], signal: Int32) async throws {
    let folder = try TemporaryFolder()
    let file = try stack(in: folder)
    let program = try RunningProgram(arguments.map { $0 == "c.yaml" ? file : $0 })
    try program.endInput()
    #expect(await program.line { $0.hasPrefix("origin had ") } != nil)
    program.signal(signal)
    #expect(await program.end().status == 128 + signal)
  }

  @Test("a line that is too long for a person is left out, which is told")
  func longLines() async throws {
    let folder = try TemporaryFolder()
    let program = try RunningProgram(["open", try stack(in: folder), "--plain"])
    program.type("set a " + String(repeating: "v", count: 70_000))
    let complaint = await program.complaint { $0.contains("is left out") }
    #expect(complaint?.hasPrefix("error: a line has more than 65536 bytes and is left out; ") == true)
    program.type("get a")
    #expect(await program.line { $0.hasPrefix("get: hit from pool") || $0.hasPrefix("get: hit from origin") } != nil)
    try program.endInput()
    #expect(await program.end().status == 0)
  }

  @Test("QUIT ends it while it waits for a script, and is no crash to be reported", .timeLimit(.minutes(1)))
  func quitsWhileReading() async throws {
    let folder = try TemporaryFolder()
    let pipe = folder.url.appending(path: "pipe").path
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    // Not as a child of the tests' threads, as below.
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["run", try stack(in: folder), "--script", pipe], width: 80, height: 24,
      environment: ["HOME": folder.url.path(), "SWIFT_BACKTRACE": "enable=yes"])
    var writing: Int32 = -1
    // There is a reader once the program has opened it.
    while writing < 0 {
      writing = unsafe open(pipe, O_WRONLY | O_NONBLOCK)
      try Task.checkCancellation()
      await Task.yield()
    }
    defer { close(writing) }
    terminal.signal(SIGQUIT)
    #expect(try await terminal.ending() == .signalled(SIGQUIT))
    #expect(terminal.sight.screen.rows.joined().allSatisfy { $0 == " " })
  }

  @Test("an event is a sentence, and ASCII is all there is if that is wanted")
  func ascii() async throws {
    let folder = try TemporaryFolder()
    let run = try await Program.run(
      ["open", try stack(in: folder), "--plain", "--ascii"], input: "log debug\nget ключ\nwarn\nquit\n")
    #expect(run.output.utf8.allSatisfy { $0 < 0x80 })
    #expect(run.output.contains("A memory warning: memory dropped 1 entry"))
    #expect(!run.errors.contains("not a terminal"))
  }

  @Test("a workload with an end comes to it when there are no more commands")
  func workload() async throws {
    let folder = try TemporaryFolder()
    let run = try await Program.run(
      ["open", try stack(in: folder), "--run", "loop --rate max --keys 5", "--requests", "40"], input: "log warning\n")
    #expect(run.status == 0)
    #expect(run.output.contains("run: ok"))
  }

  @Test("once gives one picture, or the statistics")
  func once() async throws {
    let folder = try TemporaryFolder()
    let file = try stack(in: folder)
    let picture = try await Program.run(["open", file, "--once", "--run", "loop --keys 4", "--requests", "20"])
    #expect(picture.status == 0)
    let rows = picture.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(rows.count == 41)
    #expect(picture.output.contains("1 MEMORY") && picture.output.contains("key:3"))
    #expect(!picture.output.contains("\u{1b}"))
    let json = try await Program.run(["open", file, "--json", "--run", "loop --keys 4", "--requests", "20"])
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect(object["requests"] as? Int == 20)
    let endless = try await Program.run(["open", file, "--json", "--run", "loop --keys 4"])
    #expect(endless.output.contains(#""requests":1000,"#))
    let ascii = try await Program.run(["open", file, "--once", "--ascii"])
    #expect(ascii.output.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test("what was opened for reading only is not changed by commands")
  func readOnly() async throws {
    let folder = try TemporaryFolder()
    let run = try await Program.run(
      ["open", try stack(in: folder), "--read-only"],
      input: "set a b\nclear\nwarn\nfault memory down\nrun mixed\nget a\nquit\n")
    #expect(run.output.components(separatedBy: "opened for reading only").count == 6)
    #expect(run.output.contains("get: hit from origin"))
  }

  @Test("values are not told where they are masked")
  func mask() async throws {
    let folder = try TemporaryFolder()
    let file = try stack(in: folder)
    let input = "set a secret-value\nget a\nquit\n"
    #expect(try await Program.run(["open", file], input: input).output.contains("secret-value"))
    #expect(try await !Program.run(["open", file, "--mask"], input: input).output.contains("secret-value"))
  }

  @Test("where keys are masked they stand neither in events, notes and errors nor in what is exported")
  func maskedKeys() async throws {
    let folder = try TemporaryFolder()
    // Nothing listens there, and the error names the address with the key in it.
    let file = try folder.write(
      "levels:\n  - memory\n  - network: { url: \"http://127.0.0.1:1/{key}\", timeout: 2s }\n", to: "n.yaml")
    let export = folder.url.appending(path: "e.json").path()
    let input =
      "log debug\nset geheim:1 secret\nundo\nset geheim:1 secret\nget \"geheim 2\"\nexport \(export)\nquit\n"
    let open = try await Program.run(["open", file, "--plain"], input: input)
    #expect(open.output.contains("geheim:1") && open.output.contains("geheim%202"), "\(open.output)")
    #expect(try String(contentsOfFile: export, encoding: .utf8).contains("geheim:1"))
    let masked = try await Program.run(["open", file, "--plain", "--mask"], input: input)
    #expect(masked.status == 0)
    #expect(masked.output.contains("set key-") && masked.output.contains("127.0.0.1"), "\(masked.output)")
    #expect(!masked.output.contains("geheim") && !masked.output.contains("secret"), "\(masked.output)")
    let rows = try String(contentsOfFile: export, encoding: .utf8)
    #expect(rows.contains("key-") && !rows.contains("geheim"))
  }

  @Test("a source that cannot be reached is told by status 5, for who insists on it")
  func strict() async throws {
    let server = try LoopbackServer(files: Program.root)
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "levels:\n  - memory\n  - network: { url: \"\(server.address)/{+key}\", timeout: 2s }\n", to: "n.yaml")
    let good = try await Program.run(["run", file, "--strict"], input: "get LICENSE\nstats\n")
    #expect(good.status == 0)
    #expect(good.output.contains("; 1 request; "), "the question whether it can be reached is nobody's: \(good.output)")
    server.stop()
    let strict = try await Program.run(["run", file, "--strict"], input: "get LICENSE\n")
    #expect(strict.status == 5)
    #expect(strict.errors.contains("error: network: "))
    #expect(
      strict.errors.hasSuffix("\n  --strict insists on every source: see that it answers, or leave --strict out\n"))
    #expect(try await Program.run(["run", file], input: "get LICENSE\n").status == 0)
    #expect(try await Program.run(["open", file, "--once", "--strict"]).status == 5)
  }

  @Test("paths, version, completions and the manual are told; what excludes each other is refused")
  func told() async throws {
    #expect(try await Program.run(["--paths"]).output.contains("cache-explorer/history"))
    #expect(try await Program.run(["--version"]).output.contains("."))
    for shell in ["bash", "zsh", "fish"] {
      let script = try await Program.run(["--generate-completion-script", shell])
      #expect(script.status == 0)
      #expect(script.output.contains("replay") && script.output.contains("theme"), "\(shell)")
    }
    let bash = try await Program.run(["--generate-completion-script", "bash"]).output
    for command in ["open", "check", "run", "replay", "compare", "serve"] {
      let rest = try #require(bash.components(separatedBy: "_cache-explorer_\(command)() {").dropFirst().first)
      let function = try #require(rest.components(separatedBy: "\n}").first)
      #expect(function.contains("yaml"), "\(command) completes the name of a configuration")
    }
    #expect(try await Program.run(["manual"]).output.hasPrefix(".TH CACHE-EXPLORER 1"))
    let folder = try TemporaryFolder()
    let file = try stack(in: folder)
    #expect(try await Program.run(["open", file, "--plain", "--screen"]).status == 2)
    #expect(try await Program.run(["open", file, "--theme", "pink"]).status == 2)
    #expect(try await Program.run(["open", file, "--screen"]).status == 4)
    #expect(try await Program.run(["open", file, "--run", "zipff"]).errors.contains("did you mean “zipf”?"))
    // What only the program itself starts is offered to nobody.
    let misspelt = try await Program.run(["fleet-prt"])
    #expect(misspelt.status == 2 && misspelt.errors.contains("there is no command “fleet-prt”; use one of open, "))
    #expect(!misspelt.errors.contains("fleet-part"))
    let unknown = try await Program.run(["help", "compar"])
    #expect(unknown.status == 2 && unknown.errors == "error: there is no command “compar”; did you mean “compare”?\n")
    let bare = try await Program.run([file])
    #expect(bare.status == 2 && bare.errors.hasSuffix("; to open that file, write cache-explorer open \(file)\n"))
    #expect(try await Program.run(["help", "compare"]).output.contains("cache-explorer compare"))
  }

  #if os(Linux)
  @Test("what needs a folder for a while says where there can be none", arguments: ["demo", "compare"])
  func noScratchFolder(command: String) async throws {
    let folder = try TemporaryFolder()
    let file = try stack(in: folder)
    let arguments = command == "demo" ? ["demo", "--plain"] : ["compare", file, file, "--trace", "-"]
    let program = try RunningProgram(
      ["-c", "TMPDIR=/dev/null exec \"$0\" \"$@\"", Program.path] + arguments, executable: "/bin/sh")
    try program.endInput()
    let end = await program.end()
    #expect(end.status == 2)
    #expect(
      end.complaints == [
        "error: nothing can be written in /dev/null; free some room there, or name another folder in TMPDIR"
      ])
  }
  #endif

  @Test("a signal ends it with its own status, after the levels are closed", arguments: [2, 15] as [Int32])
  func signals(signal: Int32) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "levels:\n  - disk: { directory: ./d, capacity: 1 MiB }\n  - origin: { latency: 1h }\n", to: "c.yaml")
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["open", file, "--plain"], width: 80, height: 24,
      environment: ["HOME": folder.url.path()])
    try await terminal.wait(forText: "is open")
    terminal.signal(signal)
    #expect(try await terminal.ending() == .exited(128 + signal))
    #expect(!terminal.output.contains(0x1b))
    // Closed: another program may have the directory at once.
    let next = try await Program.run(["run", file], input: "set a b\n")
    #expect(next.status == 0 && next.output.contains("set: ok"))
  }

  @Test("a signal that comes while it greets ends it in the same way", arguments: ["open", "attach"])
  func signalsWhileGreeting(command: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - disk: { directory: ./d, capacity: 1 MiB }\n", to: "c.yaml")
    #expect(try await Program.run(["run", file], input: "set a b\n").status == 0)
    let pipe = folder.url.appending(path: "pipe").path
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    // Full: what the greeting is written into waits.
    let full = unsafe open(pipe, O_RDWR | O_NONBLOCK)
    defer { close(full) }
    let page = [UInt8](repeating: 0x20, count: 4_096)
    while unsafe write(full, page, page.count) > 0 {}
    let place = command == "open" ? file : folder.url.appending(path: "d").path
    // Not as a child of the tests' threads: those block signals, and it would as well.
    let terminal = try PseudoTerminal(
      "/bin/sh", arguments: ["-c", "exec \"$0\" \"$@\" >'\(pipe)'", Program.path, command, place],
      width: 120, height: 24, environment: ["HOME": folder.url.path()])
    try await terminal.wait(forText: "everything is told in sentences")
    terminal.signal(SIGTERM)
    var taken = page
    while unsafe read(full, &taken, taken.count) > 0 {}
    #expect(try await terminal.ending() == .exited(128 + SIGTERM))
  }
}
