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

/// Configurations with operators, built and used on a clock that stands still.
@Suite(.timeLimit(.minutes(10))) struct OperatorTests {
  private let clock = ManualClock()
  private let recorder = RecordingObserver()

  private func build(_ levels: String) async throws -> Interpreter {
    let configuration = try ConfigurationReader.read("levels:\n" + levels, file: "c.yaml", folder: "/")
    return Interpreter(
      live: try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock, observers: [recorder]),
      mode: .script)
  }

  private func text(_ result: CommandResult) -> String? { result.value.map { String(decoding: $0, as: UTF8.self) } }

  @Test("A cap lets so many loads through, and the others wait for their turn")
  func cap() async throws {
    let executor = try await build("  - capped: { limit: 2, level: { origin: { latency: 1s..1s } } }")
    let answers = Task {
      await withTaskGroup(of: CommandResult.self) { group in
        for number in 0..<5 { group.addTask { await executor.get("key:\(number)", level: nil) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    await recorder.event { if case .operated(.queued(running: 2, waiting: 3)) = $0.kind { true } else { false } }
    #expect(executor.live.operation("capped").running == 2)
    #expect(executor.live.operation("capped").waiting == 3)
    for sleepers in [2, 2, 1] {
      await clock.waitForSleepers(sleepers)
      clock.advance(by: .seconds(1))
    }
    let results = await answers.value
    #expect(results.allSatisfy { $0.outcome == .hit })
    #expect(results.count { $0.note?.contains("waited at capped") == true } == 3)
    #expect(executor.live.operation("capped").running == 0)
    #expect(executor.live.operation("capped").queued == 3)
  }

  @Test("What an operator does again for one read is told once")
  func toldOnce() async throws {
    let levels = """
      levels:
        - fallback:
            value: none
            level:
              retry:
                attempts: 3
                delay: 1us
                level: { timeout: { after: 1ms, level: { origin: { latency: 1h } } } }
      """
    let configuration = try ConfigurationReader.read(levels, file: "c.yaml", folder: "/")
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: AdjustableClock())
    let result = await Interpreter(live: live, mode: .script).get("a", level: nil)
    #expect(
      result.note == "given up by timeout, attempt 2 by retry, attempt 3 by retry, covered by fallback", "\(result)")
  }

  @Test("A breaker opens after so many failures, leaves the origin alone, and tries again when its time has come")
  func breaker() async throws {
    let executor = try await build(
      "  - breaker: { failures: 3, reset: 30s, level: { origin: { latency: 0s, failures: 100% } } }")
    func lookups() -> Int { executor.live.statistics.snapshot.levels["origin"]?.lookups ?? 0 }
    for _ in 0..<3 { #expect(await executor.get("a", level: nil).error?.contains("on purpose") == true) }
    #expect(executor.live.operation("breaker").circuit == .open)
    let refused = await executor.get("a", level: nil)
    #expect(refused.outcome == .error)
    #expect(refused.error?.contains("left alone") == true)
    #expect(lookups() == 3)
    clock.advance(by: .seconds(30))
    #expect(await executor.get("a", level: nil).error?.contains("on purpose") == true)
    #expect(lookups() == 4)
    #expect(executor.live.operation("breaker").circuit == .open)
    #expect(executor.live.operation("breaker").timesOpened == 2)
  }

  @Test("Where the origin fails, what has expired is served as stale, and said to be")
  func staleIfError() async throws {
    let executor = try await build(
      """
        - stale:
            ifError: 10m
            level: { memory: { expiry: 5s, keepExpired: 10m } }
            from: { origin: { latency: 0s, failures: 50%, seed: 3, size: 8 } }
      """)
    var values: [String: Data] = [:]
    for number in 0..<40 {
      let result = await executor.get("key:\(number)", level: nil)
      #expect(!result.isStale)
      values["key:\(number)"] = result.value
    }
    #expect(values.count > 5 && values.count < 35)
    clock.advance(by: .seconds(6))
    var stale = 0
    for (key, value) in values {
      let result = await executor.get(key, level: nil)
      #expect(result.outcome == .hit)
      #expect(result.value == value)
      #expect(result.level == (result.isStale ? "memory" : "origin"))
      #expect(result.json.contains(#""stale":true"#) == result.isStale)
      #expect(result.sentence.contains("stale") == result.isStale)
      if result.isStale { stale += 1 }
    }
    #expect(stale > 2 && stale < values.count)
    #expect(executor.live.statistics.snapshot.levels["memory"]?.stale == stale)
    #expect(executor.live.statisticsJSON.contains(#""stale":\#(stale)"#))
    clock.advance(by: .seconds(700))
    for key in values.keys { #expect(await executor.get(key, level: nil).isStale == false) }
  }

  @Test("While it is refreshed behind the reader's back, a stale value is served at once, and a fresh one after")
  func staleWhileRevalidate() async throws {
    let executor = try await build(
      """
        - stale:
            whileRevalidate: 30s
            level: { memory: { expiry: 5s, keepExpired: 30s } }
            from: { origin: { latency: 0s, size: 8 } }
      """)
    #expect(await executor.get("a", level: nil).level == "origin")
    clock.advance(by: .seconds(6))
    let stale = await executor.get("a", level: nil)
    #expect(stale.isStale)
    #expect(stale.level == "memory")
    await recorder.event { if case .operated(.refreshEnded(_, error: nil)) = $0.kind { true } else { false } }
    let fresh = await executor.get("a", level: nil)
    #expect(!fresh.isStale)
    #expect(fresh.level == "memory")
    #expect(executor.live.operation("stale").refreshes == 1)
    #expect(executor.live.operation("stale").refreshing == 0)
  }

  @Test("Lanes send each key its way")
  func lanes() async throws {
    let executor = try await build(
      """
        - lanes:
            when: { prefix: "img:" }
            then: { memory: { name: images } }
            else: [{ memory: { name: rest } }, { origin: { latency: 0s } }]
      """)
    #expect(await executor.set("img:a", to: .text("x"), timeToLive: nil, level: nil).note == "stored in images")
    #expect(await executor.set("a", to: .text("y"), timeToLive: nil, level: nil).note == "stored in rest")
    #expect(await executor.get("img:a", level: nil).level == "images")
    #expect(await executor.get("a", level: nil).level == "rest")
    #expect(await executor.get("img:b", level: nil).outcome == .miss)
    #expect(await executor.get("b", level: nil).level == "origin")
  }

  @Test("A condition refuses the keys that do not meet it, and counts them")
  func condition() async throws {
    let executor = try await build("  - conditioned: { when: { prefix: \"img:\" }, level: memory }")
    _ = await executor.set("img:a", to: .text("x"), timeToLive: nil, level: nil)
    #expect(await executor.get("img:a", level: nil).level == "memory")
    let refused = await executor.get("a", level: nil)
    #expect(refused.outcome == .miss)
    #expect(refused.reason == "refused")
    #expect(refused.note == "refused by conditioned")
    #expect(executor.live.operation("conditioned").refused == 1)
  }

  @Test("Keys and values are turned on their way down, and values back on their way up")
  func transforms() async throws {
    let executor = try await build(
      """
        - transformKeys:
            with: [lowercase, { template: "v1/{key}" }]
            level: { transformValues: { with: base64, level: memory } }
      """)
    _ = await executor.set("Ab", to: .text("hello"), timeToLive: nil, level: nil)
    #expect(text(await executor.get("aB", level: nil)) == "hello")
    #expect(text(await executor.get("v1/ab", level: "memory")) == "aGVsbG8=")
    _ = await executor.set("v1/bad", to: .text("?"), timeToLive: nil, level: "memory")
    let bad = await executor.get("bad", level: nil)
    #expect(bad.outcome == .error)
    #expect(bad.error?.contains("not Base64") == true)
  }

  @Test("Where keys are masked, what failed below transformed keys names none of them")
  func maskedFailures() async throws {
    let executor = try await build("  - transformKeys: { with: [lowercase, { prefix: v1/ }], level: memory }")
    let live = executor.live
    let event = CacheEvent(
      time: live.clock.now, key: "GeHeim", kind: .requestEnded(.get, .failed("no http://h/v1%2Fgeheim"), .zero))
    let mask = KeyMask(salt: 7)
    let sentence = try #require(event.sentence(mask, live.levels))
    let lines = LogLine.lines(
      for: [event], now: live.clock.now, wall: live.clock.timeSinceEpoch, first: 1, levels: live.levels)
    let line = try #require(lines.first)
    #expect(line.text.contains("v1%2Fgeheim"))
    for text in [sentence, mask.hide(line.keys, in: line.text)] {
      #expect(text.contains("no http://h/key-") && !text.lowercased().contains("geheim"), "\(text)")
    }
  }

  @Test("Values are compressed and written as canonical JSON, and come back whole", arguments: ["gzip", "zlib"])
  func compresses(step: String) async throws {
    let executor = try await build(
      "  - transformValues: { with: [json, \(step)], level: memory }\n")
    let long = "{\"b\": [1, 2], \"a\": \"\(String(repeating: "x", count: 4_000))\"}"
    _ = await executor.set("a", to: .text(long), timeToLive: nil, level: nil)
    let stored = try #require(await executor.get("a", level: "memory").value)
    #expect(stored.count < 200)
    #expect(text(await executor.get("a", level: nil))?.hasPrefix("{\"a\":\"xxx") == true)
    #expect(await executor.set("b", to: .text("{"), timeToLive: nil, level: nil).outcome == .error)
    #expect(await executor.get("b", level: nil).outcome == .miss)
  }

  @Test("Settings hold values from one run to the next")
  func settings() async throws {
    let folder = NSTemporaryDirectory() + "settings-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let level = "  - defaults: { domain: com.example.test, directory: \"\(folder)\" }"
    let first = try await build(level)
    #expect(await first.set("a", to: .text("x"), timeToLive: nil, level: nil).note == "stored in defaults")
    try await first.live.close()
    let second = try await build(level)
    #expect(text(await second.get("a", level: nil)) == "x")
    #expect(second.live.usage["defaults"]?.count == 1)
    try await second.live.close()
  }

  @Test("What is read is processed, and what is stored is not")
  func postProcess() async throws {
    let executor = try await build("  - postProcess: { with: [uppercase, { suffix: \"!\" }], level: memory }")
    _ = await executor.set("a", to: .text("hello"), timeToLive: nil, level: nil)
    #expect(text(await executor.get("a", level: nil)) == "HELLO!")
    #expect(text(await executor.get("a", level: "memory")) == "hello")
  }

  @Test("An expiry ends what is stored, a maximum age what is read", arguments: ["after", "maximumAge"])
  func expiry(kind: String) async throws {
    let executor = try await build("  - expiry: { \(kind): 30s, level: { memory: { expiry: 1h } } }")
    _ = await executor.set("a", to: .text("x"), timeToLive: nil, level: nil)
    clock.advance(by: .seconds(29))
    #expect(await executor.get("a", level: nil).outcome == .hit)
    clock.advance(by: .seconds(1))
    #expect(await executor.get("a", level: nil).reason == "expired")
  }

  @Test("With a jitter, what is stored together expires one after the other, and nothing later than told")
  func jitter() async throws {
    let executor = try await build("  - expiry: { after: 60s, jitter: 50%, level: { memory: { expiry: 1h } } }")
    let keys = (0..<200).map { "key \($0)" }
    for key in keys { _ = await executor.set(key, to: .text("x"), timeToLive: nil, level: nil) }
    func alive() async -> Int {
      var count = 0
      for key in keys where await executor.get(key, level: nil).outcome == .hit { count += 1 }
      return count
    }
    clock.advance(by: .seconds(30))
    #expect(await alive() == 200)
    clock.advance(by: .seconds(15))
    #expect((50...150).contains(await alive()))
    clock.advance(by: .seconds(15))
    #expect(await alive() == 0)
  }

  @Test("A miss is remembered for a while, and the origin not asked again")
  func negative() async throws {
    let executor = try await build("  - negative: { for: 5s, level: { origin: { latency: 0s, missing: 100% } } }")
    func lookups() -> Int { executor.live.statistics.snapshot.levels["origin"]?.lookups ?? 0 }
    #expect(await executor.get("a", level: nil).reason == "absent")
    let remembered = await executor.get("a", level: nil)
    #expect(remembered.reason == "remembered")
    #expect(remembered.note == "remembered by negative")
    #expect(lookups() == 1)
    clock.advance(by: .seconds(5))
    #expect(await executor.get("a", level: nil).reason == "absent")
    #expect(lookups() == 2)
    #expect(executor.live.operation("negative").rememberedMisses == 1)
  }

  @Test("A time limit ends a read that takes too long")
  func timeout() async throws {
    let executor = try await build("  - timeout: { after: 2s, level: { origin: { latency: 10s..10s } } }")
    async let answer = executor.get("a", level: nil)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(2))
    let result = await answer
    #expect(result.outcome == .error)
    #expect(result.error?.contains("within") == true)
    #expect(executor.live.operation("timeout").timeouts == 1)
  }

  @Test("A failed read is tried again, after its delays")
  func retry() async throws {
    let executor = try await build(
      "  - retry: { attempts: 3, delay: 1s, factor: 2, jitter: 0, level: { origin: { latency: 0s, failures: 100% } } }")
    async let answer = executor.get("a", level: nil)
    for delay in [1, 2] {
      await clock.waitForSleepers()
      clock.advance(by: .seconds(delay))
    }
    #expect(await answer.outcome == .error)
    #expect(executor.live.statistics.snapshot.levels["origin"]?.lookups == 3)
    #expect(executor.live.operation("retry").retries == 2)
  }

  @Test("A fallback answers where nobody else can")
  func fallback() async throws {
    let executor = try await build(
      "  - fallback: { value: \"nothing\", level: { origin: { latency: 0s, failures: 100% } } }")
    let result = await executor.get("a", level: nil)
    #expect(text(result) == "nothing")
    #expect(result.level == "fallback")
    #expect(result.note == "covered by fallback")
    #expect(executor.live.operation("fallback").fallbacks == 1)
  }

  @Test("A script's statistics list every operator with what it counts")
  func statistics() async throws {
    let executor = try await build(
      """
        - lanes:
            when: { prefix: "img:" }
            then: { conditioned: { name: short, when: { length: 1..6 }, level: memory } }
            else:
              fallback:
                value: none
                level: { pooled: { breaker: { failures: 2, level: { origin: { latency: 0s, failures: 100% } } } } }
      """)
    let lines = Mutex<[String]>([])
    let runner = ScriptRunner(opened: OpenedCache(live: executor.live), format: .json) { line in
      lines.withLock { $0.append(line) }
    }
    await runner.play(
      try ScriptRunner.parse("get img:a\nget img:long\nget a\nget b\nget c\nstats\n", file: "script"))
    let statistics = try #require(lines.withLock { $0.last })
    let object = try #require(try JSONSerialization.jsonObject(with: Data(statistics.utf8)) as? [String: Any])
    let operators = try #require(object["operators"] as? [[String: Any]])
    #expect(operators.compactMap { $0["name"] as? String } == ["lanes", "short", "fallback", "pool", "breaker"])
    #expect(
      operators.compactMap { $0["kind"] as? String } == ["lanes", "conditioned", "fallback", "pooled", "breaker"])
    #expect(operators[1]["refused"] as? Int == 1)
    #expect(operators[2]["fallbacks"] as? Int == 3)
    #expect(operators[3]["executions"] as? Int == 3)
    #expect(operators[4]["opened"] as? Int == 1)
    #expect(operators[4]["phase"] as? String == "open")
    #expect(
      executor.live.summary.contains("breaker: open, 1 opening\n")
        || executor.live.summary.hasSuffix("breaker: open, 1 opening"))
  }

  @Test("Values are transformed for the keys that meet the condition, and stay as they are for others")
  func someValues() async throws {
    let executor = try await build(
      """
        - transformValues: { with: base64, when: { prefix: "b:" }, level: memory }
        - postProcess: { with: uppercase, when: { suffix: "!" }, level: { memory: { name: below } } }
      """)
    for key in ["b:1", "a:1"] { _ = await executor.set(key, to: .text("hi"), timeToLive: nil, level: nil) }
    #expect(text(await executor.get("b:1", level: "memory")) == "aGk=")
    #expect(text(await executor.get("a:1", level: "memory")) == "hi")
    #expect(text(await executor.get("b:1", level: nil)) == "hi")
    for key in ["x!", "x"] { _ = await executor.set(key, to: .text("loud"), timeToLive: nil, level: "below") }
    #expect(text(await executor.get("x!", level: nil)) == "LOUD")
    #expect(text(await executor.get("x", level: nil)) == "loud")
  }
}
