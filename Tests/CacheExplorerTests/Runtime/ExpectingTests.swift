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

/// Expectations about a cache that was used.
struct ExpectingTests {
  private static let yaml = """
    levels:
      - memory: { count: 3, policy: lru }
      - pooled:
          origin: { latency: 0s, size: 100 B, seed: 1 }
    """

  let clock = ManualClock()

  private func cache(_ yaml: String = Self.yaml) async throws -> LiveCache {
    let configuration = try ConfigurationReader.read(yaml, file: "c.yaml", folder: NSTemporaryDirectory())
    return try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock)
  }

  private func report(_ text: String, of live: LiveCache) throws -> ExpectationReport {
    try live.measure(Expectation(text))
  }

  @Test("Figures are those of the statistics: levels, the pool, the whole cache")
  func figures() async throws {
    let live = try await cache()
    // a b c miss; a and b hit; d evicts c.
    for key in ["a", "b", "c", "a", "b", "d"] { _ = try await live.cache.get(key) }
    let exact: [(String, Double)] = [
      ("memory.hit >= 30%", 2.0 / 6), ("memory.miss <= 90%", 4.0 / 6), ("memory.error <= 0%", 0),
      ("memory.served >= 1%", 2.0 / 6), ("origin.served >= 1%", 4.0 / 6), ("memory.hits == 2", 2),
      ("memory.misses == 4", 4), ("memory.lookups == 6", 6), ("memory.requests == 6", 6), ("origin.requests == 4", 4),
      ("memory.fills == 4", 4), ("memory.sets == 0", 0), ("memory.evictions == 1", 1), ("memory.expirations == 0", 0),
      ("memory.entries == 3", 3), ("requests == 6", 6), ("hits == 2", 2), ("hit >= 1%", 2.0 / 6),
      ("misses == 0", 0), ("errors == 0", 0), ("executions == 4", 4), ("joined == 0", 0), ("pool.executions == 4", 4),
      ("max <= 0s", 0), ("p99 <= 0s", 0), ("memory.p50 <= 1s", 0),
    ]
    for (text, value) in exact {
      let report = try report(text, of: live)
      #expect(report.actual == value, "\(text): \(report.sentence)")
      #expect(report.holds, "\(text): \(report.sentence)")
    }
    #expect(try report("memory.bytes > 0", of: live).holds)
  }

  @Test("One of anything is told as one")
  func singular() async throws {
    let live = try await cache()
    _ = try await live.cache.get("a")
    #expect(try report("requests == 1", of: live).source == "1 read of the whole cache; 1 read ended")
    #expect(try report("memory.misses == 1", of: live).source == "1 miss of memory; 1 look-up")
    #expect(try report("memory.miss > 0%", of: live).source == "misses: 1 of 1 answered look-up of memory (1 absent)")
    #expect(try report("memory.entries == 1", of: live).source.hasPrefix("memory holds 1 entry, "))
  }

  @Test("What failed is told with what was expected, what is, how far off, and of what")
  func difference() async throws {
    let live = try await cache()
    for key in ["a", "b", "c", "a"] { _ = try await live.cache.get(key) }
    clock.advance(by: .seconds(90))
    let report = try report("memory.hit >= 80%", of: live)
    #expect(!report.holds)
    #expect(
      report.lines == [
        "expected  at least 80%", "is        25%, 55 points too low",
        "from      hits: 1 of 4 answered look-ups of memory (3 absent)",
        "window    since the cache was opened, 1 min 30 s ago",
      ])
    #expect(try self.report("origin.requests <= 2", of: live).lines[1] == "is        3, 1 too many")
    #expect(try self.report("memory.hit > 25%", of: live).lines[1] == "is        25%")
    #expect(try self.report("memory.hit >= 25.00001%", of: live).actualText == "25%")
  }

  @Test("Where nothing was asked nothing holds, and the answer says so")
  func noTraffic() async throws {
    let live = try await cache()
    for text in [
      "memory.hit >= 0%", "p99 < 5ms", "origin.requests <= 120", "errors == 0", "pool.joined >= 0", "requests <= 10",
      "memory.served >= 0%", "memory.hit <= 100%", "origin.max < 1h",
    ] {
      let report = try report(text, of: live)
      #expect(!report.holds, "\(text)")
      #expect(report.actualText == "—")
      #expect(report.source.hasPrefix("no traffic: "), "\(report.source)")
    }
    // What is there can be counted, and who expects that nobody asks can say so.
    #expect(try report("memory.entries == 0", of: live).holds)
    #expect(try report("requests == 0", of: live).holds)
    #expect(try report("origin.entries == 0", of: live).holds == false)
  }

  @Test("Reads that join another's load are neither hits nor misses, as on the screen")
  func joined() async throws {
    let live = try await cache(
      "levels:\n  - memory: { count: 3 }\n  - pooled: { origin: { latency: 40ms, size: 9 B } }\n")
    let reads = Task {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { _ = try? await live.cache.get("a") } }
      }
    }
    try await turns { live.statistics.snapshot.pool.joined >= 3 }
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(40))
    await reads.value
    _ = try await live.cache.get("a")
    #expect(live.statistics.snapshot.joined == 3)
    #expect(live.statistics.snapshot.served == ["memory": 1, "origin": 1])
    let report = try report("hit >= 50%", of: live)
    #expect(report.actual == 0.5)
    #expect(report.source == "hits: 1 of 2 reads that ended (3 joined)")
    #expect(try self.report("origin.served == 50%", of: live).holds)
    #expect(try self.report("p50 <= 40ms", of: live).holds)
    #expect(try self.report("max == 40ms", of: live).holds)
  }

  @Test("A script tells every expectation, and how many failed")
  func script() async throws {
    let live = try await cache()
    let lines = Mutex<[String]>([])
    let script = """
      get a
      get a
      expect "memory.hit >= 50%"
      expect memory.hit >= 51%
      expect memory.hti >= 51%
      """
    #expect(throws: ScriptFailure.self) { try ScriptRunner.parse(script, file: "s") }
    let commands = try ScriptRunner.parse(script.replacing("expect memory.hti >= 51%", with: ""), file: "s")
    let runner = ScriptRunner(opened: OpenedCache(live: live), format: .text) { line in
      lines.withLock { $0.append(line) }
    }
    let ending = await runner.play(commands)
    #expect(ending.expectations == 2)
    #expect(ending.failed == 1)
    let told = lines.withLock { $0 }
    #expect(told[2].hasPrefix("expect: ok memory.hit >= 50%: 50% (hits: 1 of 2 answered look-ups of memory"))
    #expect(
      told[3].hasPrefix(
        "expect: failed memory.hit >= 51%\n  expected  at least 51%\n  is        50%, 1 point too low\n"))
  }

  @Test("A script that names what is not there is refused as a whole, but not after it loaded another configuration")
  func checked() throws {
    let names = ExpectationNames(levels: ["memory"], operators: [])
    let failure = #expect(throws: ScriptFailure.self) {
      try ScriptRunner.parse("get a\nexpect memroy.hit >= 1%\n", file: "s", names: names)
    }
    #expect(
      failure?.description
        == "s:2:8: error: there is no level “memroy”; did you mean “memory”?\n  expect memroy.hit >= 1%\n         ^")
    let proxy = #expect(throws: CommandError.self) { try names.check(Expectation("http.hit >= 1%")) }
    #expect(proxy?.message == "there is no proxy here, which “http” stands for")
    _ = try ScriptRunner.parse("load b.yaml\nexpect other.hit >= 1%\n", file: "s", names: names)
  }

  @Test("A script may end its lines as Windows does", arguments: ["\n", "\r\n"])
  func lineEnds(end: String) throws {
    let script = ["# first a comment", "get a", "", "stats"].joined(separator: end)
    for text in [script, script + end] {
      let commands = try ScriptRunner.parse(text, file: "s")
      #expect(commands.count == 2)
      #expect((commands.first as? GetVerb)?.key == "a")
    }
    let faulty = script + end + "gte x" + end
    let failure = #expect(throws: ScriptFailure.self) { try ScriptRunner.parse(faulty, file: "s") }
    #expect(failure?.description.hasPrefix("s:5:1: error: ") == true)
  }
}

extension ExpectingTests {
  @Test("What is expected lately is compared with the last seconds alone")
  func lately() async throws {
    let configuration = try ConfigurationReader.read("levels: [{ memory: { count: 3 } }]", file: "c.yaml", folder: "/")
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock)
    for key in ["a", "b"] { _ = try await live.cache.get(key) }
    try await live.cache.set(Data([1]), forKey: "a")
    clock.advance(by: .seconds(10))
    for _ in 0..<3 { _ = try await live.cache.get("a") }
    #expect(try live.measure(Expectation("memory.hit == 60%")).holds)
    #expect(try live.measure(Expectation("memory.hit == 100% lately")).holds)
    #expect(try live.measure(Expectation("requests == 3 lately")).holds)
    clock.advance(by: .seconds(5))
    #expect(try live.measure(Expectation("requests == 3 lately")).holds)
    clock.advance(by: .seconds(1))
    let idle = try live.measure(Expectation("memory.hit >= 0% lately"))
    #expect(!idle.holds && idle.sentence.contains("no traffic: memory has answered no look-up; the last 5 s"))
    #expect(try live.measure(Expectation("memory.hits == 3")).holds)
    let held = #expect(throws: CommandError.self) { try Expectation("memory.entries > 0 lately") }
    #expect(held?.description.contains("leave out “lately”") == true)
    #expect(try Expectation("p99 < 5ms lately").text == "p99 < 5ms lately")
    try await live.close()
  }
}
