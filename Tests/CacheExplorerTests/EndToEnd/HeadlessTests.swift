import CacheEngineTesting
import Foundation
import LoopbackServer
import Testing

/// `cache-explorer run` as a process, against a real HTTP server that serves the files of this repository.
@Suite(.timeLimit(.minutes(10))) struct HeadlessTests {
  private func configuration(_ server: LoopbackServer, timeout: String = "5s", in folder: borrowing TemporaryFolder)
    throws -> String
  {
    try folder.write(
      """
      name: repository
      levels:
        - memory: { capacity: 2 MiB }
        - disk: { directory: ./cache, capacity: 16 MiB }
        - pooled:
            network: { url: "\(server.address)/{+key}", timeout: \(timeout) }
      """, to: "cache.yaml")
  }

  /// Lets a read wait 50 s for its copies instead of 50 ms, however busy the disk is.
  private static let unhurried = "speed 0.001\n"

  private func play(
    _ script: String, _ configuration: String, arguments: [String] = ["--format", "json"]
  ) async throws -> Program.Run {
    try await Program.run(["run", configuration, "--script", "-"] + arguments, input: script)
  }

  @Test("a value comes from the network, then from memory, after a warning from disk, after a clear from the network")
  func everyLevelAnswers() async throws {
    let server = try LoopbackServer(files: Program.root)
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let run = try await play(
      Self.unhurried + "get LICENSE\nget LICENSE\nwarn\nget LICENSE\nget LICENSE\nclear\nget LICENSE\n",
      try configuration(server, timeout: "300s", in: folder))
    #expect(run.errors == "")
    #expect(run.status == 0)
    let gets = run.answers.filter { $0["command"] == "get" }
    #expect(gets.map { $0["outcome"] } == Array(repeating: "hit", count: 5))
    #expect(gets.map { $0["level"] } == ["network", "memory", "disk", "memory", "network"])
    let licence = try String(contentsOf: Program.root.appending(path: "LICENSE"), encoding: .utf8)
    #expect(gets.allSatisfy { $0["value"] == licence })
    #expect(server.requestCount("/LICENSE") == 2)
  }

  @Test("a value is still on disk for the next run")
  func survivesRestart() async throws {
    let server = try LoopbackServer(files: Program.root)
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try configuration(server, in: folder)
    _ = try await play(Self.unhurried + "get Makefile\n", file)
    let run = try await play("get Makefile\n", file)
    #expect(run.answers.first?["level"] == "disk")
    #expect(server.requestCount("/Makefile") == 1)
  }

  @Test("C79 fifty simultaneous gets of one key make exactly one request at the server")
  func herd() async throws {
    let server = try LoopbackServer(files: Program.root)
    defer { server.stop() }
    server.hold()
    let folder = try TemporaryFolder()
    async let running = play(
      "run burst --key LICENSE --requests 50\nstats\n", try configuration(server, timeout: "300s", in: folder))
    try await server.waitForRequests(1)
    server.release()
    let run = try await running
    #expect(server.requestCount() == 1)
    let lines = run.output.split(separator: "\n")
    let statistics = try #require(
      try JSONSerialization.jsonObject(with: Data((lines.last ?? "").utf8)) as? [String: Any])
    #expect(statistics["requests"] as? Int == 50)
    let served = try #require(statistics["served"] as? [String: Int])
    let joined = try #require(statistics["joined"] as? Int)
    #expect(served.values.reduce(0, +) + joined == 50)
    let pool = try #require(statistics["pool"] as? [String: Int])
    #expect(pool["executions"] == 1)
    #expect(pool["inFlight"] == 0)
  }

  @Test(
    "a command that cannot be carried out ends in status 2, and the others are carried out",
    arguments: ["set a @none", "get a --level none", "load none.yaml", "fault none off", "run trace --file none"])
  func refused(command: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let run = try await play("set b 1\n\(command)\nget b\n", file)
    #expect(run.status == 2)
    #expect(run.errors == "error: 1 command could not be carried out; the answers say why\n")
    #expect(run.answers.map { $0["outcome"] } == ["ok", "error", "hit"])
    let failed = try await play(command, file, arguments: ["--expect", "memory.hit >= 80%"])
    #expect(failed.status == 1, "an expectation that fails is what the status tells first")
  }

  @Test("what a level answers with an error is no fault of the script: expectations are there for that")
  func failing() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - origin: { latency: 0s }\n", to: "c.yaml")
    let run = try await play("fault origin down\nget a\n", file)
    #expect(run.answers.map { $0["outcome"] } == ["ok", "error"])
    #expect(run.status == 0)
  }

  @Test("C151 P10 a 404 is a clear error, and nothing is stored")
  func notFound() async throws {
    let server = try LoopbackServer(files: Program.root)
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let run = try await play(
      "get no-such-file\nget no-such-file\nstats\n", try configuration(server, timeout: "300s", in: folder))
    for answer in run.answers.prefix(2) {
      #expect(answer["outcome"] == "error")
      #expect(answer["error"]?.contains("404") == true)
    }
    #expect(server.requestCount("/no-such-file") == 2)
    #expect(run.output.contains(#""entries":0"#))
  }

  @Test("P11 a stalled server is a clear error within the time limit, and nothing is stored")
  func stalled() async throws {
    let server = try LoopbackServer(files: Program.root)
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let run = try await play(
      "get -/stall/body\nstats\n".replacingOccurrences(of: "get -", with: "get -- -"),
      try configuration(server, timeout: "200ms", in: folder))
    #expect(run.answers.first?["outcome"] == "error")
    #expect(run.answers.first?["error"]?.contains("within") == true)
    #expect(run.output.contains(#""entries":0"#))
  }

  @Test("P11 a stopped server is a clear error, and what is cached is still served")
  func stopped() async throws {
    let server = try LoopbackServer(files: Program.root)
    let folder = try TemporaryFolder()
    let file = try configuration(server, in: folder)
    _ = try await play("get LICENSE\n", file)
    server.stop()
    let run = try await play("get LICENSE\nget Makefile\n", file)
    #expect(run.answers.first?["level"] == "disk")
    #expect(run.answers.last?["outcome"] == "error")
    #expect(run.answers.last?["error"]?.contains("127.0.0.1") == true)
  }

  @Test(
    "--once prints every screen that a configuration has",
    arguments: [
      ("overview", "served by"), ("entries", "Entries 1–"), ("requests", "Requests"), ("latency", "Latency · all"),
      ("config", "memory"), ("log", "Log"), ("what-if", "What if"),
    ])
  func pages(name: String, title: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "levels:\n  - memory: { count: 100 }\n  - origin: { latency: 0s, seed: 7 }\n", to: "c.yaml")
    let run = try await Program.run(["open", file, "--run", "zipf --requests 50", "--once", "--page", name])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains(title), "\(run.output)")
    if name != "overview" { #expect(run.output.split(separator: "\n")[1].hasPrefix("┌")) }
  }

  @Test("--once says before it begins how long a workload takes that names a rate")
  func slowWorkload() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "levels:\n  - memory: { count: 100 }\n  - origin: { latency: 0s }\nworkload: { name: zipf, rate: 20 }\n",
      to: "c.yaml")
    let program = try RunningProgram(["open", file, "--once"])
    let notice = await program.complaint { $0.hasPrefix("notice: ") }
    #expect(notice == "notice: 1000 requests at 20 a second take 50.0 s; --requests N makes fewer")
    program.signal(SIGINT)
    #expect(await program.end().status == 130)
    let short = try await Program.run(["open", file, "--once", "--requests", "2"])
    #expect(short.errors == "")
  }

  @Test("--once says why a screen has nothing to show, and which screens there are")
  func noPage() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels: [memory]\n", to: "c.yaml")
    let run = try await Program.run(["open", file, "--once", "--page", "models"])
    #expect(run.status == 2)
    #expect(run.errors.contains("error: --page models: "), "\(run.errors)")
    let unknown = try await Program.run(["open", file, "--once", "--page", "nowhere"])
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("what-if"), "\(unknown.errors)")
  }

  @Test("values that are not text are given as base64, and a lifetime given to set holds")
  func setAndGet() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let binary = folder.url.appending(path: "binary")
    try Data([0xff, 0xfe, 0x00]).write(to: binary)
    let run = try await play(
      "set a @\(binary.path())\nget a\nset b hello --ttl 1h\nget b\ndel b\nget b --level memory\n",
      try configuration(server, timeout: "300s", in: folder))
    let outcomes = run.answers.map { $0["outcome"] }
    #expect(outcomes == ["ok", "hit", "ok", "hit", "ok", "miss"])
    #expect(run.output.contains(#""value":{"base64":"//4A"}"#))
    #expect(run.answers.last?["reason"] == "absent")
  }

  @Test("text answers are sentences, and never hold a control character")
  func text() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let run = try await play(
      #"set a "\x1b[2Jred""# + "\nget a\nget none --level disk\n", try configuration(server, in: folder),
      arguments: ["--format", "text"])
    #expect(run.status == 0)
    #expect(!run.output.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    #expect(run.output.contains("memory"))
    #expect(run.output.contains("absent"))
  }

  @Test("bad input ends with the documented status and names the place and the remedy")
  func badInput() async throws {
    let folder = try TemporaryFolder()
    let good = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "good.yaml")
    let bad = try folder.write("levels:\n  - memroy: { capacity: 1 MiB }\n", to: "bad.yaml")
    let home = try folder.write("levels:\n  - disk: { directory: ~/cache }\n", to: "home.yaml")
    let port = try folder.write("levels:\n  - network: { url: \"http://h:99999/{key}\" }\n", to: "port.yaml")
    // A file where the directory should be, and a directory that anybody may write to.
    let file = try folder.write("levels:\n  - disk: { directory: ./good.yaml }\n", to: "file.yaml")
    let open = try folder.write("levels:\n  - disk: { directory: ./open }\n", to: "open.yaml")
    let wide = folder.url.appending(path: "open")
    try FileManager.default.createDirectory(at: wide, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: wide.path())
    let cases: [(arguments: [String], input: String, status: Int32, message: String)] = [
      (["run", file], "", 3, "good.yaml; name a directory that you can write to\n"),
      (["run", open], "", 3, "can be written by others; give the cache one of its own\n"),
      (["check", home], "", 3, "home.yaml:2:24: error: “directory” of disk: only a shell reads “~” as your home; "),
      (["check", port], "", 3, "port.yaml:2:21: error: “url” of network: the address has a port outside 1–65535; "),
      (["run", folder.url.appending(path: "none.yaml").path()], "", 3, "none.yaml"),
      (["run", folder.url.path()], "", 3, "directory"),
      (["check", bad], "", 3, "bad.yaml:2:5"),
      (["run", bad], "", 3, "memory"),
      (["open", bad], "", 3, "bad.yaml:2:5"),
      (
        ["run", good, "--script", folder.url.appending(path: "none.txt").path()], "", 2,
        "none.txt: error: the script cannot be read (No such file or directory); give the path of a file that can be read\n"
      ),
      (["run", good, "--script", folder.url.path()], "", 2, "the script cannot be read (Is a directory); "),
      (["--replay", folder.url.path()], "", 2, "the recording cannot be read (Is a directory); "),
      (["--replay", "/dev/zero"], "", 2, "/dev/zero: error: the recording cannot be read (it is no ordinary file); "),
      (["replay", good, "--trace", good, "--clients", "1.5"], "", 2, "from 1 to 100000"),
      (["compare", good, good, "--trace", good, "--runs", "many"], "", 2, "from 2 to 1000"),
      (["run", good, "--script", "-"], "gte a\n", 2, "get"),
      (["run", good, "--format", "xml"], "", 2, "json"),
      (["opne", good], "", 2, "opne"),
      (["open", good, "--screen"], "", 4, "terminal"),
      (["demo", "no-such-demo"], "", 2, "demo"),
      (["demo", "--list", "herd"], "", 2, "--list lists all demonstrations"),
      (["demo", "--list", "--export", "a.svg"], "", 2, "--list lists all demonstrations"),
      (["demo", "herd", "--replay", "session"], "", 2, "--replay needs no demonstration"),
    ]
    for (arguments, input, status, message) in cases {
      let run = try await Program.run(arguments, input: input)
      #expect(run.status == status, "\(arguments): \(run.errors)")
      #expect((run.errors + run.output).contains(message), "\(arguments): \(run.errors)")
    }
  }

  @Test("where an option is given twice, what is given last counts")
  func twice() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    for (formats, isJSON) in [(["json", "text"], false), (["text", "json"], true)] {
      let run = try await Program.run(["run", file] + formats.flatMap { ["--format", $0] }, input: "get a\n")
      #expect(run.status == 0 && run.output.hasPrefix("{") == isJSON, "\(run.output)")
    }
  }

  @Test("check says what is well, and lints")
  func check() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "levels:\n  - memory: { capacity: 1 MiB, expiry: 1h }\n  - disk: { directory: ./d, capacity: 4 MiB, expiry: 10m }\n",
      to: "c.yaml")
    let run = try await Program.run(["check", file])
    #expect(run.status == 0)
    #expect((run.output + run.errors).contains("c.yaml:2"))
  }

  @Test("check looks at every file that it is given, and fails if one of them is not valid")
  func checkSeveral() async throws {
    let folder = try TemporaryFolder()
    let first = try folder.write("levels:\n  - memroy: { capacity: 1 MiB }\n", to: "first.yaml")
    let second = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "second.yaml")
    let third = folder.url.appending(path: "third.yaml").path
    let run = try await Program.run(["check", first, second, third])
    #expect(run.status == 3)
    #expect(run.output.contains("second.yaml: valid; levels memory"))
    #expect(run.errors.contains("first.yaml:2:5: error: ") && run.errors.contains("third.yaml: error: "))
  }

  @Test("operators do their work in a script, and the statistics tell it")
  func operators() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      """
      levels:
        - lanes:
            when: { prefix: "img:" }
            then: { fallback: { value: none, level: { breaker: { failures: 2, level: { pooled: { origin: {
              latency: 0s, failures: 100% } } } } } } }
            else: { conditioned: { when: { length: 1..3 }, level: memory } }
      """, to: "operators.yaml")
    let run = try await play("get img:a\nget img:b\nget img:c\nset abc x\nget abc\nget abcd\nstats\n", file)
    #expect(run.status == 0)
    #expect(run.answers.prefix(3).allSatisfy { $0["level"] == "fallback" && $0["value"] == "none" })
    #expect(run.answers[4]["level"] == "memory")
    #expect(run.answers[5]["reason"] == "refused")
    let line = try #require(run.output.split(separator: "\n").last)
    let statistics = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let operators = try #require(statistics["operators"] as? [[String: Any]])
    #expect(operators.map { $0["kind"] as? String } == ["lanes", "fallback", "breaker", "pooled", "conditioned"])
    #expect(operators[2]["phase"] as? String == "open")
    #expect(operators[3]["executions"] as? Int == 2)
    #expect(operators[4]["refused"] as? Int == 1)
  }

  @Test("the demos are listed, and the version is told")
  func lists() async throws {
    let demos = try await Program.run(["demo", "--list"])
    #expect(demos.status == 0)
    #expect(!demos.output.isEmpty)
    let version = try await Program.run(["--version"])
    #expect(version.status == 0)
    #expect(version.output.contains("."))
  }

  @Test("With --format json each line is answered before the next one is written, and one that is wrong ends nothing")
  func dialogue() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let program = try RunningProgram(["run", file, "--format", "json", "--expect", "memory.hit >= 40%"])
    func ask(_ line: String) async throws -> [String: Any] {
      program.type(line)
      let answer = try #require(await program.line { _ in true }, "\(line) was not answered")
      return try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])
    }
    for number in 0..<50 {
      #expect(try await ask("set k\(number) v\(number)")["outcome"] as? String == "ok")
      #expect(try await ask("get k\(number)")["value"] as? String == "v\(number)")
    }
    let wrong = try await ask("gte k1")
    #expect(wrong["outcome"] as? String == "error")
    #expect(wrong["command"] as? String == "gte")
    #expect((wrong["error"] as? String)?.contains("column 1: there is no verb “gte”; did you mean “get”?") == true)
    #expect(try await ask("expect nowhere.hit >= 1%")["outcome"] as? String == "error")
    program.type("# this has no answer")
    program.type("")
    let large = String(repeating: "x", count: 200_000)
    #expect(try await ask("set large \(large)")["outcome"] as? String == "ok")
    #expect(try await ask("get large")["value"] as? String == large)
    #expect((try await ask("stats")["levels"] as? [Any])?.count == 1)
    try program.endInput()
    let end = await program.end()
    #expect(end.status == 2)
    #expect(end.complaints == ["error: 2 commands could not be carried out; the answers say why"])
    #expect(end.lines.count == 1 && end.lines[0].contains(#""command":"expect","outcome":"ok""#))
  }

  @Test("A dialogue ends with quit, and a script in text is understood whole before anything of it is done")
  func quits() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let program = try RunningProgram(["run", file, "--format", "json"])
    program.type("set a 1")
    #expect(await program.line { $0.contains(#""outcome":"ok""#) } != nil)
    program.type("quit")
    #expect(await program.end().status == 0)
    let text = try await play("set a 1\ngte a\n", file, arguments: ["--format", "text"])
    #expect(text.status == 2)
    #expect(text.output == "")
  }

  @Test(
    "A stream that is closed is told of, and nothing that the program opens is read or written in its place",
    arguments: [
      ("<&-", "standard input: error: the trace cannot be read (read: Bad file descriptor); "),
      (">&-", "error: standard output is closed; leave it open, or send it to a file"),
    ])
  func closedStream(redirection: String, complaint: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let program = try RunningProgram(
      ["-c", "exec \"$0\" \"$@\" \(redirection)", Program.path, "replay", file, "--trace", "-"], executable: "/bin/sh")
    try program.endInput()
    let end = await program.end()
    #expect(end.status == 2)
    #expect(end.complaints.contains { $0.hasPrefix(complaint) }, "\(end.complaints)")
  }

  @Test("An option that is not understood is told of as everything else that is wrong", arguments: ["check", "run"])
  func unknownOption(command: String) async throws {
    let run = try await Program.run([command, "c.yaml", "--nonsense"])
    #expect(run.status == 2 && run.output == "")
    #expect(run.errors.hasPrefix("error: Unknown option '--nonsense'"), "\(run.errors)")
  }

  @Test("The usage says what stands behind an option, and not its name once more")
  func valueNames() async throws {
    let help = try await Program.run(["serve", "--help"])
    #expect(help.output.contains("USAGE: cache-explorer serve [<options>] <config> --origin <url>\n"), "\(help.output)")
    #expect(help.output.contains("  --http <host:port> "))
    for command in ["open", "attach", "run", "replay", "compare", "serve", "demo"] {
      let help = try await Program.run([command, "--help"])
      let twice = help.output.matches(of: /--([a-z-]+) <([a-z-]+)>/).filter { $0.1 == $0.2 }.map { $0.1 }
      #expect(Set(twice).isSubset(of: ["format", "level", "theme"]), "\(command): \(twice)")
    }
  }

  @Test("A dialogue over an input that is closed has failed, and says so", arguments: ["text", "json"])
  func closedDialogue(format: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let program = try RunningProgram(
      ["-c", "exec \"$0\" \"$@\" <&-", Program.path, "run", file, "--format", format], executable: "/bin/sh")
    let (status, lines, complaints) = await program.end()
    #expect(status == 2)
    let said = format == "json" ? lines : complaints
    #expect(said.contains { $0.contains("cannot be read") }, "\(lines) \(complaints)")
  }

  @Test("A script may come through a pipe with a name, and one that is too long is told of as such")
  func scripts() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let piped = try await play("set a 1\nget a\n", file, arguments: ["--format", "json", "--script", "/dev/stdin"])
    #expect(piped.status == 0 && piped.answers.map { $0["outcome"] } == ["ok", "hit"], "\(piped.errors)")
    let long = try await play("", file, arguments: ["--script", "/dev/zero"])
    #expect(long.status == 2)
    #expect(long.errors == "/dev/zero: error: the script has more than 16777216 bytes; divide it\n")
  }

  @Test(
    "An argument that is empty is said to be, rather than not found",
    arguments: [
      (["open", ""], "argument 2"), (["attach", "", "--once"], "argument 2"), ([""], "argument 1"),
      (["replay", "c.yaml", "--trace", ""], "what stands behind --trace"),
      (["replay", "c.yaml", "--trace="], "what stands behind --trace"),
    ])
  func emptyArgument(arguments: [String], what: String) async throws {
    let run = try await Program.run(arguments)
    #expect(run.status == 2)
    #expect(run.errors == "error: \(what) is empty; write something, or leave it out\n")
  }

  #if os(Linux)
  @Test("What would go on for long ends when its output cannot be written, with status 2", arguments: ["demo", "open"])
  func fullWhileItRuns(command: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    // Its input stays open, so that only its output ends it.
    let program = try RunningProgram(
      ["-c", "exec \"$0\" \"$@\" >/dev/full", Program.path, command] + (command == "open" ? [file] : []) + ["--plain"],
      executable: "/bin/sh")
    let end = await program.end()
    #expect(end.status == 2)
    #expect(end.complaints.count == 1 && end.complaints[0].contains("could not be written: "), "\(end.complaints)")
  }

  @Test("Output that cannot be written is told, with status 2")
  func fullDisk() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let program = try RunningProgram(
      ["-c", "exec \"$0\" \"$@\" >/dev/full", Program.path, "run", file], executable: "/bin/sh")
    program.type("set a 1")
    try program.endInput()
    let end = await program.end()
    #expect(end.status == 2)
    #expect(end.complaints.count == 1)
    let complaint = end.complaints.first ?? ""
    #expect(complaint.hasPrefix("error: standard output could not be written: "), "\(complaint)")
    #expect(complaint.hasSuffix("; free some room or name another file"), "\(complaint)")
  }
  #endif

  @Test("whoever asks twice ends a search that does not", arguments: [SIGINT, SIGTERM])
  func endless(signal: Int32) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "levels: [{ conditioned: { when: { matches: '(a+)+$' }, level: { memory: {} } } }]", to: "c.yaml")
    let program = try RunningProgram(["run", file, "--format", "json"])
    program.type("get c")
    #expect(await program.line { $0.contains("miss") } != nil)
    program.type("get \(String(repeating: "a", count: 38))b")
    try await turns {
      program.signal(signal)
      return !program.isRunning
    }
    #expect(await program.end().status == 128 + signal)
  }
}
