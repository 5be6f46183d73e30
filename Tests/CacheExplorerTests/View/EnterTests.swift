#if Explorer
import CacheEngine
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// Enter on anything leads somewhere.
struct EnterTests {
  /// A session in which every screen has rows.
  static func scene(_ page: Page, _ size: Size) throws -> Scene {
    var scene = try ScreensScene.make(size)
    scene.log(.warning, "explorer", "a line that belongs to no request")
    scene.model.config.warnings = [
      ConfigurationProblem(
        severity: .warning, file: "demo.yaml", place: Place(line: 3, column: 5), message: "memory lives long",
        remedy: "shorten it")
    ]
    typealias Name = ModelSheet.Name
    var book = ModelSheet.Row(name: Name(type: "Book", id: "dune"), isStored: true)
    book.relations = [Name(type: "Author", id: "herbert")]
    let author = ModelSheet.Row(name: Name(type: "Author", id: "herbert"), isStored: true, detail: "Author()")
    scene.send(.models(ModelSheet.Content(source: "live", rows: [book, author])))
    scene.send(.whatIf(WhatIfTests.reports(looks: 5_000)))
    scene.send(.keyspace(KeyspaceScreenTests.sheet()))
    scene.send(.fleet(FleetScreenTests.sheet()))
    let exchanges = (1...3).map { number in
      ServedExchange(
        number: number, time: Scene.wall, method: "GET", path: "/\(number)", key: "http://a/\(number)", status: 200,
        outcome: .hit, bytes: 2_048, duration: .milliseconds(3))
    }
    var counts = ServedCounts()
    for exchange in exchanges { counts.count(exchange.outcome, bytes: exchange.bytes, isWhole: exchange.isWhole) }
    scene.send(.served(exchanges, counts, lost: 0))
    scene.press(.character(page.key))
    #expect(scene.model.page == page)
    return scene
  }

  /// What is seen of it when something has opened.
  private struct Opened: Equatable {
    var mode: Model.Mode
    var page: Page
    var focus: PanelID
    var inspection: Inspection?
    var chosenModel: ModelSheet.Name?

    init(_ model: Model) {
      (mode, page, focus, inspection) = (model.mode, model.page, model.focus, model.inspection)
      chosenModel = model.models.current?.name
    }
  }

  @Test("The empty key is seen where it is shown, and empty in what is exported")
  func emptyKey() throws {
    var scene = Scene(size: Size(width: 120, height: 40))
    #expect(!scene.lines.contains { $0.contains("\"\"") })
    scene.read("", from: 0)
    scene.send(.snapshot(level: "memory", [ListedEntry(key: "", cost: 3, created: Scene.start, deadline: nil)]))
    scene.model.page = .entries
    scene.pass(.seconds(1))
    #expect(scene.lines.contains { $0.contains("\"\"") })
    #expect(scene.model.shown("") == "\"\"" && scene.model.told("").isEmpty)
    let export = try #require(EntriesPanel.rows(scene.model))
    try #require(export.rows.count == 1)
    #expect(export.rows[0][0]?.line == "\"\"")
  }

  @Test(
    "Enter on every row of every panel of every screen opens something, and Esc leads back", arguments: Page.allCases,
    [(200, 60), (120, 40), (80, 24), (40, 10)])
  func everyRow(page: Page, size: (width: Int, height: Int)) throws {
    var scene = try Self.scene(page, Size(width: size.width, height: size.height))
    var rows = 0
    for panel in scene.model.focusable(on: page) {
      scene.model.focus = panel
      scene.press(.home)
      var before = ""
      for _ in 0..<60 {
        let picture = scene.lines.joined(separator: "\n")
        // The last row: down leads no further.
        if picture == before { break }
        before = picture
        var other = scene
        other.model.command.answer = nil
        let place = Opened(other.model)
        let effects = other.send(.input(.key(.enter)))
        #expect(
          Opened(other.model) != place || !effects.isEmpty,
          "\(page.title), \(panel): Enter opens nothing on\n\(picture)"
        )
        #expect(other.model.command.answer?.isGood != false, "\(other.model.command.answer?.text ?? "")")
        if other.model.inspection != nil {
          #expect(other.lines != scene.lines)
          other.press(.escape)
          #expect(other.model.inspection == nil, "\(page.title), \(panel)")
        }
        rows += 1
        scene.press(.down)
      }
    }
    #expect(rows >= page.panels.count || page == .overview)
  }

  @Test("What X writes of every panel as JSON fits its schema", arguments: Page.allCases)
  func exportedRows(page: Page) throws {
    var scene = try Self.scene(page, Size(width: 120, height: 40))
    let schema = try JSONSchema(named: "rows")
    for panel in page.panels {
      scene.model.focus = panel
      guard let export = ViewExport(scene.model, as: .json) else { continue }
      #expect(schema.faults(in: export.text) == [], "\(panel)")
    }
  }

  @Test("Where a request is no longer known, Enter tells the row in full")
  func forgotten() throws {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.send(
      .snapshot(
        level: "memory",
        [ListedEntry(key: "kept", cost: 2_048, created: scene.now, deadline: scene.now.advanced(by: .seconds(48)))]))
    scene.press(.character("2"), .enter)
    let screen = scene.lines.joined(separator: "\n")
    for word in ["Entry kept", "MEMORY", "expires in 48s", "DISK", "does not have it", "2 KiB = 2048 B"] {
      #expect(screen.contains(word), "\(word)\n\(screen)")
    }
    scene.pass(.seconds(50))
    #expect(scene.lines.contains { $0.contains("expired 2s ago") }, "it goes on living")
    scene.press(.enter)
    #expect(scene.model.command.answer?.text == "this leads no further; Esc goes back")
    scene.press(.escape)
    #expect(scene.model.inspection == nil)
  }

  @Test("A setting says what it means, where it stands, and how it is changed")
  func setting() throws {
    var scene = try Self.scene(.config, Size(width: 80, height: 24))
    scene.press(.home, .enter)
    #expect(scene.lines.contains { $0.contains("mend") && $0.contains("shorten it") })
    scene.press(.escape, .down, .down, .down, .enter)
    let screen = scene.lines.joined(separator: "\n")
    #expect(screen.contains("memory.count") && screen.contains("the most entries that the level keeps"), "\(screen)")
    #expect(screen.contains("nowhere: this is the default"))
  }

  @Test("What another program tells of its settings stands in no file that could be reloaded")
  func toldSetting() throws {
    var scene = try Self.scene(.config, Size(width: 80, height: 24))
    scene.press(.home, .down, .down, .down)
    #expect(scene.lines.contains { $0.contains("r reloads") } && scene.lines.contains { $0.contains(" default ") })
    scene.model.attachment = Attachment(label: "attached 7 app")
    #expect(!scene.lines.contains { $0.contains("r reloads") || $0.contains(" default ") })
    scene.press(.enter)
    #expect(scene.lines.contains { $0.contains("memory.count") })
    #expect(!scene.lines.contains { $0.contains("nowhere: this is") || $0.contains("edit the file") })
  }

  @Test("Of a demonstration it is not said that its file could be edited and read again")
  func demonstration() throws {
    let folder = try TemporaryFolder()
    let demo = try #require(Demo.all.first)
    let configuration = try demo.configuration(folder: folder.url.path())
    var scene = Scene(size: Size(width: 80, height: 24), configuration: configuration)
    scene.send(.replaced(Replacement(configuration, file: "demo \(demo.name)", isFile: false)))
    scene.press(.character("5"), .down, .down, .enter)
    #expect(scene.lines.contains { $0.contains("memory.count") })
    #expect(!scene.lines.contains { $0.contains("r reloads") || $0.contains("edit the file") })
  }

  @Test("Every word and field of the examples and demonstrations has a meaning")
  func meanings() throws {
    let folder = try TemporaryFolder()
    var configurations = try Demo.all.map { try $0.configuration(folder: folder.url.path()) }
    configurations.append(
      try ConfigurationReader.read(OperatorScene.everything, file: "c.yaml", folder: folder.url.path()))
    for settings in configurations.map(\.settings) {
      var word = ""
      for setting in settings {
        guard let field = setting.field else {
          word = setting.owner == "workload" ? "workload" : setting.value
          #expect(SettingMeaning.of(word: word) != nil, "\(word)")
          continue
        }
        #expect(SettingMeaning.of(field: field, in: word) != nil, "\(word).\(field)")
      }
    }
  }
}
#endif
