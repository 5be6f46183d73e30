import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

/// `fault`, `speed`, `advance`, `load`, `reload` and `export`, as scripts write them.
@Suite(.timeLimit(.minutes(10))) struct FaultCommandTests {
  private func play(_ yaml: String, _ script: String, clock: any CacheClock = AdjustableClock()) async throws
    -> [String]
  {
    let configuration = try ConfigurationReader.read(yaml, file: "c.yaml", folder: "/")
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock)
    let opened = OpenedCache(configuration: configuration, file: "c.yaml", live: live)
    let lines = Mutex<[String]>([])
    let runner = ScriptRunner(opened: opened, format: .json) { line in lines.withLock { $0.append(line) } }
    await runner.play(try ScriptRunner.parse(script, file: "script"))
    return lines.withLock { $0 }
  }

  private static let stack = "levels:\n  - memory: { capacity: 1 MiB, expiry: 30s }\n  - origin: { latency: 0s }"

  @Test("A level that is down is passed over, is told in the statistics, and is well again when told")
  func down() async throws {
    let lines = try await play(
      Self.stack, "get a\nfault memory down\nget a\nstats\nfault memory off\nget a\nget a\nfault disk down")
    #expect(lines[2].contains(#""level":"origin""#))
    #expect(lines[3].contains(#""fault":{"now":"down","errors":2,"delays":0}"#))
    #expect(lines[5].contains(#""level":"memory""#))
    #expect(lines[7].contains(#""outcome":"error""#) && lines[7].contains("the levels are memory, origin"))
  }

  @Test("Slow is a latency, and needs no amount")
  func slow() throws {
    let slow = try #require(try Verbs.parse("fault redis slow") as? FaultVerb)
    #expect(slow.change == .latency(.milliseconds(300) ... .milliseconds(600)))
    #expect(throws: CommandError.self) { try Verbs.parse("fault redis slow 3s") }
  }

  @Test("The sentences tell failed writes, as the JSON does, and know one from many")
  func sentences() async throws {
    let configuration = try ConfigurationReader.read(Self.stack, file: "c.yaml", folder: "/")
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: AdjustableClock())
    let opened = OpenedCache(configuration: configuration, file: "c.yaml", live: live)
    let runner = ScriptRunner(opened: opened, format: .json) { _ in }
    await runner.play(try ScriptRunner.parse("get a\nfault memory down\nget a\nfault memory off", file: "script"))
    let lines = live.summary.split(separator: "\n")
    #expect(lines.first?.hasPrefix("2 requests; ") == true)
    #expect(
      lines.dropFirst().first?.hasPrefix("memory: 2 lookups, 0 hits, 1 absent, 1 failed, 1 write failed, 1 entry, ")
        == true)
    #expect(live.status.contains("1 look-up failed; 1 write failed"))
    #expect(live.statisticsJSON.contains(#""errors":2"#))
  }

  @Test("Errors are seeded: the same script gives the same answers")
  func seeded() async throws {
    let gets = (0..<60).map { "get key:\($0)" }.joined(separator: "\n")
    func outcomes(_ seed: Int) async throws -> [Bool] {
      try await play(Self.stack, "fault origin error 50% --seed \(seed)\n\(gets)").dropFirst().map {
        $0.contains("error")
      }
    }
    let first = try await outcomes(3)
    #expect(try await outcomes(3) == first)
    #expect(try await outcomes(4) != first)
    #expect((12...48).contains(first.count { $0 }))
  }

  @Test("A latency passes on the cache's own clock, and kinds of fault add up")
  func latency() async throws {
    let base = ManualClock()
    let clock = AdjustableClock(base)
    let hand = Task {
      await base.waitForSleepers()
      base.advance(by: .milliseconds(250))
    }
    let lines = try await play(
      Self.stack, "fault origin error 0%\nfault origin latency 250ms\nget a\nstats", clock: clock)
    await hand.value
    #expect(lines[2].contains(#""microseconds":250000"#))
    #expect(lines[3].contains(#""fault":{"now":"latency 250ms","errors":0,"delays":1}"#))
  }

  @Test("Time can be moved forwards: what is due by then has expired")
  func advances() async throws {
    let lines = try await play(
      Self.stack, "get a\nadvance 29s\nget a\nadvance 2s\nget a --level memory\nspeed 0.5\nstatus",
      clock: AdjustableClock(ManualClock()))
    #expect(lines[2].contains(#""level":"memory""#))
    #expect(lines[4].contains(#""reason":"expired""#))
    #expect(lines[5].contains(#""outcome":"ok""#))
  }

  @Test("A clock that cannot be set says so")
  func fixedClock() async throws {
    let lines = try await play(Self.stack, "advance 1s", clock: ManualClock())
    #expect(lines[0].contains("cannot be set"))
  }

  @Test("Another configuration can be loaded, and one that changed read again; a bad one leaves the old in place")
  func loads() async throws {
    let folder = try TemporaryFolder()
    let other = try folder.write(
      "levels:\n  - memory: { name: upper }\n  - origin: { latency: 0s }\n", to: "other.yaml")
    let bad = try folder.write("levels:\n  - memroy\n", to: "bad.yaml")
    let lines = try await play(
      Self.stack,
      "reload\nload \(bad)\nget a\nload \(other)\nget a\nget a\nreload\nload \(folder.url.path())/none.yaml")
    #expect(lines[0].contains("not from a file"))
    #expect(lines[1].contains("bad.yaml:2:5"))
    #expect(lines[2].contains(#""level":"origin""#))
    #expect(lines[3].contains(#""outcome":"ok""#))
    #expect(lines[5].contains(#""level":"upper""#))
    #expect(lines[6].contains(#""outcome":"ok""#))
    #expect(lines[7].contains(#""outcome":"error""#))
  }

  @Test("What changed between two configurations is told by the names of levels")
  func changes() async throws {
    func opened(_ yaml: String) async throws -> OpenedCache {
      let configuration = try ConfigurationReader.read(yaml, file: "c.yaml", folder: "/")
      let live = try await CacheBuilder.build(configuration, file: "c.yaml")
      return OpenedCache(configuration: configuration, file: "c.yaml", live: live)
    }
    let old = try await opened("levels:\n  - memory: { capacity: 1 MiB }\n  - origin: { latency: 0s }")
    let new = try await opened(
      "\n\nlevels:\n  - memory: { capacity: 2 MiB }\n  - memory: { name: second }\n  - pooled: { origin: { latency: 0s } }"
    )
    #expect(new.changes(from: old) == "c.yaml is in use; new: pool, second; changed: memory")
    #expect(old.changes(from: old) == "c.yaml is in use")
  }

  @Test("No command writes over the configuration in use")
  func ownConfiguration() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(#"{ "levels": [ { "memory": { "count": 3 } } ] }"#, to: "c.json")
    let linked = folder.url.path() + "/linked.json"
    try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: file)
    for target in [file, linked] {
      let run = try await Program.run(["run", file], input: "export \(target)\n")
      #expect(run.status == 2)
      #expect(run.output.contains("\(target) is the configuration in use; name another file"), "\(run.output)")
    }
    // A proxy has one that it cannot read again.
    let configuration = try ConfigurationReader.read(Self.stack, file: file, folder: "/")
    let live = try await CacheBuilder.build(configuration, file: file)
    let result = await Interpreter(OpenedCache(file: file, live: live), mode: .script).run(ExportVerb(file: linked))
    #expect(result.isRefused)
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("levels"))
  }

  @Test("What the levels hold is written into a file, in each format, and no key can break out of its field")
  func exports() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/"
    try FileManager.default.createSymbolicLink(atPath: path + "loop", withDestinationPath: path + "loop")
    let lines = try await play(
      "levels:\n  - memory: { capacity: 1 MiB, expiry: 30s }\n  - memory: { name: second }",
      #"""
      set "a,\"b\"" one
      set "=1+1" two --level second
      set "\x1b[2J" three --level second
      export \#(path)all.json
      export \#(path)all.json
      export \#(path)all.csv
      export \#(path)all.txt
      export /no/such/directory/all.csv
      export \#(path)loop/all.csv
      export \#(path)all.txt/all.csv
      """#, clock: AdjustableClock(ManualClock()))
    #expect(lines[3].contains(#""outcome":"ok""#) && lines[3].contains(#"all.json""#))
    #expect(lines[4].contains(#"all.json, in place of the file that was there""#))
    #expect(lines[7].contains("all.csv cannot be written (No such file or directory); name a file"))
    #expect(lines[8].contains("all.csv cannot be written (Too many levels of symbolic links); name a file"))
    #expect(lines[9].contains("all.csv cannot be written (Not a directory); name a file"))
    let json = try Data(contentsOf: folder.url.appending(path: "all.json"))
    let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    let entries = try #require(object["entries"] as? [[String: Any]])
    #expect(entries.count == 4)
    #expect(entries[0]["key"] as? String == "a,\"b\"")
    #expect(entries[0]["timeLeftMilliseconds"] as? Int == 30_000)
    #expect(entries[1]["timeLeftMilliseconds"] == nil)
    #expect((object["statistics"] as? [String: Any])?["levels"] != nil)
    let csv = try String(contentsOf: folder.url.appending(path: "all.csv"), encoding: .utf8)
    #expect(csv.hasPrefix("key,level,bytes,ageMilliseconds,timeLeftMilliseconds\r\n\"a,\"\"b\"\"\",memory,"))
    #expect(csv.contains("'=1+1,second,"))
    let text = try String(contentsOf: folder.url.appending(path: "all.txt"), encoding: .utf8)
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    #expect(text.contains("30000 ms left"))
  }
}
