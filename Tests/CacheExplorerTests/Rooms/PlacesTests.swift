#if Explorer
import Foundation
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// Where something new has a place that the compiler does not ask for, as Documentation/Adding.md lists them.
struct PlacesTests {
  @Test("Every screen is reached by its key, and has panels that explain their figures", arguments: Page.allCases)
  func screens(page: Page) {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.send(.models(ModelSheet.Content(source: "models", rows: [])))
    scene.send(.served([], ServedCounts(), lost: 0))
    scene.send(.keyspace(KeyspaceSheet(server: KeyspaceSheet.Server(), sample: KeyspaceSheet.Sample())))
    scene.send(.fleet(FleetSheet(now: Scene.start)))
    scene.press(.character(page.key))
    #expect(scene.model.page == page)
    #expect(!page.panels.isEmpty)
    for panel in page.panels {
      scene.model.focus = panel
      #expect(!panel.panel.figures(scene.model).figures.isEmpty, "\(panel)")
    }
  }

  @Test("Every screen and every panel that a file declares is in the one list of screens")
  func listed() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let folder = package.appending(path: "Sources/CacheExplorer/Model/Screens")
    var (pages, panels): (Set<String>, Set<String>) = ([], [])
    for path in FileManager.default.enumerator(atPath: folder.path)?.compactMap({ $0 as? String }) ?? [] {
      guard path.hasSuffix(".swift") else { continue }
      let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
      for match in text.matches(of: /static let \w+ = Page\(\s*"([^"]+)"/) { pages.insert(String(match.1)) }
      for match in text.matches(of: /(?:enum|struct) (\w+): (?:List)?Panel\b/) { panels.insert(String(match.1)) }
    }
    #expect(pages == Set(Page.allCases.map(\.title)))
    #expect(panels == Set(PanelID.all.map(\.description)))
    #expect(Set(Page.allCases).count == Page.allCases.count, "two screens have one key")
  }

  /// Every word of a configuration in its simplest use.
  private static let levels = [
    "memory": "{}", "disk": "{ directory: d, capacity: 1 MiB }", "defaults": "{ domain: a.b }",
    "redis": "{ url: \"redis://127.0.0.1:1\", namespace: a }",
    "network": "{ url: \"http://127.0.0.1:1/{key}\" }", "origin": "{}", "empty": "{}", "pooled": "{ origin: {} }",
    "capped": "{ limit: 3, level: origin }", "conditioned": "{ when: { prefix: a }, level: origin }",
    "transformKeys": "{ with: lowercase, level: origin }", "transformValues": "{ with: json, level: origin }",
    "postProcess": "{ with: uppercase, level: origin }", "expiry": "{ after: 30s, level: origin }",
    "negative": "{ for: 5s, level: origin }", "timeout": "{ after: 2s, level: origin }", "retry": "{ level: origin }",
    "breaker": "{ level: origin }", "fallback": "{ value: a, level: origin }",
    "lanes": "{ when: { prefix: a }, then: memory, else: origin }",
    "stale": "{ ifError: 5s, level: { memory: { keepExpired: 5s } }, from: origin }",
  ]

  @Test("Every word of a configuration is read, told again on the Config screen, and has a row")
  func words() throws {
    #expect(Set(ConfigurationReader.kinds) == Set(Self.levels.keys))
    for (word, fields) in Self.levels {
      let configuration = try ConfigurationReader.read("levels:\n  - \(word): \(fields)", file: "c.yaml", folder: "/")
      let level = try #require(configuration.levels.first)
      #expect(level.word == word)
      #expect(configuration.settings.contains { $0.value == word }, "\(word)")
      let picture = Scene(size: Size(width: 120, height: 40), configuration: configuration).model.live
      #expect((picture.levels.map(\.name) + picture.operators.map(\.name)).contains(level.name), "\(word)")
    }
  }
}
#endif
