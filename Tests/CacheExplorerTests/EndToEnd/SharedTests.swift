#if Redis
import CacheEngine
import CacheEngineTesting
import Foundation
import LoopbackServer
import TestRedis
import Testing

/// Several explorers over one redis-server, as processes.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct SharedTests {
  /// The example, at another server.
  private func example(
    _ redis: TestRedis, in folder: borrowing TemporaryFolder, _ more: String = ""
  ) throws -> String {
    let text = try String(contentsOf: Program.root.appending(path: "Examples/shared.yaml"), encoding: .utf8)
    #expect(text.contains("redis://127.0.0.1:6379"))
    return try folder.write(
      text.replacing("redis://127.0.0.1:6379", with: "redis+unix://\(redis.socket)")
        .replacing("whileDeaf: 5s", with: "whileDeaf: 5s" + more), to: "shared.yaml")
  }

  /// An explorer that was opened, and is asked a line at a time.
  private struct Opened {
    let program: RunningProgram

    init(_ configuration: String) async throws {
      program = try RunningProgram(["open", configuration, "--plain"])
      _ = try #require(await program.line { $0.contains("is open") })
    }

    /// The first line of the answer to a command.
    func ask(_ command: String) async throws -> String {
      program.type(command)
      let verb = command.prefix { $0 != " " } + ":"
      return try #require(await program.line { $0.hasPrefix(verb) })
    }

    /// The value of a key and where it came from, as in `redis 1`; `nil` for a miss.
    func get(_ key: String) async throws -> String? {
      let answer = try await ask("get \(key)")
      guard let hit = answer.firstMatch(of: /hit from (\w+)/) else { return nil }
      let value = try #require(await program.line { _ in true })
      return "\(hit.1) \(value.trimmingCharacters(in: .whitespaces))"
    }

    /// Asks for a key until it comes as it should, and gives what came before; many times, but not for ever.
    @discardableResult
    func get(_ key: String, until expected: String) async throws -> [String?] {
      var answers: [String?] = []
      for _ in 0..<5_000 {
        let answer = try await get(key)
        if answer == expected { return answers }
        answers.append(answer)
      }
      Issue.record("\(key) never came as \(expected), but as \(answers.last as Any)")
      return answers
    }

    /// The line that tells how it stands with the server.
    func shared() async throws -> String {
      _ = try await ask("status")
      return try #require(await program.line { $0.contains("redis served") || $0.contains("redis was not asked") })
    }

    func waitToHear() async throws {
      for _ in 0..<5_000 where try await shared().contains("it hears what others change") { return }
      Issue.record("it never heard anything")
    }

    func end() async throws {
      program.type("quit")
      #expect(await program.end().status == 0)
    }
  }

  @Test("a key is set in one process, and the other forgets its old value at once")
  func forgets() async throws {
    let redis = try await TestRedis()
    let folder = try TemporaryFolder()
    let file = try example(redis, in: folder)
    let (here, there) = (try await Opened(file), try await Opened(file))
    try await there.waitToHear()
    #expect(try await here.ask("set greeting hello").contains("stored in redis, memory"))
    #expect(try await there.get("greeting") == "redis hello")
    // A read that is overtaken by the news of the write brings its value, and copies nothing.
    try await there.get("greeting", until: "memory hello")
    #expect(try await here.ask("set greeting bonjour").contains("ok"))
    // The server has told it before it answered the write, but the process may not have read that yet.
    #expect(try await there.get("greeting", until: "redis bonjour").allSatisfy { $0 == "memory hello" })
    try await there.get("greeting", until: "memory bonjour")
    #expect(try await there.shared().contains("it was told of "))
    try await here.end()
    try await there.end()
  }

  @Test("what is removed, expired or cleared in the server is told, though only memory has a list of its keys")
  func told() async throws {
    let redis = try await TestRedis()
    let folder = try TemporaryFolder()
    let here = try await Opened(try example(redis, in: folder))
    try await here.waitToHear()
    #expect(try await here.ask("del k").hasSuffix("it was in no level"))
    _ = try await here.ask("set k v --level redis")
    #expect(try await here.ask("del k").hasSuffix("removed from redis"))
    #expect(try await here.get("k") == nil)
    _ = try await here.ask("set k v --level redis")
    #expect(try await here.ask("expire k").contains("1 entry expired"))
    #expect(try await here.ask("clear").hasSuffix("every level; those of redis are gone too, and not counted"))
    #expect(try await here.ask("clear redis").hasSuffix("every entry removed from redis"))
    _ = try await here.ask("fault redis down")
    #expect(try await here.ask("del k").contains("some levels could not be written; redis: "))
    try await here.end()
  }

  @Test("who hears nothing serves its copies for as long as it may, and forgets them when it hears again")
  func deaf() async throws {
    let redis = try await TestRedis()
    let folder = try TemporaryFolder()
    let file = try example(redis, in: folder)
    let passing = try folder.write(
      String(contentsOfFile: file, encoding: .utf8).replacing("whileDeaf: 5s", with: "whileDeaf: 0s"), to: "pass.yaml")
    let (here, there) = (try await Opened(file), try await Opened(passing))
    try await there.waitToHear()
    _ = try await here.ask("set k old")
    try await there.get("k", until: "memory old")
    #expect(try await there.ask("fault redis deaf").contains("redis: deaf"))
    #expect(try await there.shared().contains("it has heard no changes for"))
    _ = try await here.ask("set k new")
    // Memory is passed by: it has the old value still, and does not answer.
    try await there.get("k", until: "redis new")
    #expect(try await there.get("k") == "redis new")
    #expect(try await there.ask("fault redis off").contains("redis: no fault"))
    try await there.get("k", until: "memory new")
    try await here.end()
    try await there.end()
  }

  @Test("what was written in vain is a miss for all, and not an older value, when the server answers again")
  func down() async throws {
    let redis = try await TestRedis()
    let folder = try TemporaryFolder()
    let here = try await Opened(try example(redis, in: folder))
    try await here.waitToHear()
    _ = try await here.ask("set k old")
    _ = try await here.ask("fault redis down")
    #expect(try await here.ask("set k new").contains("some levels could not be written; redis: "))
    #expect(try await here.shared().contains("1 key written in vain"))
    _ = try await here.ask("fault redis off")
    // Nobody has the old value any more.
    while try await here.shared().contains("written in vain") {}
    let run = try await Program.run(
      ["run", folder.url.appending(path: "shared.yaml").path(), "--script", "-"], input: "get k\n")
    #expect(run.output.contains("miss (absent)"))
    try await here.end()
  }

  @Test("a fault of silence is for levels that hear")
  func nothingToHear() async throws {
    let redis = try await TestRedis()
    let folder = try TemporaryFolder()
    let run = try await Program.run(
      ["run", try example(redis, in: folder), "--script", "-"], input: "fault memory deaf\n")
    #expect(run.status == 2)
    #expect(run.output.contains("memory hears nothing from others anyway; name a redis level"))
  }

  @Test("statistics tell programs how it stands with the server, and the password is told nobody")
  func statistics() async throws {
    let redis = try await TestRedis("--requirepass", "hidden", "--port", "0")
    let folder = try TemporaryFolder()
    let file = try example(redis, in: folder)
    let run = try await Program.run(["run", file, "--script", "-", "--format", "json"], input: "get a\nstats\n")
    #expect(run.answers.first?["error"]?.contains("the server refused: NOAUTH") == true, "\(run.output)")
    #expect(run.output.contains(#""shared":{"connected":"#))
    #expect(run.output.contains(#""listening":false"#))
  }

  /// A configuration of a server that cannot be used, and what is said of it.
  private func refused(_ url: String, _ folder: borrowing TemporaryFolder) async throws -> (get: String, set: String) {
    let file = try folder.write(
      "levels:\n  - redis: { url: \"\(url)\", namespace: a, timeout: 2s, connectTimeout: 2s }\n", to: "bad.yaml")
    let run = try await Program.run(
      ["run", file, "--script", "-", "--format", "json"], input: "get a\nset a 1\nget a\n")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.answers.map { $0["outcome"] }.first == "error")
    #expect(!run.output.contains("hidden"))
    let strict = try await Program.run(["run", file, "--strict", "--script", "-"], input: "")
    #expect(strict.status == 5 || url.contains("/replica"), "\(strict.errors)")
    return (run.answers[0]["error"] ?? "", run.answers[1]["error"] ?? "")
  }

  @Test("a server that is not there, or is none, is an error that says so, within its limit")
  func unusable() async throws {
    let folder = try TemporaryFolder()
    #expect(try await refused("redis://127.0.0.1:1", folder).get.contains("redis://127.0.0.1:1 cannot be reached"))
    #expect(
      try await refused("redis+unix:///nowhere/s", folder).get.contains("redis+unix:///nowhere/s cannot be reached"))
    // It waits for the end of what it takes for a request.
    let web = try LoopbackServer(files: Program.root)
    defer { web.stop() }
    let address = web.address.replacing("http://", with: "redis://")
    #expect(try await refused(address, folder).get.contains("the server did not answer within"))
  }

  @Test("a wrong password and a wrong database are told in the server's words, and the password is not")
  func wrongCredentials() async throws {
    let port = try FreePort.find()
    let redis = try await TestRedis("--port", "\(port)", "--requirepass", "right")
    let folder = try TemporaryFolder()
    #expect(
      try await refused("redis://:hidden@127.0.0.1:\(port)", folder).get.contains("the server refused: WRONGPASS"))
    #expect(
      try await refused("redis://:right@127.0.0.1:\(port)/99", folder).get.contains("DB index is out of range"))
    withExtendedLifetime(redis) {}
  }

  @Test("a server that is full, or a replica that may only be read, refuses writes, which are misses then")
  func readOnly() async throws {
    let folder = try TemporaryFolder()
    for (options, words) in [
      (["--maxmemory", "1", "--maxmemory-policy", "noeviction"], "OOM"),
      (["--replicaof", "127.0.0.1 1", "--replica-read-only", "yes"], "READONLY"),
    ] {
      let redis = try await TestRedis(options)
      let file = try example(redis, in: folder)
      let run = try await Program.run(
        ["run", file, "--script", "-", "--format", "json"], input: "set a 1\nwarn\nget a\n")
      #expect(run.answers[0]["error"]?.contains(words) == true, "\(run.output)")
      #expect(run.answers[2]["outcome"] == "miss", "\(run.output)")
    }
  }

  @Test("a server that hangs costs no more than its limit, and then nothing until it is tried again")
  func hung() async throws {
    let redis = try await TestRedis()
    let folder = try TemporaryFolder()
    let here = try await Opened(try example(redis, in: folder, ", timeout: 300ms"))
    try await here.waitToHear()
    redis.stop()
    #expect(try await here.ask("get k").contains("the server did not answer within"))
    redis.resume()
    while try await here.ask("set k 1").contains("error") {}
    try await here.end()
  }
}

/// A port that nobody listens at.
enum FreePort {
  static func find() throws -> Int {
    let server = try LoopbackServer(files: Program.root)
    defer { server.stop() }
    return try #require(server.address.split(separator: ":").last.flatMap { Int($0) })
  }
}
#endif
