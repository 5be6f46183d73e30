import CacheEngine
import Testing

@testable import CacheExplorer

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
    for traffic in picture.traffic {
      #expect(
        traffic.lookups
          == traffic.hits + traffic.misses + traffic.refused + traffic.errors + traffic.cancelled + traffic.pending
          + traffic.unanswered)
      #expect(traffic.misses == traffic.missReasons.values.reduce(0, +))
      #expect(traffic.pending >= 0)
    }
    for tally in [picture.requests.reads, picture.requests.writes] {
      #expect(
        tally.requests
          == tally.served + tally.joined + tally.missed + tally.done + tally.failed + tally.cancelled + tally.pending
          + tally.unanswered)
      #expect(tally.pending >= 0)
    }
    let pending = picture.requests.reads.pending + picture.requests.writes.pending
    #expect(pending == picture.requests.pending.count)
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
    #expect(picture.traffic.map(\.fills) == [1, 1, 0])
    #expect(picture.requests.servedBy == ["origin": 1, "memory": 1])
    #expect(picture.requests.reads.served == 2)
    #expect(picture.requests.pending.isEmpty)
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
    #expect(requests.reads.served == 1)
    #expect(requests.reads.joined == 1)
    #expect(requests.servedBy == ["origin": 1])
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
    #expect(scene.model.live.traffic[0].misses == 0)
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
    _ = picture.fold([], lost: 1)
    #expect(picture.operations[0] == traffic { $0.queued = 1 })
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
    let summary = EntrySummary(
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
    let summary = EntrySummary(key: "right", cost: 7, created: Scene.start, deadline: nil)
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
    #expect(scene.model.live.traffic[0].pending == 0)
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
}

private func traffic(_ count: (inout OperatorTraffic) -> Void) -> OperatorTraffic {
  var traffic = OperatorTraffic()
  count(&traffic)
  return traffic
}
