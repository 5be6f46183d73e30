import CacheEngine
import CacheEngineHitRatio
import CacheEngineInspector
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// What other capacities would have brought to the cache of an app, told from what it tells.
@Suite(.timeLimit(.minutes(10))) struct AttachedWhatIfTests {
  private final class App: Sendable {
    let folder = "/tmp/cx-\(UUID().uuidString.prefix(8))"
    let memory: BasicCache<String, Data>
    let server: InspectorServer

    init(events: Int, observers: [any CacheObserver] = []) throws {
      let inspector = CacheInspector(capacity: events)
      let observer = CacheObservers([inspector] + observers)
      memory = MemoryCacheLevel<String, Data>(name: "memory", countLimit: 100, eviction: .lru)
        .observed(as: "memory", by: observer).normalize()
      server = try CacheInspector.serve(memory, at: folder + "/cache.sock", name: "app")
    }

    /// Keys in turn, more than there is room for: the worst that order of use can meet.
    func use(_ count: Int) async throws {
      for number in 0..<count {
        let key = "key:\(number % 150)"
        if try await memory.get(key) == nil { try await memory.set(Data([1]), forKey: key) }
      }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
  }

  @Test("policy, capacity and unit of a level come from the app, and its look-ups are those that it counts")
  func counted() async throws {
    let local = HitRatioObserver(
      levels: [.init(name: "memory", capacity: 100, unit: .entries, eviction: .lru)], share: 1)
    let app = try App(events: 1 << 16, observers: [local])
    let buffer = EventBuffer(capacity: 1 << 16)
    let session = try await AppSession.open(AppPlace(path: app.server.path), isAgain: false)
    session.begin(buffer)
    #expect(session.cache.live.whatIf.levels == local.levels)
    #expect(session.cache.levels.map(\.capacity) == ["LRU 100 entries"])
    try await app.use(1_200)
    var told = 0
    while told < 3_600 {
      await buffer.waitForEvents()
      told += buffer.drain().events.count
    }
    let (here, there) = (try #require(session.cache.live.whatIf.reports.first), try #require(local.reports.first))
    #expect(here.requests == 1_200)
    #expect((here.requests, here.hits) == (there.requests, there.hits))
    #expect(here.estimates.count == there.estimates.count)
    #expect(session.cache.live.unseen() == 0)
    let text = await Interpreter(live: session.cache.live, mode: .interactive).run(WhatIfVerb(level: "memory"))
    #expect(text.note?.contains("\(Format.count(1_200)) look-ups") == true)
    #expect(text.note?.contains("dropped") == false)
  }

  @Test("events that were dropped on the way are counted, and every estimate says so")
  func dropped() async throws {
    let app = try App(events: 64)
    let buffer = EventBuffer(capacity: 1 << 16)
    let session = try await AppSession.open(AppPlace(path: app.server.path), isAgain: false)
    session.begin(buffer)
    try await app.use(3_000)
    var lost = 0
    while lost == 0 {
      await buffer.waitForEvents()
      lost += buffer.drain().lost
    }
    #expect(session.cache.live.unseen() >= lost)
    let live = session.cache.live
    let answer = await Interpreter(live: live, mode: .interactive).run(WhatIfVerb(level: nil))
    #expect(answer.note?.contains("dropped on the way from the app") == true)
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.press(.character("8"))
    scene.send(.whatIf(live.whatIf.reports, unseen: 1_234))
    #expect(
      scene.lines.contains { $0.contains("events were dropped on the way from the app: the estimates may be off") })
    scene.send(.whatIf(live.whatIf.reports, unseen: 0))
    #expect(!scene.lines.contains { $0.contains("dropped on the way") })
  }
}
