import CacheEngine
import Foundation
import Synchronization
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct CommandExecutorTests {
  private func executor(_ origin: String = "size: 16, seed: 7") async throws -> Interpreter {
    let configuration = try ConfigurationReader.read(
      "levels:\n  - memory: { capacity: 1 MiB }\n  - origin: { latency: 0ms..0ms, \(origin) }", file: "c.yaml",
      folder: "/")
    return Interpreter(live: try await CacheBuilder.build(configuration, file: "c.yaml"), mode: .script)
  }

  @Test("A first read comes from the origin and fills memory, a second comes from memory")
  func reads() async throws {
    let executor = try await executor()
    let first = await executor.get("a", level: nil)
    #expect(first.outcome == .hit)
    #expect(first.level == "origin")
    #expect(first.value?.count == 16)
    #expect(first.note == "back-filled memory")
    let second = await executor.get("a", level: nil)
    #expect(second.outcome == .hit)
    #expect(second.level == "memory")
    #expect(second.value == first.value)
    #expect(second.note == nil)
    #expect(second.microseconds >= 0)
  }

  @Test(
    "Whoever reads from a cache that nothing ever comes into is told so",
    arguments: [
      ("memory: {}", "zipf", true), ("memory: {}", "mixed", false), ("origin: {}", "zipf", false),
      ("fallback: { value: a, level: { memory: {} } }", "zipf", false),
    ])
  func nothingToFind(level: String, workload: String, isTold: Bool) async throws {
    let configuration = try ConfigurationReader.read("levels:\n  - \(level)", file: "c.yaml", folder: "/")
    let live = try await CacheBuilder.build(configuration, file: "c.yaml")
    let interpreter = Interpreter(live: live, mode: .interactive)
    let answer = await interpreter.run(RunVerb(WorkloadRequest(name: workload, rate: 1)))
    #expect(answer.note?.contains("it only reads, and no level makes what is missing") == isTold)
    await interpreter.stopWorkload()
    try await live.close()
  }

  @Test("Why a workload beside the commands could not go on is told")
  func brokenWorkload() async throws {
    let configuration = try ConfigurationReader.read("levels: [memory]", file: "c.yaml", folder: "/")
    let live = try await CacheBuilder.build(configuration, file: "c.yaml")
    let problems = Synchronization.Mutex<[String]>([])
    let interpreter = Interpreter(
      OpenedCache(live: live), mode: .interactive,
      onProblem: { result in problems.withLock { $0.append(result.sentence) } })
    _ = await interpreter.run(RunVerb(WorkloadRequest(name: "trace", file: "/")))
    await interpreter.waitForWorkload()
    #expect(problems.withLock { $0 }.first?.hasPrefix("run: /: error: the trace cannot be read") == true)
    try await live.close()
  }

  @Test("A read that is interrupted says so")
  func interrupted() async throws {
    let configuration = try ConfigurationReader.read(
      "levels:\n  - origin: { latency: 1h }", file: "c.yaml", folder: "/")
    let executor = Interpreter(live: try await CacheBuilder.build(configuration, file: "c.yaml"), mode: .script)
    let read = Task { await executor.get("a", level: nil) }
    read.cancel()
    #expect(await read.value.error == "it was interrupted")
  }

  @Test("A miss says why, in every level and in one")
  func misses() async throws {
    let executor = try await executor("missing: 100%")
    for level in [nil, "memory", "origin"] {
      let result = await executor.get("a", level: level)
      #expect(result.outcome == .miss)
      #expect(result.reason == "absent")
      #expect(result.value == nil)
    }
  }

  @Test("A value can be set in one level, with a lifetime of its own")
  func sets() async throws {
    let executor = try await executor("missing: 100%")
    let set = await executor.set("a", to: .text("one"), timeToLive: .seconds(3_600), level: "memory")
    #expect(set.outcome == .ok)
    #expect(set.note == "stored in memory")
    let get = await executor.get("a", level: "memory")
    #expect(get.value == Data("one".utf8))
    #expect(get.level == "memory")
    #expect(await executor.set("b", to: .text("two"), timeToLive: nil, level: nil).note == "stored in memory")
    #expect(await executor.get("b", level: nil).value == Data("two".utf8))
  }

  @Test("A value with no time to live is gone at once")
  func shortLife() async throws {
    let executor = try await executor("missing: 100%")
    _ = await executor.set("a", to: .text("one"), timeToLive: .zero, level: "memory")
    #expect(await executor.get("a", level: "memory").outcome == .miss)
  }

  @Test("A value may come from a file, and a file that is not there is an error")
  func files() async throws {
    let executor = try await executor()
    let path = NSTemporaryDirectory() + "value-\(UUID().uuidString)"
    try Data([0, 255, 1]).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(await executor.set("a", to: .file(path), timeToLive: nil, level: nil).outcome == .ok)
    #expect(await executor.get("a", level: nil).value == Data([0, 255, 1]))
    let missing = await executor.set("a", to: .file(path + ".none"), timeToLive: nil, level: nil)
    #expect(missing.outcome == .error)
    #expect(missing.error == "there is no file \(path).none; check the path, or write the value itself")
  }

  @Test("What is no file, or too large for a value, is refused by what it is")
  func noFiles() async throws {
    let executor = try await executor()
    let folder = try TemporaryFolder()
    let large = folder.url.appending(path: "large").path()
    _ = FileManager.default.createFile(atPath: large, contents: nil)
    try FileHandle(forWritingTo: URL(filePath: large)).truncate(atOffset: 65 << 20)
    let link = folder.url.appending(path: "link").path()
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: large)
    let (loop, dangling) = (folder.url.path() + "/loop", folder.url.path() + "/dangling")
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: "none")
    for (path, error) in [
      ("/dev/zero", "/dev/zero is a device, a pipe or a socket; name a file that holds the value"),
      (folder.url.path(), "\(folder.url.path()) is a directory; name a file that holds the value"),
      (link, "\(link) has 65 MiB, and a value may have 64 MiB; name a smaller file"),
      (loop, "\(loop) cannot be read (Too many levels of symbolic links); name a file that you may read"),
      (dangling, "there is no file \(dangling); check the path, or write the value itself"),
      // Its first page belongs to nobody; elsewhere there is no such file.
      (
        "/proc/self/mem",
        FileManager.default.fileExists(atPath: "/proc/self/mem")
          ? "/proc/self/mem cannot be read (Input/output error); name a file that you may read"
          : "there is no file /proc/self/mem; check the path, or write the value itself"
      ),
    ] {
      #expect(await executor.set("a", to: .file(path), timeToLive: nil, level: nil).error == error)
    }
  }

  @Test("Removing a key says from where, and is no error if it was nowhere")
  func deletes() async throws {
    let executor = try await executor("missing: 100%")
    _ = await executor.set("a", to: .text("one"), timeToLive: nil, level: nil)
    #expect(await executor.delete("a").note == "removed from memory")
    #expect(await executor.get("a", level: nil).reason == "absent")
    let again = await executor.delete("a")
    #expect(again.outcome == .ok)
    #expect(again.note == "it was in no level")
  }

  @Test("Clearing counts what it removed, in every level or in one", arguments: [nil, "memory"])
  func clears(level: String?) async throws {
    let executor = try await executor()
    for key in ["a", "b", "c"] { _ = await executor.get(key, level: nil) }
    #expect(await executor.clear(level: level).note == "3 entries removed from \(level ?? "every level")")
    #expect(await executor.clear(level: level).note == "0 entries removed from \(level ?? "every level")")
    #expect(await executor.get("a", level: "memory").reason == "absent")
    _ = await executor.get("a", level: nil)
    #expect(await executor.clear(level: level).note == "1 entry removed from \(level ?? "every level")")
  }

  @Test("An expired key is a miss that says so at that level, and is read anew from below")
  func expires() async throws {
    let executor = try await executor()
    for key in ["a", "b", "c"] { _ = await executor.get(key, level: nil) }
    #expect(await executor.expire("a").note == "1 entry expired")
    let missed = await executor.get("a", level: "memory")
    #expect(missed.outcome == .miss)
    #expect(missed.reason == "expired")
    #expect(await executor.get("b", level: nil).level == "memory")
    #expect(await executor.get("a", level: nil).level == "origin")
    #expect(await executor.expire("nobody").note == "0 entries expired")
    #expect(await executor.expire(nil).note == "3 entries expired")
    #expect(await executor.get("b", level: nil).level == "origin")
  }

  @Test("A memory warning says what each level gave back")
  func warns() async throws {
    let executor = try await executor()
    #expect(await executor.warn().note == "no level had anything to give back")
    _ = await executor.set("a", to: .text("one"), timeToLive: nil, level: nil)
    let usage = try #require(executor.live.usage["memory"])
    #expect(await executor.warn().note == "memory dropped 1 entry, \(Format.bytes(usage.cost))")
    #expect(await executor.get("a", level: "memory").outcome == .miss)
  }

  @Test("A level that is not there is an error that names those that are")
  func unknownLevel() async throws {
    let executor = try await executor()
    let expected = "there is no level “disk”; the levels are memory, origin"
    for result in [
      await executor.get("a", level: "disk"), await executor.clear(level: "disk"),
      await executor.set("a", to: .text("b"), timeToLive: nil, level: "disk"),
    ] {
      #expect(result.outcome == .error)
      #expect(result.error == expected)
    }
  }

  @Test("A failure of a level is an error that says what failed")
  func failure() async throws {
    let result = await (try executor("failures: 100%")).get("a", level: nil)
    #expect(result.outcome == .error)
    #expect(try #require(result.error).contains("origin"))
  }

  @Test(
    "A workload sends so many requests and counts the failures",
    arguments: [("failures: 0%", 0), ("failures: 100%", 50)])
  func workload(origin: String, failures: Int) async throws {
    let runner = WorkloadRunner(live: try await executor(origin).live)
    let workload = try Workload(WorkloadRequest(name: "scan"))
    let report = await runner.run(workload, requests: 50, rate: nil)
    #expect(report.requests == 50)
    #expect(report.failures == failures)
  }

  /// A clock on which waiting takes no time, and is counted.
  private final class CountingClock: CacheClock {
    private let state = Mutex((now: CacheInstant(nanoseconds: 0), waits: 0))
    /// The wait at whose end the clock is moved forwards by an hour.
    private let leap: Int

    init(leap: Int = 0) { self.leap = leap }

    var waits: Int { state.withLock { $0.waits } }
    var now: CacheInstant { state.withLock { $0.now } }
    var timeSinceEpoch: Duration { .zero }
    var bootIdentifier: UInt64 { 1 }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
      state.withLock { state in
        state = (max(state.now, deadline), state.waits + 1)
        if state.waits == leap { state.now = state.now.advanced(by: .seconds(3_600)) }
      }
    }
  }

  @Test(
    "A workload waits for each request of twelve a second, and a hundred times a second for ten thousand",
    arguments: [(12.0, 24, 24), (10_000, 5_000, 50), (1e300, 5_000, 1)])
  func beats(rate: Double, requests: Int, waits: Int) async throws {
    let configuration = try ConfigurationReader.read("levels: [memory]", file: "c.yaml", folder: "/")
    let clock = CountingClock()
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock, observers: [])
    let report = await WorkloadRunner(live: live).run(
      try Workload(WorkloadRequest(name: "scan")), requests: requests, rate: rate)
    #expect(report.requests == requests)
    #expect(clock.waits == waits)
    #expect(clock.now.nanoseconds <= Int64(Double(requests) / rate * 1e9))
    try await live.close()
  }

  @Test("A workload does not make up for time that was moved over")
  func leaps() async throws {
    let configuration = try ConfigurationReader.read("levels: [memory]", file: "c.yaml", folder: "/")
    let clock = CountingClock(leap: 10)
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock, observers: [])
    let report = await WorkloadRunner(live: live).run(
      try Workload(WorkloadRequest(name: "scan")), requests: 21, rate: 10)
    #expect(report.requests == 21)
    #expect(clock.now == CacheInstant(nanoseconds: 3_602_000_000_000))
    try await live.close()
  }

  @Test("A level whose lifetime is spread gives each entry another one, no longer than what is given")
  func spreads() async throws {
    let configuration = try ConfigurationReader.read(
      "levels: [{ memory: { expiry: { after: 100s, jitter: 20% } } }]", file: "c.yaml", folder: "/")
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: CountingClock(), observers: [])
    for number in 0..<50 { try await live.cache.set(Data("x".utf8), forKey: "\(number)") }
    let contents = try await #require(live.levels[0].storage).contents()
    let lives = contents.map { $0.created.duration(to: $0.deadline ?? $0.created) / .seconds(1) }
    #expect(lives.count == 50 && lives.allSatisfy { (80...100).contains($0) })
    #expect(Set(lives).count > 25, "\(lives)")
    try await live.close()
  }

  @Test("The slowest of workloads can be stopped while it waits", .timeLimit(.minutes(10)))
  func slowest() async throws {
    let runner = WorkloadRunner(live: try await executor().live)
    let workload = try Workload(WorkloadRequest(name: "scan"))
    let task = Task { await runner.run(workload, requests: nil, rate: 1e-300) }
    await Task.yield()
    task.cancel()
    #expect(await task.value.requests <= 1)
  }

  /// Memory of at most a hundred bytes over a disk.
  private func twoLevels(_ folder: borrowing TemporaryFolder, buffer: EventBuffer) async throws -> LiveCache {
    let configuration = try ConfigurationReader.read(
      "levels:\n  - memory: { capacity: 100 B }\n  - disk: { directory: d }\n", file: "c.yaml",
      folder: folder.url.path())
    return try await CacheBuilder.build(configuration, file: "c.yaml", observers: [buffer])
  }

  @Test("del names every level that held the key, and the disk's line in the log has the number of the call")
  func deletesEverywhere() async throws {
    let folder = try TemporaryFolder()
    let buffer = EventBuffer()
    let live = try await twoLevels(folder, buffer: buffer)
    let executor = Interpreter(live: live, mode: .script)
    _ = await executor.set("a", to: .text("small"), timeToLive: nil, level: nil)
    let result = await executor.delete("a")
    #expect(result.note == "removed from memory, disk")
    #expect(await executor.delete("a").note == "it was in no level")
    try await live.close()
    let removals = buffer.drain().events.filter { if case .removed(.removed, _) = $0.kind { true } else { false } }
    #expect(Set(removals.map(\.level)) == ["memory", "disk"])
    #expect(removals.count == 2)
    #expect(removals.allSatisfy { $0.request != nil && $0.request == removals[0].request })
  }

  @Test("A value is shown from whichever level holds it, also if the first one has let go of it")
  func looksBelow() async throws {
    let folder = try TemporaryFolder()
    let live = try await twoLevels(folder, buffer: EventBuffer())
    try await live.cache.set(Data("small".utf8), forKey: "a")
    try await live.level(named: "memory")?.level.remove("a")
    let sight = await live.sight(of: "a", from: "memory")
    #expect(sight.level == "disk")
    #expect(sight.content == .bytes(Array("small".utf8), of: 5))
    #expect(await live.sight(of: "b", from: "memory").content == .absent)
    try await live.close()
  }

  @Test("A value that is larger than a level is stored in the others, which set, the list and the cause of a miss say")
  func tooLarge() async throws {
    let folder = try TemporaryFolder()
    let buffer = EventBuffer()
    let live = try await twoLevels(folder, buffer: buffer)
    let executor = Interpreter(live: live, mode: .script)
    let large = SetVerb.Source.text(String(repeating: "x", count: 300))
    let set = await executor.set("a", to: large, timeToLive: nil, level: nil)
    #expect(set.note == "stored in disk; larger than memory, which keeps nothing of it")
    let alone = await executor.set("a", to: large, timeToLive: nil, level: "memory")
    #expect(alone.note == "stored nowhere: larger than memory, which keeps nothing of it")
    let get = await executor.get("a", level: nil)
    #expect(get.level == "disk")
    #expect(get.note == nil)
    let levels = [LevelRow(name: "memory", kind: "memory"), LevelRow(name: "disk", kind: "disk")]
    var scene = Scene(size: Size(width: 120, height: 40), levels: levels)
    let events = buffer.drain().events
    scene.send(.events(events, lost: 0))
    #expect(scene.model.live.entries.row("a")?.presence.map { $0 != nil } == [false, true])
    let request = try #require(events.last { if case .miss = $0.kind { true } else { false } }?.request)
    let step = try #require(scene.model.live.calls[request]?.steps.first)
    let cause = try #require(step.cause)
    #expect(
      CauseText.sentence(cause, at: step.place, key: "a", scene.model)
        == "MEMORY missed because the value is larger than the level")
    try await live.close()
  }
}
