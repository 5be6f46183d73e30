import CacheEngine
import ExplorerText
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

/// Ten questions that bring somebody to the explorer, each as the keys that answer it.
struct TenQuestionsTests {
  struct Walk: Sendable, CustomTestStringConvertible {
    let question: String
    /// The screen on which somebody asks it.
    let start: @Sendable (Size) throws -> Scene
    /// A character is a key; what is named below is one, too.
    let keys: [String]
    /// What stands on the screen then.
    let words: [String]

    var testDescription: String { question }
  }

  private static let named: [String: InputEvent.Key] = [
    "Enter": .enter, "Tab": .tab, "Esc": .escape, "^P": .control("p"), "Down": .down,
  ]

  private static let busy: @Sendable (Size) throws -> Scene = { Scene.busy($0) }
  private static let screens: @Sendable (Size) throws -> Scene = { try ScreensScene.make($0) }

  static let walks = [
    Walk(
      question: "Which level answered?", start: screens, keys: ["3", "/", "feed", "Enter", "Enter"],
      words: ["Request #7  get feed:home", "hit DISK", "MEMORY", "miss"]),
    Walk(
      question: "Why did this key miss?", start: screens, keys: ["3", "/", "user:42", "Enter", "Enter"],
      words: ["why: MEMORY missed because its copy expired", "12:03:30"]),
    Walk(
      question: "Who waits for whom?", start: busy, keys: ["Tab"],
      words: ["In flight 1", "img:logo", "×4", "3 callers joined"]),
    Walk(
      question: "What did the memory warning cost?", start: busy, keys: [],
      words: ["▲", "WARNING 12:03:20", "61.2 MiB", "84% → 50%, recovering"]),
    Walk(
      question: "When does this expire?", start: busy, keys: ["2"], words: ["TTL LEFT", "▸user:42", "60s", "no expiry"]),
    Walk(
      question: "What would double the memory bring?",
      start: { try WhatIfTests.scene($0, reports: WhatIfTests.reports()) }, keys: [],
      words: ["×2", "200 entries", "99.3%", "+99.3"]),
    Walk(
      question: "Is the disk healthy?",
      start: { size in
        var scene = Scene.busy(size)
        for number in 0..<3 {
          let request = scene.nextRequest()
          scene.event(.requestBegan(.get), key: "k\(number)", request: request)
          scene.event(
            .failed(.get, "input/output error", .milliseconds(3)), level: "disk", key: "k\(number)", request: request)
        }
        scene.log(.error, "disk", "failed k2: input/output error")
        scene.send(.faults(["disk": "error 50%"]))
        return scene
      }, keys: [], words: ["✕ error 50%", "input/output error"]),
    Walk(
      question: "What changed between these two configurations?",
      start: { size in
        var scene = try ScreensScene.make(size)
        let old = try ConfigurationReader.read(ScreensScene.configuration, file: "demo.yaml", folder: "/srv")
        let new = try ConfigurationReader.read(
          ScreensScene.configuration.replacing("expiry: 30s", with: "expiry: 5s"), file: "demo.yaml", folder: "/srv")
        scene.press(.character("r"))
        scene.send(.planned(.changes(old.changes(to: new))))
        return scene
      }, keys: [], words: ["memory.expiry: 30s → 5s", "apply 1 change?"]),
    Walk(
      question: "How stale may this be?", start: screens, keys: ["5"],
      words: ["expiry          30s", "expiry          10m", "demo.yaml:3"]),
    Walk(question: "How do I leave?", start: busy, keys: ["^P", "quit"], words: ["▸quit", "q "]),
  ]

  @Test("Each of ten questions is answered by a few keys", arguments: walks, [(80, 24), (120, 40)])
  func answers(walk: Walk, size: (width: Int, height: Int)) throws {
    var scene = try walk.start(Size(width: size.width, height: size.height))
    for key in walk.keys {
      if let named = Self.named[key] { scene.press(named) } else { scene.type(key) }
    }
    let screen = scene.lines.joined(separator: "\n")
    for word in walk.words { #expect(screen.contains(word), "\(walk.question) “\(word)” is not on it:\n\(screen)") }
    #expect(walk.keys.count <= 5)
  }

  @Test("There are ten, and none is asked twice")
  func ten() { #expect(Set(Self.walks.map(\.question)).count == 10) }

  @Test("What the last answer says is true: Enter leaves, or asks while something would end")
  func leaves() {
    var scene = Scene.busy(Size(width: 80, height: 24))
    scene.press(.control("p"))
    scene.type("quit")
    let chosen = scene.model.palette.chosen?.key
    let effects = scene.send(.input(.key(.enter)))
    #expect(effects == [.quit] || effects == [.run("quit")], "\(chosen ?? "nothing")")
  }
}
