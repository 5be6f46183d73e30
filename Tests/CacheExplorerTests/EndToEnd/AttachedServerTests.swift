#if Redis
import CacheEngineInspector
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import CacheEngine
import Foundation
import PseudoTerminal
import TestRedis
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerState

/// `cache-explorer attach redis://…` and a redis-server.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct AttachedServerTests {
  /// Thirty short-lived users and ten pages that stay.
  private func fill(_ redis: TestRedis) async throws {
    let store = redis.store()
    var changes: [SharedChange] = []
    for number in 0..<30 {
      changes.append(.set(Array("user:\(number)".utf8), to: [1, 2, 3], lifetime: .seconds(900)))
    }
    for number in 0..<10 {
      changes.append(.set(Array("page/\(number)".utf8), to: Array(repeating: 7, count: 5_000), lifetime: nil))
    }
    changes.append(.set([0x61, 0x3a, 0xff, 0x00], to: [9], lifetime: nil))
    _ = try await store.commit(changes, if: [], reading: [])
    store.close()
  }

  private func object(_ run: Program.Run) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
  }

  @Test("the server and its keys by prefix are told as JSON, and nothing in the server is changed")
  func headless() async throws {
    let redis = try await TestRedis()
    try await fill(redis)
    var settings = RedisSettings(.socket(redis.socket))
    settings.commandLimit = .seconds(30)
    // Everything that the server is asked, as it says itself.
    let watcher = RedisInspection(settings)
    let (lines, lineCame) = AsyncStream<String>.makeStream()
    let watching = Task { try await watcher.monitor(for: .seconds(600), atMost: 100_000) { lineCame.yield($0) } }
    let store = redis.store()
    let (seen, hasSeen) = AsyncStream<Void>.makeStream()
    let collecting = Task {
      var all: [String] = []
      for await line in lines {
        all.append(line)
        if all.count == 1 { hasSeen.finish() }
        if line.contains("the end") { break }
      }
      return all
    }
    let knocking = Task { while !Task.isCancelled { _ = try await store.read([Array("knock".utf8)]) } }
    for await _ in seen {}
    knocking.cancel()
    _ = await knocking.result

    let run = try await Program.run(
      ["attach", "redis+unix://\(redis.socket)", "--once", "--format", "json", "--for", "20ms"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try JSONSchema(named: "keyspace").faults(in: run.output) == [])
    let sheet = try object(run)
    let sample = try #require(sheet["sample"] as? [String: Any])
    #expect(sample["keys"] as? Int == 41)
    #expect(sample["isAll"] as? Bool == true)
    let prefixes = try #require(sample["prefixes"] as? [[String: Any]])
    #expect(prefixes.map { $0["prefix"] as? String } == ["page/", "user:", "a:"])
    #expect(prefixes.map { $0["keys"] as? Int } == [10, 30, 1])
    #expect(prefixes.map { $0["unlimited"] as? Int } == [10, 0, 1])
    #expect((prefixes[0]["bytes"] as? Int ?? 0) > 50_000)
    let left = try #require(prefixes[1]["medianTimeLeftMilliseconds"] as? Int)
    #expect((1...900_000).contains(left))
    let server = try #require(sheet["server"] as? [String: Any])
    #expect(server["keys"] as? Int == 41)
    // What looking at it costs is not counted: nobody has read any of the keys.
    #expect(server["hits"] as? Int == 0)

    _ = try await store.read([Array("the end".utf8)])
    let asked = await collecting.value.compactMap { $0.split(separator: "\"").dropFirst().first?.uppercased() }
    watching.cancel()
    #expect(
      Set(asked).isSubset(of: ["HELLO", "CLIENT", "MGET", "INFO", "DBSIZE", "SCAN", "MEMORY", "PTTL", "PING"]),
      "\(Set(asked))")
    #expect(asked.contains("SCAN"))
  }

  @Test("nor are looks at values counted, and a server whose counts are set back counts from there")
  func ownLooks() async throws {
    let redis = try await TestRedis()
    try await fill(redis)
    let server = InspectedServer(RedisSettings(.socket(redis.socket)), mostKeys: 100)
    try await server.look()
    let before = server.sheet.server
    try await server.lookAtKeys()
    _ = try await server.get("user:1")
    #expect(try await server.get("nobody") == nil)
    try await server.look()
    #expect(server.sheet.server.hits == before.hits)
    #expect(server.sheet.server.misses == before.misses)
    for words in [["config", "resetstat"], ["get", "user:1"]] {
      let client = try RunningProgram(["redis-cli", "-s", redis.socket] + words, executable: "/usr/bin/env")
      #expect(await client.end().status == 0)
    }
    try await server.look()
    #expect(server.sheet.server.hits == 1)
    server.close()
  }

  @Test(
    "no age is written of keys that the server does not tell the age of", arguments: [ExportFormat.json, .csv, .txt])
  func ageless(format: ExportFormat) async throws {
    let redis = try await TestRedis()
    try await fill(redis)
    let server = try await AttachedServer.open("redis+unix://\(redis.socket)", mostKeys: 100, buffer: EventBuffer())
    let text = try await Export(server.live).text(format)
    #expect(text.contains("page/3") && !text.contains(" old") && !text.contains(#""ageMilliseconds""#), "\(text)")
    if format == .json { #expect(try JSONSchema(named: "entries").faults(in: text) == []) }
    if format == .csv { #expect(text.contains(",,\r\n")) }
    try await server.live.close()
  }

  @Test("of many keys so many are looked at as is asked for, and their prefixes have other names if that is asked for")
  func bounded() async throws {
    let redis = try await TestRedis()
    try await fill(redis)
    let run = try await Program.run(
      ["attach", "redis+unix://\(redis.socket)", "--once", "--json", "--for", "1ms", "--keys", "12"])
    let sample = try #require(try object(run)["sample"] as? [String: Any])
    #expect(sample["keys"] as? Int == 12)
    #expect(sample["isAll"] as? Bool == false)
    let masked = try await Program.run(
      ["attach", "redis+unix://\(redis.socket)", "--once", "--json", "--mask", "--for", "1ms"])
    #expect(masked.output.contains(#""prefix":"key-"#) && !masked.output.contains("user:"), "\(masked.output)")
  }

  @Test("listening to commands is announced, ends by itself, and tells what a memory in each client would answer")
  func monitor() async throws {
    let redis = try await TestRedis()
    try await fill(redis)
    let program = try RunningProgram(
      ["attach", "redis+unix://\(redis.socket)", "--once", "--json", "--for", "1ms", "--monitor", "5s"])
    let notice = try #require(await program.complaint { $0.hasPrefix("notice: ") })
    #expect(notice.contains("listening to every command of the server for 5s"))
    // By a process of its own, whose turn comes also where the tests beside this one leave Swift's threads none.
    let reader = Process()
    reader.executableURL = URL(filePath: "/usr/bin/env")
    reader.arguments = ["redis-cli", "-s", redis.socket, "-r", "-1", "-i", "0.01", "get", "user:1"]
    reader.standardOutput = FileHandle.nullDevice
    try reader.run()
    defer { reader.terminate() }
    let end = await program.end()
    #expect(end.status == 0)
    let line = try #require(end.lines.last)
    #expect(try JSONSchema(named: "keyspace").faults(in: line) == [])
    let sheet = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let traffic = try #require(sheet["monitor"] as? [String: Any])
    #expect((traffic["reads"] as? Int ?? 0) > 1)
    #expect(traffic["keys"] as? Int == 1)
    let fronts = try #require(traffic["memoryInEachClient"] as? [[String: Any]])
    #expect(fronts.first?["hits"] as? Int == (traffic["reads"] as? Int ?? 0) - 1)
    let prefixes = try #require((sheet["sample"] as? [String: Any])?["prefixes"] as? [[String: Any]])
    #expect(prefixes.first { $0["prefix"] as? String == "user:" }?["reads"] as? Int == traffic["reads"] as? Int)
  }

  @Test("a server that is not there, a wrong password, a wrong database and what is no Redis are told, with a status")
  func unusable() async throws {
    func attach(_ address: String) async throws -> Program.Run {
      let run = try await Program.run(["attach", address, "--once", "--format", "json"])
      #expect(run.output.isEmpty)
      #expect(!run.errors.contains("hidden"), "\(run.errors)")
      return run
    }
    let nobody = try await attach("redis://127.0.0.1:1")
    #expect(nobody.status == 5)
    #expect(nobody.errors.hasPrefix("error: redis://127.0.0.1:1 cannot be reached; check that the server runs and"))
    let redis = try await TestRedis("--requirepass", "right", "--port", "0")
    // A socket's address has no password.
    let locked = try await attach("redis+unix://\(redis.socket)")
    #expect(locked.status == 2)
    #expect(locked.errors.contains("the server refused: NOAUTH"))
    let poor = try await TestRedis("--user", "default", "on", "nopass", "~*", "&*", "+@all", "-info")
    let refused = try await attach("redis+unix://\(poor.socket)")
    #expect(refused.status == 2)
    #expect(refused.errors.hasPrefix("error: at redis+unix://\(poor.socket) the server refused: NOPERM"))
    #expect(refused.errors.contains("needs +@read +@connection +info"), "\(refused.errors)")
    let port = try FreePort.find()
    let open = try await TestRedis("--port", "\(port)", "--requirepass", "right")
    let wrong = try await attach("redis://:hidden@127.0.0.1:\(port)")
    #expect(wrong.status == 2)
    #expect(wrong.errors.contains("the server refused: WRONGPASS"))
    let database = try await attach("redis://:right@127.0.0.1:\(port)/99")
    #expect(database.status == 2)
    #expect(database.errors.contains("DB index is out of range"))
    let folder = try TemporaryFolder()
    let app = try CacheInspector.serve(
      MemoryCacheLevel<String, Data>(), at: folder.url.appending(path: "s").path())
    let other = try await attach("redis+unix://\(folder.url.appending(path: "s").path())")
    #expect(other.status != 0)
    #expect(other.errors.contains("redis+unix://"), "\(other.errors)")
    withExtendedLifetime((app, open, poor)) {}
    let tls = try await attach("rediss://localhost")
    #if RedisTLS
    #expect(tls.status == 5)
    #else
    #expect(tls.status == 2)
    #endif
    for option in [["--monitor", "1s"], ["--keys", "5"]] {
      let misplaced = try await Program.run(["attach", "/tmp", "--once"] + option)
      #expect(misplaced.status == 2)
      #expect(misplaced.errors.contains("--monitor and --keys are about a Redis server"))
    }
    #expect(try await Program.run(["attach", "/tmp", "--for", "9s"]).errors.contains("--format and --for need --once"))
  }

  @Test(
    "the screen has the prefixes and the server, leads to the keys, and refuses to change them",
    arguments: [(120, 40), (80, 24)])
  func screen(width: Int, height: Int) async throws {
    let redis = try await TestRedis()
    try await fill(redis)
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["attach", "redis+unix://\(redis.socket)"], width: width, height: height,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])
    try await terminal.wait(for: "the prefixes") {
      $0.screen.contains("┌ Keyspace 1–3 of 3") && $0.screen.contains("▸page/") && $0.screen.contains("41 of 41 keys")
    }
    terminal.send(":set a b")
    terminal.send(.enter)
    try await terminal.wait(forText: "a server is looked at and not changed")
    terminal.send(":monitor 1ms")
    terminal.send(.enter)
    try await terminal.wait(for: "what was heard") {
      $0.screen.contains("listened for 0.0 s") && $0.screen.contains("0 commands")
    }
    terminal.send(.enter)
    try await terminal.wait(for: "the keys of the prefix") {
      $0.screen.contains("┌ Entries 1–10 of 10") && $0.screen.contains("page/3")
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("a server that goes is said to be gone, and what was known stays")
  func gone() async throws {
    let redis = try await TestRedis()
    try await fill(redis)
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["attach", "redis+unix://\(redis.socket)"], width: 120, height: 40,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])
    try await terminal.wait(forText: "┌ Keyspace 1–3 of 3")
    redis.kill()
    try await terminal.wait(for: "the problem") { $0.screen.contains("problem ") && $0.screen.contains("page/") }
    try await redis.start()
    try await terminal.wait(for: "the server to be there again") { !$0.screen.contains("problem ") }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }
}
#endif
