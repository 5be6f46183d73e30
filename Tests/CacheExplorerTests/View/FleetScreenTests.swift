#if Explorer
import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// The screen of several apps.
struct FleetScreenTests {
  static func sheet() -> FleetSheet {
    var ledger = FleetLedger()
    for (number, name) in ["one", "two", "three"].enumerated() {
      let place = ledger.join(
        FleetSheet.App(name: name, pid: Int32(100 + number), socket: "/\(name)"), shared: ["redis"],
        sources: ["source"], at: Scene.start)
      ledger.hears(place, deafSince: nil)
    }
    func note(_ app: Int, _ milliseconds: Int, _ kind: CacheEvent.Kind, _ level: String?, _ key: String) {
      ledger.note(
        CacheEvent(
          time: Scene.start.advanced(by: .milliseconds(milliseconds)), request: RequestID(1), level: level, key: key,
          kind: kind), app: app)
    }
    for app in 0..<3 { note(app, app * 1_000, .stored(.backFill, cost: 1, deadline: nil, .zero), "memory", "item:1") }
    note(0, 0, .stored(.backFill, cost: 1, deadline: nil, .zero), "memory", "quiet")
    note(0, 5_000, .requestEnded(.set, .done, .milliseconds(1)), nil, "item:1")
    note(1, 5_002, .operated(.shared(.forgot(nil))), "coherence", "item:1")
    note(2, 5_050, .hit(cost: 1, deadline: nil, .zero), "memory", "item:1")
    note(2, 5_060, .requestEnded(.get, .hit(level: "memory"), .zero), nil, "item:1")
    note(0, 9_500, .operated(.shared(.leads(lease: "aa"))), "pool", "news")
    note(1, 9_600, .operated(.shared(.follows(lease: "aa"))), "pool", "news")
    return ledger.sheet(now: Scene.start.advanced(by: .seconds(10)))
  }

  private func scene(_ width: Int, _ height: Int) -> Scene {
    var scene = Scene(size: Size(width: width, height: height))
    scene.send(.fleet(Self.sheet()))
    scene.type("F")
    return scene
  }

  @Test("With one cache the screen says what would show several, and stays where it was")
  func none() {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.type("F")
    #expect(scene.model.page == .overview)
    #expect(scene.lines.contains { $0.contains("cache-explorer attach DIRECTORY") })
  }

  @Test("An app that does not answer is told of in place of whether it hears, until it answers or is gone")
  func silent() throws {
    var ledger = FleetLedger()
    let place = ledger.join(
      FleetSheet.App(name: "a-rather-long-name", pid: 7, socket: "/one"), shared: ["redis"], sources: [],
      at: Scene.start)
    ledger.hears(place, deafSince: nil)
    func line() throws -> String {
      var scene = Scene(size: Size(width: 120, height: 40))
      scene.send(.fleet(ledger.sheet(now: Scene.start.advanced(by: .seconds(9)))))
      scene.type("F")
      return try #require(scene.lines.first { $0.contains("1 a-rather-long-name 7") })
    }
    ledger.answers(place, silentSince: Scene.start)
    #expect(try line().contains("✕ not answering for 9s"))
    #expect(ledger.sheet(now: Scene.start.advanced(by: .seconds(9))).json.line.contains("\"silentMilliseconds\":9000"))
    #expect(try !line().contains(" hit"), "a figure that is cut is another figure")
    ledger.answers(place, silentSince: nil)
    #expect(try line().contains("● hears  hit — of 0"))
    ledger.answers(place, silentSince: Scene.start)
    ledger.left(place, because: "the app has ended")
    #expect(try line().contains("gone: the app has ended"))
  }

  @Test(
    "Keys stand there with each app’s age, apps with what they heard, loads with who waits",
    arguments: [(120, 40), (80, 24)])
  func rows(width: Int, height: Int) throws {
    let scene = scene(width, height)
    #expect(scene.lines.contains { $0.contains("┌ Fleet 1–2 of 2 ") })
    let item = try #require(scene.lines.first { $0.contains("▸item:1") })
    #expect(item.contains("10s") && item.contains(" · ") && item.contains("8s"))
    #expect(item.contains("1 one") && item.contains("5s"))
    #expect(scene.lines.contains { $0.contains(" quiet ") && $0.contains("10s") })
    #expect(scene.lines.contains { $0.contains("┌ Apps 3 ") })
    #expect(scene.lines.contains { $0.contains("1 one 100  ● hears") })
    #expect(scene.lines.contains { $0.contains("told 1 ≤ 2ms") })
    #expect(scene.lines.contains { $0.contains("stale 1 ≤ 50ms") })
    #expect(scene.lines.contains { $0.contains("⟳ news loaded by one for 500ms; two waits") })
    #expect(scene.lines.contains { $0.contains("… more ┘") } == (height == 24))
    if height == 40 {
      #expect(scene.lines.contains { $0.contains("changed by one 5.0 s ago") })
      #expect(scene.lines.contains { $0.contains("two was told after 2ms") })
      #expect(scene.lines.contains { $0.contains("three has not been told") })
    }
  }

  @Test("Who was told in no time was told at once, and who waits stands on a line of its own where one is too short")
  func crowded() {
    var sheet = Self.sheet()
    sheet.apps[1].slowestTelling = .zero
    sheet.leases[0].waiting = [1, 2]
    var scene = Scene(size: Size(width: 80, height: 40))
    scene.send(.fleet(sheet))
    scene.type("F")
    #expect(scene.lines.contains { $0.contains("told 1 at once  never stale") })
    #expect(scene.lines.contains { $0.contains("⟳ news loaded by one for 500ms; two, three wait") })
    sheet.leases[0].key = "a key that is long enough to leave no room for names"
    scene.send(.fleet(sheet))
    #expect(scene.lines.contains { $0.contains("│   two, three wait ") })
  }

  @Test("The fleet fills the screen", arguments: [(120, 40), (80, 24)])
  func whole(width: Int, height: Int) throws {
    try SharedGrids.expect(scene(width, height), shows: "Fleet\(width)x\(height)")
  }

  @Test("Enter goes to the apps, and there shows one on the other screens; Esc goes back")
  func chooses() {
    var scene = scene(120, 40)
    scene.press(.enter, .down)
    #expect(scene.send(.input(.key(.enter))) == [.chooseApp(1)])
    scene.press(.escape)
    #expect(scene.model.focus == PanelID(FleetPanel.self))
    scene.press(.down)
    #expect(scene.lines.contains { $0.contains("▸quiet") })
  }

  @Test("s and S sort, / filters, P hides the keys, and a frozen picture stands")
  func grammar() {
    var scene = scene(120, 40)
    scene.type("s")
    #expect(scene.lines.contains { $0.contains("sort HOLDERS▼") })
    scene.type("sss")
    scene.type("S")
    #expect(scene.model[FleetPanel.self].rows.map(\.name) == ["quiet", "item:1"])
    scene.type("/item")
    scene.press(.enter)
    #expect(scene.model[FleetPanel.self].rows.map(\.name) == ["item:1"])
    scene.press(.escape)
    scene.type("/nobody")
    scene.press(.enter, .enter)
    #expect(scene.model.command.answer?.text == "no key matches; Esc clears the filter")
    scene.press(.escape)
    scene.type("P")
    #expect(!scene.lines.contains { $0.contains("item:1") || $0.contains("quiet") || $0.contains("news") })
    scene.type("P ")
    scene.send(.fleet(FleetSheet(now: Scene.start)))
    #expect(scene.lines.contains { $0.contains("item:1") })
  }

  @Test("A recording with --mask keeps no key of the fleet, and the message comes back as it was written")
  func recorded() throws {
    var mask = RecordingMask()
    guard case .fleet(let masked)? = mask.masked(.fleet(Self.sheet())) else {
      Issue.record("the message is gone")
      return
    }
    #expect(!masked.json.line.contains("item:1") && !masked.json.line.contains("news"))
    #expect(masked.keys.count == 2)
  }
}
#endif
