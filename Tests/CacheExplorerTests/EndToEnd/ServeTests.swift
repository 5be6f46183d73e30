#if Explorer
import Foundation
import LoopbackServer
import Testing

/// `cache-explorer serve` as a process, with curl before it and a server of the tests behind it.
@Suite("The program as a proxy", .timeLimit(.minutes(10)), .enabled(if: Curl.path != nil, "curl is not installed"))
struct ServeTests {
  private static let memory = "levels:\n  - memory: { capacity: 1 MiB }\n"
  private static let kept = "/-/with?Cache-Control:max-age=100000&ETag:%22a%22"

  /// A proxy that runs, and where.
  private func serve(
    _ configuration: String = memory, before server: LoopbackServer, in folder: borrowing TemporaryFolder,
    _ arguments: [String] = ["--json"], by script: String = "exec \"$0\" \"$@\""
  ) async throws -> (program: RunningProgram, address: String) {
    let file = try folder.write(configuration, to: "c.yaml")
    let program = try RunningProgram(
      ["-c", script, Program.path, "serve", file, "--http", "127.0.0.1:0", "--origin", server.address] + arguments,
      executable: "/bin/sh")
    let line = try #require(await program.complaint { $0.hasPrefix("listening at ") })
    return (program, String(line.dropFirst("listening at ".count).prefix { $0 != " " }))
  }

  @Test("a request goes on once, is answered from the cache then, and each is a line that can be replayed")
  func linesOfJSON() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder)
    let first = try await Curl.run(["--include", address + Self.kept])
    #expect(first.output.hasPrefix("HTTP/1.1 200 OK\n") && first.output.hasSuffix("\n\nthe content"))
    #expect(first.output.contains("\nCache-Status: cache-explorer; fwd=uri-miss; stored; ttl="))
    let second = try await Curl.run(["--include", address + Self.kept])
    #expect(second.output.contains("\nCache-Status: cache-explorer; hit; ttl="))
    // Asked to be asked about, the server confirms what it sent.
    let third = try await Curl.run(["--include", "--header", "Cache-Control: no-cache", address + Self.kept])
    #expect(third.output.contains("; fwd=request; fwd-status=304; stored; ttl="))
    #expect(third.output.hasSuffix("\n\nthe content"))
    #expect(server.requests.map(\.target) == [Self.kept, Self.kept])
    program.signal(SIGTERM)
    let (status, lines, complaints) = await program.end()
    #expect(status == 0, "\(complaints)")
    let objects = try lines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    for line in lines { #expect(try JSONSchema(named: "request").faults(in: line) == [], "\(line)") }
    #expect(objects.map { $0["outcome"] as? String } == ["uri-miss", "hit", "validated"])
    #expect(objects.allSatisfy { $0["path"] as? String == Self.kept && $0["bytes"] as? Int == 12 })
    #expect(objects.allSatisfy { ($0["time"] as? Double ?? 0) > 1_700_000_000 })
    #expect(
      complaints.last == "3 requests: 1 hit, 1 validated, 1 forwarded; 36 B sent, 24 B of them without the server")

    let log = try folder.write(lines.joined(separator: "\n"), to: "log.jsonl")
    let replay = try await Program.run(["replay", folder.url.appending(path: "c.yaml").path(), "--trace", log])
    #expect(replay.output.hasPrefix("3 requests of \(log) (json), 0 failed\n"), "\(replay.errors)")
    #expect(replay.output.contains("memory: 3 lookups, 2 hits, 1 absent"))
  }

  #if os(Linux)
  @Test("it serves on when its lines cannot be written, and says so at once")
  func fullLog() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder, by: "exec \"$0\" \"$@\" >/dev/full")
    #expect(try await Curl.run(["\(address)\(Self.kept)"]).output.hasPrefix("the content"))
    #expect(await program.complaint { $0.contains("could not be written: ") } != nil)
    #expect(try await Curl.run(["\(address)\(Self.kept)"]).output.hasPrefix("the content"))
    program.signal(SIGTERM)
    let end = await program.end()
    #expect(end.status == 2)
    #expect(end.complaints.count == 1 && end.complaints[0].hasPrefix("2 requests: "), "\(end.complaints)")
  }

  @Test(
    "kept to one processor, it serves with one thread, whose turns nothing else of it takes",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/taskset"), "taskset is not installed"))
  func oneProcessor() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.memory, to: "c.yaml")
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let allowed = try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") })
    let first = try #require(allowed.split(separator: "\t").last).prefix { $0.isNumber }
    let program = try RunningProgram(
      ["-c", "\(first)", Program.path, "serve", file, "--http", "127.0.0.1:0", "--origin", server.address, "--quiet"],
      executable: "/usr/bin/taskset")
    let line = try #require(await program.complaint { $0.hasPrefix("listening at ") })
    let address = line.dropFirst("listening at ".count).prefix { $0 != " " }
    #expect(try await Curl.run(["\(address)\(Self.kept)"]).output.hasPrefix("the content"))
    let tasks = "/proc/\(program.processIdentifier)/task"
    // A thread may end meanwhile.
    let names = try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap {
      try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)
    }
    #expect(names.count { $0.hasPrefix("NIO-SGLTN") } == 1, "\(names)")
    program.signal(SIGTERM)
    #expect(await program.end().status == 0)
  }
  #endif

  @Test("the commands at the top of the README do what it says")
  func readme() async throws {
    let text = try String(contentsOf: Program.root.appending(path: "README.md"), encoding: .utf8)
    let section = try #require(
      text.components(separatedBy: "## Put it in front of your own server\n").dropFirst().first)
    let commands = section.components(separatedBy: "```")[1].split(separator: "\n").map(String.init)
    let server = try LoopbackServer(files: Program.root)
    defer { server.stop() }
    // A copy, since the levels lie beside the file.
    let folder = try TemporaryFolder()
    let example = try String(contentsOf: Program.root.appending(path: "Examples/serve.yaml"), encoding: .utf8)
    let copy = try folder.write(example, to: "serve.yaml")
    func arguments(of program: String, _ changes: [String: String]) throws -> [String] {
      let line = try #require(commands.first { $0.hasPrefix("\(program) ") })
      return changes.reduce(line) { $0.replacing($1.key, with: $1.value) }.split(separator: " ").dropFirst().map(
        String.init)
    }
    let program = try RunningProgram(
      try arguments(
        of: "cache-explorer",
        ["Examples/serve.yaml": copy, "127.0.0.1:8080": "127.0.0.1:0", "http://127.0.0.1:3000": server.address])
        + ["--json"])
    let line = try #require(await program.complaint { $0.hasPrefix("listening at ") })
    let address = String(line.dropFirst("listening at ".count).prefix { $0 != " " })
    let answer = try await Curl.run(try arguments(of: "curl", ["http://127.0.0.1:8080": address]))
    #expect(
      answer.output.hasPrefix("HTTP/1.1 200 OK\n") && answer.output.contains("\n# CacheEngine and CacheExplorer\n"))
    #expect(answer.output.contains("\nCache-Status: cache-explorer; fwd=uri-miss"))
    let second = try await Curl.run(try arguments(of: "curl", ["http://127.0.0.1:8080": address])).output
    // As the README shows it, but for the numbers, and for what another server says of itself and of a file.
    func shape(_ lines: [String]) -> [String] {
      lines.filter { !$0.hasPrefix("Server: ") && !$0.hasPrefix("Content-type: ") && !$0.hasPrefix("Date: ") }.map {
        $0.hasPrefix("Last-Modified: ") ? "Last-Modified: " : $0.replacing(/[0-9]+/, with: "0")
      }.sorted()
    }
    let shown = section.components(separatedBy: "```")[3].split(separator: "\n").map(String.init)
    let head = second.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }.map(String.init)
    #expect(shape(head) == shape(shown))
    #expect(server.requests.count == 1)
    program.signal(SIGTERM)
    #expect(await program.end().status == 0)
  }

  @Test("what is on the disk is there for the next proxy, and operators stand around it")
  func disk() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let configuration = """
      levels:
        - memory: { capacity: 64 KiB }
        - timeout: { after: 10s, level: { disk: { directory: ./kept, capacity: 4 MiB } } }
      """
    for (place, word) in ["fwd=uri-miss", "hit"].enumerated() {
      let (program, address) = try await serve(configuration, before: server, in: folder, ["--quiet"])
      let answer = try await Curl.run(["--include", address + Self.kept])
      #expect(answer.output.contains("Cache-Status: cache-explorer; \(word);"), "\(place): \(answer.output)")
      program.signal(SIGINT)
      let (status, lines, _) = await program.end()
      #expect(status == 0 && lines.isEmpty)
    }
    #expect(server.requests.count == 1)
  }

  @Test("without a screen commands are read as well, expectations about http hold or fail, and quit ends it")
  func commands() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(
      before: server, in: folder, ["--plain", "--expect", "http.hit >= 30%", "--expect", "http.hits == 5"])
    for _ in 0..<2 { _ = try await Curl.run([address + Self.kept]) }
    _ = await program.line { $0.contains(" hit 12 B ") }
    program.type("expect \"memory.hits == 1\"")
    #expect(await program.line { $0.contains("memory.hits") }?.hasPrefix("expect: ok memory.hits == 1") == true)
    program.type("get \(server.address)\(Self.kept)")
    #expect(await program.line { $0.contains("Cache-Control: max-age") || $0.contains("HTTP 200") } != nil)
    program.type("set a b")
    #expect(await program.line { $0.contains("only the server makes responses") } != nil)
    program.type("run zipf")
    #expect(await program.line { $0.contains("clients make the requests of a proxy") } != nil)
    program.type("reload")
    #expect(await program.line { $0.contains("end it, and serve the other configuration") } != nil)
    // An entry that has expired is asked for anew.
    program.type("advance 2d")
    #expect(await program.line { $0.contains("advance") } != nil)
    #expect(
      try await Curl.run(["--include", address + Self.kept]).output.contains("fwd=stale; fwd-status=304; stored"))
    program.type("quit")
    let (status, _, complaints) = await program.end()
    #expect(status == 1)
    #expect(complaints.contains { $0.contains("http.hits") && $0.contains("5") }, "\(complaints)")
    #expect(complaints.last == "error: 1 of 2 expectations failed")
  }

  @Test("why a request was refused stands in its line")
  func refusals() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder, ["--plain"])
    _ = try await Curl.run(["--header", "Host: a b", address + "/first"])
    #expect(
      await program.line { $0.contains("/first 400 refused") }?.hasSuffix(": its Host is no name with a port") == true)
    _ = try await Curl.run([
      "--http1.1", "--header", "Connection: Upgrade", "--header", "Upgrade: a", address + "/second",
    ])
    #expect(await program.line { $0.contains("/second 501 refused") }?.contains(": upgrades are for a tunnel") == true)
    _ = try await Curl.run(["--request", "TEAPOT", address + "/third"])
    #expect(await program.line { $0.contains(" 501 refused") }?.hasSuffix(": its method is not known") == true)
    program.type("quit")
    #expect(await program.end().status == 0)
    #expect(server.requests.isEmpty)
  }

  @Test("what a client asked for before it was removed is kept for nobody", arguments: ["del", "clear"])
  func removes(_ command: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder, ["--plain"])
    server.hold()
    async let early = Curl.run([address + Self.kept])
    try await server.waitForRequests(1)
    program.type(command == "del" ? "del \(server.address)\(Self.kept)" : command)
    #expect(await program.line { $0.hasPrefix("\(command): ok") } != nil)
    server.release()
    #expect(try await early.output == "the content")
    #expect(try await Curl.run(["--include", address + Self.kept]).output.contains("fwd=uri-miss"))
    program.signal(SIGTERM)
    #expect(await program.end().status == 0)
  }

  @Test("where keys are masked no line has a path or the value of a field", arguments: ["--plain", "--json"])
  func masked(_ manner: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder, [manner, "--mask"])
    let path = Self.kept + "&Vary:Accept-Language&X-Owner:geheim"
    let fields = ["--header", "Accept-Language: geheim", "--header", "Cookie: geheim"]
    for _ in 0..<2 { #expect(try await Curl.run(fields + [address + path]).output == "the content") }
    program.signal(SIGTERM)
    let (status, lines, complaints) = await program.end()
    #expect(status == 0 && lines.count == 2)
    let said = (lines + complaints).joined(separator: "\n")
    #expect(said.contains("key-"), "\(said)")
    #expect(!said.contains("geheim") && !said.contains("/-/with"), "\(said)")
  }

  @Test("where keys are masked what fails is told without the address")
  func maskedFailures() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder, ["--plain", "--mask"])
    program.type("fault memory down")
    #expect(await program.line { $0.hasPrefix("fault: ") } != nil)
    #expect(try await Curl.run([address + Self.kept]).output == "the content")
    let warning = try #require(await program.complaint { $0.hasPrefix("warning: ") })
    #expect(warning.hasPrefix("warning: key-") && warning.contains(" could not be "))
    program.signal(SIGTERM)
    let (status, lines, complaints) = await program.end()
    #expect(status == 0)
    #expect(!([warning] + lines + complaints).joined().contains("/-/with"))
  }

  @Test("a signal lets a request finish that is under way, and takes no new one")
  func endsGracefully() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder)
    server.hold()
    async let slow = Curl.run(["--include", address + Self.kept])
    try await server.waitForRequests(1)
    program.signal(SIGTERM)
    // New connections are refused from here on; curl tells that by its status 7.
    while try await Curl.run([address + "/other"]).status != 7 { await Task.yield() }
    server.release()
    let answer = try await slow
    #expect(answer.status == 0 && answer.output.hasSuffix("the content"))
    #expect(await program.end().status == 0)
  }

  @Test("a signal that comes as soon as it says that it listens ends it in order")
  func endsAtOnce() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    for _ in 0..<10 {
      let (program, _) = try await serve(before: server, in: folder, ["--quiet"])
      program.signal(SIGTERM)
      let (status, _, complaints) = await program.end()
      #expect(status == 0 && complaints.last?.hasPrefix("0 requests: ") == true, "\(status) \(complaints)")
    }
  }

  @Test("what nohup has started outlives its terminal")
  func outlivesTerminal() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(
      before: server, in: folder, ["--quiet"], by: "trap '' HUP; exec \"$0\" \"$@\"")
    program.signal(SIGHUP)
    #expect(try await Curl.run([address + Self.kept]).output == "the content")
    program.signal(SIGTERM)
    #expect(await program.end().status == 0)
  }

  @Test("a second signal breaks off what does not end")
  func breaksOff() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder, ["--json", "--grace", "1h"])
    async let stuck = Curl.run([address + "/-/stall/body"])
    try await server.waitForRequests(1)
    program.signal(SIGTERM)
    while try await Curl.run([address + "/other"]).status != 7 { await Task.yield() }
    program.signal(SIGTERM)
    #expect(await program.end().status == 0)
    #expect(try await stuck.status != 0)
  }

  @Test(
    "servers that are slow, lie or speak something else give the right status, and nothing of them is kept",
    arguments: [
      ("/-/stall/before", 504, 0), ("/-/stall/headers", 504, 0), ("/-/close", 502, 0), ("/-/reset", 502, 0),
      ("/-/garbage", 502, 0), ("/-/http09", 502, 0), ("/-/lengths/10,11", 502, 0), ("/-/both", 502, 0),
      ("/-/short", 200, 18), ("/-/chunked/cut", 200, 18), ("/-/chunked/bad", 200, 18), ("/-/chunked/no-end", 200, 18),
    ])
  func badServers(path: String, status: Int, curl: Int32) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder, ["--json", "--timeout", "500ms"])
    let answer = try await Curl.run(["--output", "/dev/null", "--write-out", "%{http_code}", address + path])
    #expect(answer.output == "\(status)" && answer.status == curl)
    // The proxy goes on, and asks again.
    let again = try await Curl.run(["--output", "/dev/null", "--write-out", "%{http_code}", address + path])
    #expect(again.output == "\(status)" && again.status == curl)
    #expect(server.requests.filter { $0.target == path }.count >= 2)
    program.signal(SIGTERM)
    let (ended, lines, _) = await program.end()
    #expect(ended == 0)
    #expect(lines.allSatisfy { !$0.contains("\"outcome\":\"hit\"") })
  }

  @Test("a server that is down gives 502, and a stored answer where that is allowed")
  func down() async throws {
    let server = try LoopbackServer()
    let folder = try TemporaryFolder()
    let (program, address) = try await serve(before: server, in: folder, ["--plain"])
    let stale = "/-/with?Cache-Control:max-age=1&ETag:%22a%22"
    _ = try await Curl.run([address + stale])
    server.stop()
    #expect(
      try await Curl.run(["--output", "/dev/null", "--write-out", "%{http_code}", address + "/x"]).output == "502")
    program.type("advance 1m")
    let answer = try await Curl.run(["--include", address + stale])
    #expect(answer.output.contains("detail=origin-unreachable") && answer.output.hasSuffix("the content"))
    program.signal(SIGTERM)
    #expect(await program.end().status == 0)
  }

  @Test(
    "what cannot be served is refused with its place and a remedy",
    arguments: [
      (
        "levels:\n  - memory: { capacity: 1 MiB }\n  - network: { url: \"http://a/{key}\" }\n", "c.yaml:3:5",
        "leave network out"
      ),
      ("levels:\n  - pooled: { origin: {} }\n", "c.yaml:2:15", "--origin"),
      ("levels:\n  - transformKeys: { with: lowercase, level: memory }\n", "c.yaml:2:5", "one key"),
      ("levels:\n  - memory: { keepExpired: 5m }\n", "c.yaml:2:15", "keepExpired"),
      ("levels:\n  - memory: { name: http }\n", "c.yaml:2:5", "another name"),
      ("levels:\n  - empty\n", "c.yaml:2:5", "no level keeps anything"),
      ("levels:\n  - memory: { capacity: 100 B }\n", "c.yaml:2:5", "no level has room"),
      ("levels:\n  - memory\nworkload: zipf\n", "c.yaml:3:", "leave “workload” out"),
    ])
  func refusedConfigurations(text: String, place: String, words: String) async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(text, to: "c.yaml")
    let run = try await Program.run(
      ["serve", "c.yaml", "--http", "127.0.0.1:0", "--origin", "http://127.0.0.1:1", "--json"], directory: folder.url)
    #expect(run.status == 3)
    #expect(run.errors.contains(place) && run.errors.contains(words), "\(run.errors)")
  }

  @Test(
    "addresses that are none are refused",
    arguments: [
      (["--origin", "ftp://a"], "write it as in http://127.0.0.1:3000"),
      (["--origin", "127.0.0.1:3000"], "write it as"),
      (["--origin", "http://a/b"], "leave “/b” out"), (["--origin", "http://u:p@a"], "credentials"),
      (["--origin", "http://a:0"], "no address"), (["--origin", "http://a:99999"], "no address"),
      (["--origin", "http://[::1"], "no address"), (["--origin", "http://"], "no address"),
      (["--origin", "http://a b"], "no address"),
      (["--origin", "https://a/b"], "leave “/b” out"), (["--origin", "https://a:0"], "no address"),
      (["--origin", "https://127.0.0.1:8080"], "ask itself"),
      (["--origin", "http://a", "--authorities", "a.pem"], "about an https server"),
      (["--origin", "https://a", "--authorities", "/nowhere.pem"], "/nowhere.pem cannot be read"),
      (["--origin", "http://127.0.0.1:8080"], "ask itself"), (["--origin", "http://localhost:8080"], "ask itself"),
      (["--http", "8080", "--origin", "http://a"], "write HOST:PORT"),
      (["--http", "127.0.0.1:70000", "--origin", "http://a"], "write HOST:PORT"), ([], "--origin"),
      (["--origin", "http://a", "--json", "--quiet"], "exclude each other"),
      (["--origin", "http://a", "--expect", "http.hitt > 1"], "did you mean “hit”"),
      (["--origin", "http://a", "--expect", "http.entries > 1"], "the proxy has no figure"),
      (["--origin", "http://a", "--timeout", "0s"], "more than 0"),
    ])
  func refusedAddresses(arguments: [String], words: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.memory, to: "c.yaml")
    let run = try await Program.run(["serve", file] + arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains(words), "\(run.errors)")
  }

  @Test("a port that is taken is told, with its remedy")
  func portInUse() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.memory, to: "c.yaml")
    let run = try await Program.run(
      ["serve", file, "--http", "127.0.0.1:\(server.port)", "--origin", "http://127.0.0.1:1", "--json"])
    #expect(run.status == 2)
    #expect(run.errors.contains("127.0.0.1:\(server.port) cannot be listened at"), "\(run.errors)")
  }
}
#endif
