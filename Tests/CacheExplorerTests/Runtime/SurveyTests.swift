import CacheEngine
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

@MainActor
@Suite(.timeLimit(.minutes(10))) struct SurveyTests {
  /// Has one key, and lists it when it is let.
  private struct Held {
    let level = GatedLevel(base: MemoryCacheLevel<String, Data>(name: "memory"))

    init(_ key: String) async throws { try await level.set(Data("v".utf8), forKey: key) }

    var live: LiveCache {
      LiveCache(
        cache: level.normalize(),
        levels: [
          LiveCache.Level(
            name: level.name, kind: "memory", level: level.normalize(), storage: level, isSource: false,
            faults: FaultInjector(), close: {})
        ], operators: [], figures: RecentFigures(), clock: ManualClock(), openedAt: Scene.start)
    }
  }

  @Test("An app that is chosen while another one is listed is listed next, and alone")
  func another() async throws {
    let configuration = try ConfigurationReader.read("levels: [{ memory: {} }]", file: "c.yaml", folder: "/")
    let (first, second) = (try await Held("old"), try await Held("new"))
    second.level.gate.open()
    let explorer = Explorer(
      screen: RecordingScreen(size: Size(width: 120, height: 40)), opened: OpenedCache(live: first.live),
      buffer: EventBuffer(), model: Model(configuration, title: "c", now: Scene.start))
    explorer.surveyPause = .zero
    explorer.prepare()
    explorer.surveySoon()
    await first.level.gate.arrivals(1)
    await explorer.use(second.live)
    explorer.show([.attachedAgain(Attachment(label: "attached 7 other"), Replacement(configuration, file: "c.yaml"))])
    first.level.gate.open()
    try await turns { !explorer.isSurveying }
    explorer.show(await explorer.mailbox.take())
    #expect(explorer.model.live.entries.rows.filter(\.isPresent).map(\.key) == ["new"])
  }
}
