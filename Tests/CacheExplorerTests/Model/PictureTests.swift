import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct PictureTests {
  private let memory = "memory"
  private let small = Size(width: 80, height: 24)

  @Test("Nothing that was asked is unaccounted for, whatever comes in whatever order", arguments: 1...30)
  func conserves(seed: Int) {
    var messages = RandomMessages(seed: UInt64(seed), levels: Scene.threeLevels)
    var picture = Picture(levels: Scene.threeLevels, now: Scene.start)
    for step in 0..<3_000 {
      _ = picture.fold([messages.event()], lost: step % 701 == 700 ? 3 : 0)
      // At every moment, and not only at the end.
      if let fault = Conservation.fault(in: picture) {
        Issue.record("after \(step) events: \(fault)")
        return
      }
    }
    #expect(picture.inFlight.count == picture.inFlightCount)
  }

  @Test("A read is counted at every level that it reached, and served by the last")
  func countsAWay() {
    var scene = Scene(size: small)
    scene.read("a", from: 2)
    scene.read("a", from: 0)
    let picture = scene.model.live
    #expect(picture.traffic.map(\.lookups) == [2, 1, 1])
    #expect(picture.traffic.map(\.hits) == [1, 0, 1])
    #expect(picture.traffic.map(\.backFills) == [1, 1, 0])
    #expect(picture.requests.count.served == ["origin": 1, "memory": 1])
    #expect(picture.requests.count.answered == 2)
    #expect(picture.requests.pending.isEmpty)
  }

  @Test("Calls and loads that are never ended take no more room than so many, and hide none that is listed")
  func neverEnded() {
    var picture = Picture(levels: Scene.threeLevels, now: Scene.start)
    let most = 100_000
    for number in 0..<UInt64(most + 100) {
      let id = RequestID(number)
      picture.requests.began(id, .get, key: "k", at: Scene.start)
      picture.flights.began(FlightTable.ID(pool: "pool", key: "\(number)"), leader: id, at: Scene.start)
    }
    #expect(picture.requests.pending.count == most)
    #expect(picture.flights.flights.count == most)
    picture.requests.ended(RequestID(0))
    picture.requests.began(RequestID(.max), .get, key: "last", at: Scene.start)
    #expect(picture.requests.pending[RequestID(.max)]?.key == "last")
  }

  @Test("A load that is told of twice is led by its new leader alone")
  func ledAnew() {
    var flights = FlightTable()
    let id = FlightTable.ID(pool: "pool", key: "a")
    flights.began(id, leader: RequestID(1), at: Scene.start)
    flights.began(id, leader: RequestID(2), at: Scene.start)
    flights.reached(1, request: RequestID(1))
    #expect(flights.flights[id]?.level == nil)
    flights.reached(2, request: RequestID(2))
    #expect(flights.flights[id]?.level == 2)
  }

  @Test("A caller that joins a load is neither a hit nor a miss of its own")
  func joinedIsApart() {
    var scene = Scene(size: small)
    let leader = scene.nextRequest()
    let follower = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "a", request: leader)
    scene.event(.requestBegan(.get), key: "a", request: follower)
    scene.event(.flightBegan, level: "pool", key: "a", request: leader)
    scene.event(.flightJoined(callers: 2), level: "pool", key: "a", request: follower)
    scene.event(.lookupBegan, level: "origin", key: "a", request: leader)
    #expect(scene.model.live.inFlight.count == 1)
    #expect(scene.model.live.inFlight.first?.callers == 2)
    #expect(scene.model.live.inFlight.first?.level == 2)
    scene.event(.flightEnded(callers: 2, .zero), level: "pool", key: "a", request: leader)
    for request in [leader, follower] {
      scene.event(.requestEnded(.get, .hit(level: "origin"), .zero), key: "a", request: request)
    }
    let requests = scene.model.live.requests
    #expect(requests.count.answered == 1)
    #expect(requests.count.joined == 1)
    #expect(requests.count.served == ["origin": 1])
    #expect(scene.model.live.inFlight.isEmpty)
  }

  @Test("A read that no pool knows is in flight too")
  func listsUnpooledReads() {
    var scene = Scene(size: small)
    let request = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "a", request: request)
    scene.event(.lookupBegan, level: "disk", key: "a", request: request)
    #expect(scene.model.live.inFlight.map(\.level) == [1])
  }

  @Test("A refused key is not a miss")
  func refusedIsApart() {
    var scene = Scene(size: small)
    scene.event(.miss(.refused, .zero), level: memory, key: "a")
    #expect(scene.model.live.traffic[0].refused == 1)
    #expect(scene.model.live.traffic[0].missed == 0)
  }

  @Test("What operators do is counted at the operator that its event names")
  func countsOperations() {
    let operators = [
      OperatorRow(name: "capped", kind: "capped", limit: 2), OperatorRow(name: "breaker", kind: "breaker"),
      OperatorRow(name: "pool", kind: "pooled"),
    ]
    var picture = Picture(levels: Scene.threeLevels, operators: operators, now: Scene.start)
    func fold(_ kind: CacheEvent.Kind, _ name: String) {
      _ = picture.fold([CacheEvent(time: Scene.start, level: name, key: "a", kind: kind)], lost: 0)
    }
    fold(.operated(.queued(running: 2, waiting: 1)), "capped")
    fold(.operated(.circuit(.open)), "breaker")
    fold(.operated(.circuit(.open)), "nobody")
    fold(.flightBegan, "pool")
    fold(.flightJoined(callers: 2), "pool")
    #expect(picture.operations[0] == traffic { ($0.running, $0.waiting, $0.queued) = (2, 1, 1) })
    #expect(
      picture.operations[1] == traffic { ($0.circuit, $0.circuitSince, $0.timesOpened) = (.open, Scene.start, 1) })
    #expect(picture.operations[2] == traffic { ($0.loads, $0.joined) = (1, 1) })
    var counted = CacheStatistics.Snapshot()
    counted.operators = ["capped": traffic { ($0.running, $0.waiting) = (-2, -1) }]
    _ = picture.fold([], lost: 1, counted: counted)
    #expect(picture.operations[0] == traffic { $0.queued = 1 }, "what was lost is counted")
  }

  @Test("A read that an operator holds up is shown there until it goes on")
  func heldUp() {
    let operators = [
      OperatorRow(name: "capped", kind: "capped", limit: 2), OperatorRow(name: "retry", kind: "retry"),
    ]
    var picture = Picture(levels: Scene.threeLevels, operators: operators, now: Scene.start)
    func fold(_ kind: CacheEvent.Kind, _ name: String?, request: UInt64) {
      let event = CacheEvent(time: Scene.start, request: RequestID(request), level: name, key: "a", kind: kind)
      _ = picture.fold([event], lost: 0)
    }
    fold(.requestBegan(.get), nil, request: 1)
    fold(.requestBegan(.get), nil, request: 2)
    fold(.flightBegan, "pool", request: 2)
    for request in 1...2 as ClosedRange<UInt64> {
      fold(.operated(.queued(running: 2, waiting: 1)), "capped", request: request)
    }
    #expect(picture.inFlight.map(\.heldBy) == [0, 0])
    for request in 1...2 as ClosedRange<UInt64> {
      fold(.operated(.admitted(running: 2, waiting: 0)), "capped", request: request)
    }
    #expect(picture.inFlight.map(\.heldBy) == [nil, nil])
    for request in 1...2 as ClosedRange<UInt64> {
      fold(.operated(.retried(attempt: 2, after: .zero, error: "")), "retry", request: request)
    }
    #expect(picture.inFlight.map(\.heldBy) == [1, 1])
    for request in 1...2 as ClosedRange<UInt64> { fold(.lookupBegan, "origin", request: request) }
    #expect(picture.inFlight.map(\.heldBy) == [nil, nil])
    #expect(picture.inFlight.map(\.level) == [2, 2])
  }

  @Test("An expired entry that is kept stays in the list, and is marked once it was served as stale")
  func keepsStale() {
    var levels = Scene.threeLevels
    levels[0].keepsExpired = true
    var scene = Scene(size: small, levels: levels)
    scene.event(.stored(.set, cost: 5, deadline: Scene.start, .zero), level: memory, key: "a")
    scene.event(.miss(.expired, .zero), level: memory, key: "a")
    #expect(scene.model.live.entries.row("a")?.presence[0]?.isStale == false)
    scene.event(.operated(.servedStale(deadline: Scene.start)), level: memory, key: "a")
    #expect(scene.model.live.entries.row("a")?.presence[0]?.isStale == true)
    #expect(scene.model.live.traffic[0].stale == 1)
    let summary = ListedEntry(
      key: "a", cost: 5, created: Scene.start.advanced(by: .seconds(-9)), deadline: Scene.start)
    scene.pass(.seconds(1))
    scene.event(.memoryWarning(dropped: 1, cost: 0, .zero), level: "disk")
    scene.pass(.seconds(1))
    scene.send(.snapshot(level: memory, [summary]))
    scene.event(.stored(.set, cost: 5, deadline: nil, .zero), level: memory, key: "a")
    #expect(scene.model.live.entries.row("a")?.presence[0]?.isStale == false)
    scene.event(.removed(.expired, cost: 5), level: memory, key: "a")
    #expect(scene.model.live.entries.row("a")?.presence[0] == nil)
  }

  @Test("Entries come with a store and go with a removal, an eviction, a clear and a miss")
  func followsPresence() {
    var scene = Scene(size: small)
    func isPresent() -> Bool { scene.model.live.entries.row("a")?.presence[0] != nil }
    func store() {
      scene.event(.stored(.set, cost: 5, deadline: nil, .zero), level: memory, key: "a")
      #expect(isPresent())
    }
    for kind: CacheEvent.Kind in [
      .removed(.removed, cost: 5), .removed(.evicted, cost: 5), .removed(.expired, cost: 5), .miss(.absent, .zero),
      .done(.remove, .zero), .done(.clear, .zero),
    ] {
      store()
      scene.event(kind, level: memory, key: "a")
      #expect(!isPresent(), "\(kind)")
    }
    store()
    scene.event(.removed(.replaced, cost: 5), level: memory, key: "a")
    #expect(isPresent())
  }

  @Test("A level's own list is the truth")
  func snapshotCorrects() {
    var scene = Scene(size: small)
    scene.read("wrong", from: 2)
    scene.event(.memoryWarning(dropped: 1, cost: 0, .zero), level: "disk")
    scene.pass(.seconds(1))
    scene.read("newer", from: 2)
    let summary = ListedEntry(key: "right", cost: 7, created: Scene.start, deadline: nil)
    scene.send(.snapshot(level: "disk", [summary]))
    let entries = scene.model.live.entries
    #expect(entries.row("wrong")?.presence[1] == nil)
    #expect(entries.row("wrong")?.presence[0] != nil)
    #expect(entries.row("newer")?.presence[1] != nil)
    #expect(entries.row("right")?.presence[1] == EntryTable.Presence(created: Scene.start, deadline: nil))
    #expect(entries.row("right")?.size == 7)
  }

  @Test("Lost events are counted, leave nothing pending, and ask for the truth")
  func survivesLoss() {
    var scene = Scene(size: small)
    scene.event(.requestBegan(.get), key: "a", request: RequestID(1))
    scene.event(.lookupBegan, level: memory, key: "a", request: RequestID(1))
    #expect(!scene.send(.events([], lost: 5)).contains(.refreshEntries), "at most once a second")
    scene.pass(.seconds(1))
    #expect(scene.model.isUncertain == false)
    scene.pass(.seconds(1))
    #expect(scene.send(.events([], lost: 7)).contains(.refreshEntries))
    #expect(scene.model.live.lost == 12)
    #expect(scene.model.live.inFlight.isEmpty)
    #expect(scene.lines[0].contains("lost 12"))
  }

  @Test("The table of entries forgets the keys that lie nowhere first, then the oldest")
  func isBounded() {
    var table = EntryTable(levelCount: 1, capacity: 8)
    func time(_ second: Int) -> CacheInstant { CacheInstant(nanoseconds: Int64(second)) }
    for number in 0..<8 { table.stored("\(number)", level: 0, cost: 1, deadline: nil, at: time(number)) }
    table.gone("7", level: 0)
    table.stored("8", level: 0, cost: 1, deadline: nil, at: time(8))
    #expect(table.rows.map(\.key).sorted() == ["1", "2", "3", "4", "5", "6", "8"])
  }

  @Test("A memory warning keeps what it cost, and how far the hit rate fell")
  func reportsWarning() {
    let scene = Scene.busy(small)
    let warning = scene.model.live.warning
    #expect(
      warning?.parts == [.init(level: 0, dropped: 6, cost: 64_172_851, duration: .microseconds(1_300))])
    #expect(warning?.before.map { Int($0 * 100) } == 84)
    #expect(warning?.lowest == 0.5)
    #expect(warning?.recovered == nil)
  }

  @Test("A refusal says nothing of the entry: it stays in the list")
  func refusalKeepsEntries() {
    var scene = Scene(size: small)
    scene.event(.stored(.set, cost: 5, deadline: nil, .zero), level: memory, key: "a")
    scene.event(.miss(.refused, .zero), level: memory, key: "a")
    #expect(scene.model.live.entries.row("a")?.presence[0] != nil)
  }

  @Test("The levels are asked for their contents when the events do not tell, and not at every batch")
  func asksSeldom() {
    var scene = Scene(size: small)
    // Once, since nobody knows what they hold.
    scene.send(.events([], lost: 0))
    var asked = 0
    for number in 0..<40 {
      scene.read("key:\(number)", from: 0)
      let event = CacheEvent(time: scene.now, level: memory, key: "a", kind: .lookupBegan)
      asked += scene.send(.events([event], lost: 0)).contains(.refreshEntries) ? 1 : 0
      scene.pass(.milliseconds(300))
    }
    #expect(asked == 0)
    scene.pass(.seconds(2))
    #expect(scene.send(.events([], lost: 1)).contains(.refreshEntries))
    #expect(!scene.send(.events([], lost: 1)).contains(.refreshEntries))
    #expect(!scene.send(.events([], lost: 0)).contains(.refreshEntries))
  }

  @Test("A warning can be dismissed while the picture stands still, and is gone afterwards too")
  func dismissesFrozen() {
    var scene = Scene.busy(small)
    scene.press(.character(" "))
    #expect(scene.lines.contains { $0.contains("▲ WARNING") })
    scene.press(.escape)
    #expect(!scene.lines.contains { $0.contains("▲ WARNING") })
    scene.press(.character("L"))
    #expect(!scene.lines.contains { $0.contains("▲ WARNING") })
  }

  @Test(
    "An entry's mark and its colour say whether it lives, is about to end, has ended, or is served for want of better")
  func marks() throws {
    var levels = Scene.threeLevels
    levels[0].keepsExpired = true
    var scene = Scene(size: Size(width: 120, height: 40), levels: levels)
    func store(_ key: String, _ lifetime: Duration?) {
      let deadline = lifetime.map { scene.now.advanced(by: $0) }
      scene.event(.stored(.set, cost: 5, deadline: deadline, .zero), level: memory, key: key)
    }
    store("ending", .seconds(100))
    store("ended", .seconds(50))
    store("stale", .seconds(50))
    store("fresh", .seconds(1_000))
    store("endless", nil)
    scene.pass(.seconds(95))
    scene.event(.operated(.servedStale(deadline: Scene.start.advanced(by: .seconds(50)))), level: memory, key: "stale")
    scene.pass(.seconds(1))
    var canvas = Canvas(scene.model.size)
    view(scene.model, on: &canvas)
    let head = try #require(canvas.lines.first { $0.contains("KEY ") && $0.contains("TTL LEFT") })
    let column = try #require(head.firstIndex(of: "M").map { head.distance(from: head.startIndex, to: $0) })
    let marks: [(String, String, Style)] = [
      ("ending", "◐", .warning), ("ended", "✕", .warning), ("stale", "≈", .warning), ("fresh", "●", .hit),
      ("endless", "●", .hit),
    ]
    for (key, mark, style) in marks {
      let row = try #require(canvas.lines.firstIndex { $0.dropFirst(2).hasPrefix(key + " ") }, "\(key)")
      #expect(canvas[column, row].glyph.text == mark, "\(key)")
      #expect(canvas[column, row].style == style, "\(key)")
    }
  }
}

private func traffic(_ count: (inout OperatorTraffic) -> Void) -> OperatorTraffic {
  var traffic = OperatorTraffic()
  count(&traffic)
  return traffic
}
