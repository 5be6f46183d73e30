import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// What the screen, `stats`, the JSON and `expect` say of the same requests.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct FiguresTests {
  private let clock = ManualClock()

  @Test(
    "Screen, JSON, text and expectations count every read, however many events the screen cannot take",
    arguments: [20_000, 50_000])
  func agree(perSecond: Int) async throws {
    let seconds = 5
    let configuration = try ConfigurationReader.read(
      """
      levels:
        - memory: { count: 40, policy: lru }
        - pooled: { origin: { latency: 0s, failures: 10%, size: 10 B, seed: 3 } }
      """, file: "c.yaml", folder: "/")
    let buffer = EventBuffer(capacity: 1_000)
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock, observers: [buffer])
    let screen = RecordingScreen(size: Size(width: 120, height: 40))
    let explorer = Explorer(
      screen: screen, opened: OpenedCache(live: live), buffer: buffer,
      model: Model(configuration, title: "c", now: clock.now))
    explorer.prepare()
    for second in 0...seconds {
      if second < seconds { await Self.read(perSecond, live) }
      let batch = buffer.drain()
      explorer.show([
        .tick(clock.now, wall: clock.timeSinceEpoch), .events(batch.events, lost: batch.lost),
      ])
      clock.advance(by: .seconds(1))
    }
    explorer.show([.tick(clock.now, wall: clock.timeSinceEpoch)])

    let (shown, engine) = (explorer.model.live, live.statistics.snapshot)
    #expect(shown.lost > 0)
    #expect(engine.requests == seconds * perSecond)
    #expect(engine.requests == engine.ended + engine.joined + engine.cancelled)
    var whole = engine
    (whole.levels, whole.operators) = ([:], [:])
    #expect(shown.requests.count == whole)
    for (level, traffic) in zip(shown.levels, shown.traffic) { #expect(traffic.count == engine.levels[level.name]) }
    #expect(shown.operations[0] == engine.operators["pool"])
    #expect(Conservation.fault(in: shown) == nil)
    // A read that comes to a load as it ends asks memory once more.
    let memory = try #require(engine.levels["memory"])
    #expect(memory.lookups >= seconds * perSecond)
    #expect(shown.traffic[0].seconds.last(9, at: shown.now).reduce(0) { $0 + Int($1.asked) } == memory.lookups)

    let header = try #require(screen.shown.last?.lines.first)
    #expect(header.contains("of \(Format.count(engine.ended))"), "\(header)")
    let rate = shown.requests.seconds.rate(at: shown.now.advanced(by: .seconds(-1))) { $0.asked }
    #expect(rate == Double(perSecond))

    let json = try #require(
      JSONSerialization.jsonObject(with: Data(live.statisticsJSON.utf8)) as? [String: Any])
    #expect(json["requests"] as? Int == engine.requests)
    #expect(json["served"] as? [String: Int] == engine.served)
    #expect(json["joined"] as? Int == engine.joined)
    let levels = try #require(json["levels"] as? [[String: Any]])
    for level in levels {
      let count = try #require(engine.levels[level["name"] as? String ?? ""])
      #expect(level["lookups"] as? Int == count.lookups)
      #expect(level["hits"] as? Int == count.hits)
      #expect(level["errors"] as? Int == count.errors)
      #expect(level["writeErrors"] as? Int == count.writeErrors)
      #expect((level["misses"] as? [String: Int])?.values.reduce(0, +) ?? 0 == count.missed)
    }
    #expect(live.summary.contains("memory: \(memory.lookups) lookups"))
    for text in [
      "requests == \(engine.requests)", "errors == \(engine.failed)", "memory.hits == \(memory.hits)",
      "memory.misses == \(memory.missed)", "origin.errors == \(engine.levels["origin"]?.errors ?? 0)",
      "pool.executions == \(engine.pool.executions)",
    ] {
      let report = try live.measure(Expectation(text))
      #expect(report.holds, "\(report.sentence)")
    }
    // The first second is out of the window by now.
    let recent = live.recent
    #expect(recent.requests == (seconds - 1) * perSecond)
    Self.compare(recent, with: shown, at: shown.now)
    let lately = try #require(json["recent"] as? [String: Any])
    #expect(lately["requests"] as? Int == recent.requests)
    #expect(lately["served"] as? [String: Int] == recent.served)
    let level = try #require((lately["levels"] as? [[String: Any]])?.first)
    #expect(level["hits"] as? Int == recent.levels["memory"]?.hits)
    #expect(live.summary.hasSuffix("of \(try #require(recent.levels["origin"]).answered) lookups"))
    let upper = try #require(recent.levels["memory"])
    #expect(
      live.summary.contains(
        "\nlast 5 s: \(recent.requests) requests, memory hit \(upper.hits) of \(upper.answered) lookups"))
    for text in ["requests == \(recent.requests) lately", "memory.hits == \(level["hits"] ?? 0) lately"] {
      let report = try live.measure(Expectation(text))
      #expect(report.holds, "\(report.sentence)")
      #expect(report.sentence.hasSuffix("; the last 5 s)") && report.window == .seconds(5))
    }
    try await live.close()
  }

  /// What is counted of the last seconds, and what the screen has of them.
  private static func compare(_ recent: CacheStatistics.Snapshot, with shown: Picture, at now: CacheInstant) {
    var whole = recent
    (whole.levels, whole.operators) = ([:], [:])
    #expect(shown.requests.recent(at: now) == whole)
    for (level, traffic) in zip(shown.levels, shown.traffic) {
      #expect(traffic.recent(at: now) == recent.levels[level.name] ?? .init())
    }
  }

  @Test("Whatever happens, every place that shows a count shows the same one", arguments: 1...4)
  func oneFold(seed: Int) async throws {
    let configuration = try ConfigurationReader.read(
      """
      levels:
        - memory: { count: 40 }
        - pooled: { capped: { limit: 3, level: { origin: { latency: 0s, size: 10 B } } } }
      """, file: "c.yaml", folder: "/")
    let buffer = EventBuffer(capacity: 18)
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock, observers: [buffer])
    let explorer = Explorer(
      screen: RecordingScreen(size: Size(width: 120, height: 40)), opened: OpenedCache(live: live), buffer: buffer,
      model: Model(configuration, title: "c", now: clock.now))
    explorer.prepare()
    var messages = RandomMessages(
      seed: UInt64(seed), levels: explorer.model.live.levels, operators: explorer.model.live.operators)
    var generator = SeededGenerator(seed: UInt64(seed))
    // What came over the wire, and what a recording has.
    let (attached, played) = (RecentFigures(), RecentFigures())
    var (told, counted) = (CacheStatistics.Snapshot(), [String: Int]())
    for step in 0..<600 {
      var event = messages.event()
      event.time = clock.now
      switch event.kind {
      case .operated(.queued), .operated(.admitted), .operated(.released):
        event.kind = .operated(.queued(running: step % 4, waiting: step % 3))
      default: break
      }
      for observer in [live.figures, live.statistics, buffer] as [any CacheObserver] { observer.record(event) }
      counted[event.level.map { "\($0) \(event.kind.description)" } ?? event.kind.description, default: 0] += 1
      guard step % 20 == 0 else { continue }
      let counts = live.statistics.snapshot
      let new = counts.since(told)
      told = counts
      attached.pass(clock.now)
      attached.statistics.add(try JSONDecoder().decode(CacheStatistics.Snapshot.self, from: JSONEncoder().encode(new)))
      played.pass(clock.now)
      played.statistics.add(
        try JSONText(reading: Array(JSONText(recording: new).line.utf8)[...]).recorded(CacheStatistics.Snapshot.self))
      let batch = buffer.drain()
      explorer.show([.tick(clock.now, wall: .zero), .events(batch.events, lost: batch.lost)])
      clock.advance(by: .milliseconds(Int.random(in: 0...900, using: &generator)))
    }
    explorer.show([.events(buffer.drain().events, lost: 0), .tick(clock.now, wall: .zero)])
    let engine = live.statistics.snapshot
    attached.statistics.add(engine.since(told))
    played.statistics.add(engine.since(told))
    // Levels of which only what nobody counts was told are left out of what came in between.
    let all = engine.since(CacheStatistics.Snapshot())
    #expect(attached.statistics.snapshot == all && played.statistics.snapshot == all)
    #expect(attached.sum(at: clock.now) == live.recent && played.sum(at: clock.now) == live.recent)
    let shown = explorer.model.live
    Self.compare(live.recent, with: shown, at: shown.now)
    var whole = engine
    (whole.levels, whole.operators) = ([:], [:])
    #expect(shown.requests.count == whole)
    for (level, traffic) in zip(shown.levels, shown.traffic) {
      let count = try #require(engine.levels[level.name])
      #expect(traffic.count == count)
      // Beside all folds, by hand.
      #expect(count.lookups == counted["\(level.name) ask"] && count.hits == counted["\(level.name) hit"])
      #expect(count.missed + count.refused == counted["\(level.name) miss"])
      #expect(count.removals[.evicted] == counted["\(level.name) evicted"])
      for text in [
        "lookups == \(count.lookups)", "hits == \(count.hits)", "evictions == \(count.removals[.evicted] ?? 0)",
      ] {
        #expect(try live.measure(Expectation("\(level.name).\(text)")).holds, "\(text)")
      }
    }
    for (operation, row) in zip(shown.operations, shown.operators) {
      #expect(operation == engine.operators[row.name] ?? OperatorTraffic())
    }
    let json = try #require(JSONSerialization.jsonObject(with: Data(live.statisticsJSON.utf8)) as? [String: Any])
    #expect(json["requests"] as? Int == engine.requests && json["cancelled"] as? Int == engine.cancelled)
    #expect((json["recent"] as? [String: Any])?["requests"] as? Int == live.recent.requests)
    for level in try #require(json["levels"] as? [[String: Any]]) {
      let count = try #require(engine.levels[level["name"] as? String ?? ""])
      #expect(level["lookups"] as? Int == count.lookups && level["backFills"] as? Int == count.backFills)
    }
    try await live.close()
  }

  /// Four clients, whose keys are mostly among those that memory holds.
  @concurrent
  private nonisolated static func read(_ count: Int, _ live: LiveCache) async {
    await withTaskGroup(of: Void.self) { group in
      for client in 0..<4 {
        group.addTask {
          for number in 0..<count / 4 {
            let key = number % 100 == 0 ? "rare:\(number + client)" : "key:\(number % 20)"
            _ = try? await live.cache.get(key)
          }
        }
      }
    }
  }

  @Test("What was counted of an app before it was shown is in no figure and no rate")
  func another() async throws {
    let configuration = try ConfigurationReader.read("levels: [{ memory: {} }]", file: "c.yaml", folder: "/")
    let first = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock)
    let other = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock)
    for _ in 0..<100 { _ = try await other.cache.get("a") }
    let explorer = Explorer(
      screen: RecordingScreen(size: Size(width: 120, height: 40)), opened: OpenedCache(live: first),
      buffer: EventBuffer(), model: Model(configuration, title: "c", now: clock.now))
    explorer.prepare()
    await explorer.use(other)
    let attachment = Attachment(label: "attached 7 other")
    explorer.show([.attachedAgain(attachment, Replacement(configuration, file: "c.yaml")), .events([], lost: 0)])
    #expect(explorer.model.live.requests.count.requests == 0)
    _ = try await other.cache.get("a")
    explorer.show([.events([], lost: 0)])
    #expect(explorer.model.live.requests.count.requests == 1 && explorer.model.live.traffic[0].lookups == 1)
    try await first.close()
    try await other.close()
  }

  @Test("After an outage the last seconds are well again, while the time since the start is not")
  func outage() throws {
    var scene = Scene(size: Size(width: 120, height: 40))
    func ask(_ kind: CacheEvent.Kind, _ outcome: CacheEvent.Outcome) {
      let request = scene.nextRequest()
      scene.event(.requestBegan(.get), key: "a", request: request)
      scene.event(.lookupBegan, level: "origin", key: "a", request: request)
      scene.event(kind, level: "origin", key: "a", request: request)
      scene.event(.requestEnded(.get, outcome, .seconds(3)), key: "a", request: request)
    }
    for _ in 0..<10 {
      ask(.failed(.get, "down", .seconds(3)), .failed("down"))
      scene.pass(.seconds(1))
    }
    for _ in 0..<8 {
      ask(.hit(cost: 1, deadline: nil, .milliseconds(4)), .hit(level: "origin"))
      scene.pass(.seconds(1))
    }
    let origin = scene.model.live.traffic[2]
    #expect(origin.errors == 10 && origin.recent(at: scene.now).errors == 0)
    #expect(scene.lines.contains { $0.contains("err 55.6%  5 s 0.0%") })
    #expect(scene.lines[0].contains("hit 0.0% of 18, 5 s 0.0%"))
    #expect(scene.lines.contains { $0.contains("served by") && $0.contains("failed 10") })
    scene.press(.character("R"))
    #expect(scene.lines.contains { $0.contains("last 5 s by") && !$0.contains("failed") })
    #expect(scene.lines.contains { $0.contains("p99 4ms") && !$0.contains("p99 3s") })
    #expect(scene.lines.contains { $0.contains("Latency") && $0.contains("last 5 s · log x") })
    #expect(!scene.lines.contains { $0.contains("errors 10") })
    scene.press(.character("R"))
    #expect(scene.lines.contains { $0.contains("errors 10") })
  }

  @Test("What failed is drawn as a failure, and what joined as joined")
  func colours() throws {
    var scene = Scene(size: Size(width: 120, height: 40))
    for (number, outcome) in [CacheEvent.Outcome.failed("down"), .hit(level: "memory"), .miss(.absent)].enumerated() {
      let request = RequestID(UInt64(number))
      scene.event(.requestBegan(.get), key: "a", request: request)
      if number == 1 { scene.event(.flightJoined(callers: 2), level: "pool", key: "a", request: request) }
      scene.event(.requestEnded(.get, outcome, .zero), key: "a", request: request)
    }
    scene.read("b", from: 0)
    var canvas = Canvas(scene.model.size)
    view(scene.model, on: &canvas)
    let row = try #require(canvas.lines.firstIndex { $0.hasPrefix(" served by") })
    for (word, style) in [("failed", Style.error), ("joined", .join), ("missed", .miss)] {
      let place = try #require(canvas.lines[row].range(of: word))
      let column = DisplayText(String(canvas.lines[row][..<place.lowerBound])).width
      #expect(canvas[column, row].style == style, "\(word)")
    }
  }
}
