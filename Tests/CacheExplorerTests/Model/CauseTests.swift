import CacheEngine
import Testing

@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// `why:`: each miss names the event that caused it.
struct CauseTests {
  private let size = Size(width: 120, height: 40)

  /// A read that misses in memory for a reason; gives the cause that was noted.
  private func cause(_ scene: inout Scene, _ key: String, _ reason: MissReason = .absent) -> Cause? {
    let request = scene.nextRequest()
    scene.event(.requestBegan(.get), key: key, request: request)
    scene.event(.lookupBegan, level: "memory", key: key, request: request)
    scene.event(.miss(reason, .microseconds(9)), level: "memory", key: key, request: request)
    return scene.model.live.calls[request]?.steps.last?.cause
  }

  private func store(_ scene: inout Scene, _ key: String, lifetime: Duration? = nil) {
    scene.event(
      .stored(.set, cost: 10, deadline: lifetime.map { scene.now.advanced(by: $0) }, .zero), level: "memory", key: key)
  }

  @Test("A key that nobody stored was never stored")
  func neverStored() {
    var scene = Scene(size: size)
    #expect(cause(&scene, "a")?.kind == .neverStored)
  }

  @Test("An expired entry tells when it expired and how long it lived")
  func expired() throws {
    var scene = Scene(size: size)
    store(&scene, "a", lifetime: .seconds(60))
    scene.pass(.seconds(61))
    // The memory level drops it on the way, before it answers.
    scene.event(.removed(.expired, cost: 10), level: "memory", key: "a")
    let dropped = scene.model.live.eventCount
    let first = try #require(cause(&scene, "a", .expired))
    #expect(first.kind == .expired(deadline: Scene.start.advanced(by: .seconds(60)), lifetime: .seconds(60)))
    #expect(first.event == dropped)
    // Who comes later finds nothing, for the same reason.
    #expect(cause(&scene, "a")?.kind == first.kind)
    store(&scene, "a")
    scene.event(.removed(.removed, cost: 10), level: "memory", key: "a", request: RequestID(77))
    #expect(cause(&scene, "a")?.kind == .removed)
  }

  @Test("A level that tells of no removal is believed when it answers that the entry has expired")
  func expiredWithoutRemoval() {
    var scene = Scene(size: size)
    store(&scene, "a", lifetime: .seconds(5))
    scene.pass(.seconds(6))
    #expect(
      cause(&scene, "a", .expired)?.kind
        == .expired(deadline: Scene.start.advanced(by: .seconds(5)), lifetime: .seconds(5)))
  }

  @Test("An eviction names the key that needed the room, told by the level or known from the call")
  func evicted() {
    var scene = Scene(size: size)
    store(&scene, "a")
    var event = CacheEvent(time: scene.now, level: "memory", key: "a", kind: .removed(.evicted, cost: 10))
    event.madeRoomFor = "big"
    scene.send(.events([event], lost: 0))
    #expect(cause(&scene, "a")?.kind == .evicted(by: "big"))

    store(&scene, "b")
    let request = scene.nextRequest()
    scene.event(.requestBegan(.set), key: "other", request: request)
    scene.event(.removed(.evicted, cost: 10), level: "memory", key: "b", request: request)
    #expect(cause(&scene, "b")?.kind == .evicted(by: "other"))
  }

  @Test("A memory warning, a clear and a level that lost an entry silently are told apart")
  func dropped() {
    var scene = Scene(size: size)
    for key in ["a", "b", "c"] { store(&scene, key) }
    scene.event(.removed(.memoryWarning, cost: 10), level: "memory", key: "a")
    #expect(cause(&scene, "a")?.kind == .warning)
    #expect(cause(&scene, "b")?.kind == .leftUnseen)
    scene.event(.done(.clear, .zero), level: "memory")
    #expect(cause(&scene, "c")?.kind == .cleared)
  }

  @Test("A condition that refuses, a level that fails and lost events are causes too")
  func others() throws {
    let configuration = try ConfigurationReader.read(
      """
      levels:
        - conditioned: { when: { prefix: "img:" }, level: { memory: {} } }
        - pooled: { origin: {} }
      """, file: "t.yaml", folder: "/tmp")
    var scene = Scene(size: size, configuration: configuration)
    let request = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "a", request: request)
    scene.event(.operated(.refused), level: "conditioned", key: "a", request: request)
    scene.event(.lookupBegan, level: "origin", key: "a", request: request)
    scene.event(.failed(.get, "no route", .zero), level: "origin", key: "a", request: request)
    let steps = try #require(scene.model.live.calls[request]?.steps)
    #expect(steps.map(\.cause?.kind) == [.refused(0), .down("no route")])
    let text = CauseText.sentence(
      try #require(steps[0].cause), at: steps[0].place, key: "a", scene.model)
    #expect(text == "conditioned refused the key: it is only for keys with prefix img:")
    scene.send(.events([], lost: 3))
    #expect(cause(&scene, "unseen")?.kind == .forgotten)
  }

  @Test("A condition that refuses a key when it is read and when it is filled is one cause")
  func refusedTwice() throws {
    let configuration = try ConfigurationReader.read(
      "levels: [{ conditioned: { when: { prefix: \"img:\" }, level: { memory: {} } } }, { pooled: { origin: {} } }]",
      file: "t.yaml", folder: "/tmp")
    var scene = Scene(size: Size(width: 120, height: 40), configuration: configuration)
    let request = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "a", request: request)
    scene.event(.operated(.refused), level: "conditioned", key: "a", request: request)
    scene.event(.hit(cost: 1, deadline: nil, .zero), level: "origin", key: "a", request: request)
    scene.event(.operated(.refused), level: "conditioned", key: "a", request: request)
    scene.event(.requestEnded(.get, .hit(level: "origin"), .zero), key: "a", request: request)
    scene.press(.character("3"), .enter)
    #expect(scene.lines.count { $0.contains("conditioned refused") } == 3)
    #expect(scene.lines.count { $0.contains("why: conditioned refused the key") } == 1)
  }

  @Test("Departures are forgotten by halves, and then nobody claims that a key was never stored")
  func forgets() {
    var table = CauseTable(capacity: 8)
    for number in 0..<20 { table.note(Cause(.removed), of: "\(number)", level: 0) }
    #expect(table.count <= 8)
    #expect(table.hasForgotten)
    #expect(table.cause(of: "19", level: 0)?.kind == .removed)
    #expect(table.cause(of: "1", level: 0) == nil)
    table.stored("19", level: 0)
    #expect(table.cause(of: "19", level: 0) == nil)
  }

  @Test("Keys below transformKeys are listed as those who ask know them")
  func outerKeys() throws {
    let configuration = try ConfigurationReader.read(
      """
      levels:
        - transformKeys: { with: [{ template: "v1/{key}" }], level: { memory: {} } }
        - pooled: { origin: {} }
      """, file: "t.yaml", folder: "/tmp")
    var scene = Scene(size: size, configuration: configuration)
    // The level's own list comes first, with the keys that the level knows.
    scene.send(
      .snapshot(level: "memory", [ListedEntry(key: "v1/a", cost: 3, created: Scene.start, deadline: nil)]))
    #expect(scene.model.live.entries.row("v1/a")?.isPresent == true)
    let request = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "a", request: request)
    scene.event(.lookupBegan, level: "memory", key: "v1/a", request: request)
    scene.event(.hit(cost: 3, deadline: nil, .zero), level: "memory", key: "v1/a", request: request)
    #expect(scene.model.live.entries.row("a")?.isPresent == true)
    #expect(scene.model.live.entries.row("v1/a")?.isPresent == false)
    scene.send(
      .snapshot(level: "memory", [ListedEntry(key: "v1/a", cost: 3, created: Scene.start, deadline: nil)]))
    #expect(scene.model.live.entries.row("v1/a")?.isPresent == false)
    // What is evicted during a call for another key keeps its own name.
    let other = scene.nextRequest()
    scene.event(.requestBegan(.set), key: "b", request: other)
    scene.event(.removed(.evicted, cost: 3), level: "memory", key: "v1/a", request: other)
    #expect(scene.model.live.entries.row("a")?.isPresent == false)
    #expect(scene.model.live.causes.cause(of: "a", level: 0)?.kind == .evicted(by: "b"))
  }
}
