import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

@MainActor
@Suite(.timeLimit(.minutes(10))) struct SurveyTests {
  /// Has one key, and lists it when it is let.
  private final class Held: StorageLevel {
    let name = "memory"
    let key: String
    let gate = Gate()
    var usage: LevelUsage { LevelUsage(count: 1, cost: 1) }

    init(_ key: String) { self.key = key }

    var live: LiveCache {
      let level = LiveCache.Level(
        name: name, kind: "memory", level: normalize(), storage: self, isSource: false, faults: FaultInjector(),
        close: {})
      return LiveCache(
        cache: normalize(), levels: [level], operators: [], figures: RecentFigures(), clock: ManualClock(),
        openedAt: Scene.start)
    }

    func contents() async throws -> [EntrySummary<String>] {
      try await gate.pass()
      return [EntrySummary(key: key, cost: 1, created: Scene.start, deadline: nil)]
    }
    func get(_ key: String) async throws -> Data? { nil }
    func set(_ value: Data, forKey key: String) async throws {}
    func remove(_ key: String) async throws {}
    func clear() async throws {}
    func expire(_ key: String) async throws {}
    func removeExpired() async throws -> Int { 0 }
  }

  @Test("An app that is chosen while another one is listed is listed next, and alone")
  func another() async throws {
    let configuration = try ConfigurationReader.read("levels: [{ memory: {} }]", file: "c.yaml", folder: "/")
    let (first, second) = (Held("old"), Held("new"))
    second.gate.open()
    let explorer = Explorer(
      screen: RecordingScreen(size: Size(width: 120, height: 40)), opened: OpenedCache(live: first.live),
      buffer: EventBuffer(), model: Model(configuration, title: "c", now: Scene.start))
    explorer.surveyPause = .zero
    explorer.prepare()
    explorer.surveySoon()
    await first.gate.arrivals(1)
    await explorer.use(second.live)
    explorer.show([.attachedAgain(Attachment(label: "attached 7 other"), Replacement(configuration, file: "c.yaml"))])
    first.gate.open()
    try await turns { !explorer.isSurveying }
    explorer.show(await explorer.mailbox.take())
    #expect(explorer.model.live.entries.rows.filter(\.isPresent).map(\.key) == ["new"])
  }
}
