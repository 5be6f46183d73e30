import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// Errors, and what else is out of the ordinary with a level, as they are told on the screens.
struct LevelStateTests {
  private static let sizes = [(200, 60), (120, 40), (80, 24), (40, 10)].map { Size(width: $0, height: $1) }

  /// Nine reads that the origin answered and three that failed.
  private func failing(_ size: Size) -> Scene {
    var scene = Scene(size: size)
    for number in 0..<9 { scene.read("key:\(number)", from: 2) }
    for number in 0..<3 { fail("lost:\(number)", in: &scene) }
    return scene
  }

  private func fail(_ key: String, in scene: inout Scene) {
    let request = scene.nextRequest()
    scene.event(.requestBegan(.get), key: key, request: request)
    for level in ["memory", "disk"] {
      scene.event(.lookupBegan, level: level, key: key, request: request)
      scene.event(.miss(.absent, .microseconds(9)), level: level, key: key, request: request)
    }
    scene.event(.lookupBegan, level: "origin", key: key, request: request)
    scene.event(.failed(.get, "no route", .milliseconds(9)), level: "origin", key: key, request: request)
    scene.event(.requestEnded(.get, .failed("no route"), .milliseconds(10)), key: key, request: request)
  }

  /// The style of the first cell of a text, wherever it stands in these rows.
  private func style(of text: String, in scene: Scene, rows: Range<Int>? = nil) -> Style? {
    let canvas = scene.canvas
    for y in rows ?? 0..<canvas.size.height {
      let cells = (0..<canvas.size.width).map { canvas[$0, y].glyph.text }
      for x in cells.indices where cells[x...].joined().hasPrefix(text) { return canvas[x, y].style }
    }
    return nil
  }

  @Test("While reads fail, the header has their share of the last seconds in the colour of errors", arguments: sizes)
  func header(size: Size) throws {
    var scene = failing(size)
    let told = size.width >= 140 ? "✕ err 25.0%, 5 s 25.0%" : "✕ err 25.0%"
    if size.width >= 80 {
      #expect(scene.lines[0].contains(told), "\(scene.lines[0])")
      #expect(style(of: "✕ err", in: scene, rows: 0..<1)?.role == .error)
    }
    if size.width >= 120 {
      #expect(scene.lines[0].contains("hit ") && scene.lines[0].contains("in flight 0"), "nothing is pushed out")
    }
    scene.pass(.seconds(7))
    #expect(!scene.lines[0].contains("5 s 25") && !scene.lines[0].contains("✕ err 25.0%  "))
    if size.width >= 140 {
      #expect(style(of: "✕ err 25.0%, 5 s", in: scene, rows: 0..<1)?.role == .plain, "what is over is a figure")
    } else {
      #expect(!scene.lines[0].contains("err"), "where only the last seconds are told, there is nothing to tell")
    }
  }

  @Test("The box of a level that fails says so by sign, word and colour, with the same share")
  func boxes() {
    let scene = failing(Self.sizes[0])
    #expect(style(of: "✕ failing", in: scene)?.role == .error)
    #expect(scene.lines.contains { $0.contains("err 25.0%  5 s 25.0%") })
    #expect(style(of: "err 25.0%", in: scene, rows: 1..<8)?.role == .error)
  }

  @Test("The table has a column for errors of the last seconds once there are any", arguments: sizes.suffix(2))
  func table(size: Size) {
    #expect(!Scene.busy(size).lines[1].contains("ERR"))
    var scene = failing(size)
    #expect(scene.lines[1].contains("ERR 5s"))
    let row = scene.lines.firstIndex { $0.contains("origin") } ?? 0
    #expect(scene.lines[row].contains("25.0%"))
    #expect(style(of: "25.0%", in: scene, rows: row..<row + 1)?.role == .error)
    #expect(style(of: "✕", in: scene, rows: row..<row + 1)?.role == .error)
    scene.pass(.seconds(7))
    #expect(style(of: "✕", in: scene, rows: row..<row + 1) == nil)
  }

  @Test("A request that failed shows the share of errors of the level where it did")
  func inspector() {
    var scene = failing(Self.sizes[1])
    scene.press(.character("3"), .enter)
    #expect(scene.lines.contains { $0.contains("origin ✕ err 25.0%, 5 s 25.0%") })
  }

  @Test("i says of errors what they are, their unit, window and source")
  func explained() {
    var scene = failing(Self.sizes[0])
    scene.press(.backTab, .character("i"))
    #expect(scene.lines.contains { $0.contains("err 25.0%, 5 s 25.0%") })
  }

  @Test(
    "A level is slow when half of its last answers took longer than nine of ten before, and no longer when that is over"
  )
  func slow() {
    var scene = Scene(size: Self.sizes[0])
    func answer(after latency: Duration, _ count: Int, in scene: inout Scene) {
      for _ in 0..<count {
        scene.event(.hit(cost: 1, deadline: nil, latency), level: "disk", key: "a", request: scene.nextRequest())
      }
    }
    answer(after: .milliseconds(2), 400, in: &scene)
    scene.pass(.seconds(7))
    answer(after: .milliseconds(2), 20, in: &scene)
    #expect(LevelState.all(scene.model.live, level: 1).isEmpty)
    answer(after: .milliseconds(50), 25, in: &scene)
    #expect(LevelState.all(scene.model.live, level: 1).map(\.kind) == [.slow])
    #expect(style(of: "! slow", in: scene)?.role == .warning)
    scene.pass(.seconds(7))
    #expect(LevelState.all(scene.model.live, level: 1).isEmpty)
  }

  @Test("A full level says so in words beside its bar", arguments: sizes.prefix(3))
  func full(size: Size) {
    var scene = Scene(size: size)
    scene.send(.usage(["memory": LevelUsage(count: 10, cost: 98, capacity: 100)]))
    #expect(scene.lines.contains { $0.contains("98% ■ full") || $0.contains("98% full") })
    scene.send(.usage(["memory": LevelUsage(count: 10, cost: 90, capacity: 100)]))
    #expect(!scene.lines.contains { $0.contains("full") })
  }

  @Test(
    "A level's sign is its first letter, or its number where two begin alike or one has no room in a cell",
    arguments: [
      (["memory", "disk"], ["M", "D"]), (["memory", "Middle"], ["1", "2"]), (["memory", "日本"], ["1", "2"]),
      (["memory", "ßig"], ["1", "2"]), (["memory", ""], ["1", "2"]),
    ])
  func letters(names: [String], signs: [String]) {
    #expect(LevelRow.signs(names.map { LevelRow(name: $0, kind: "memory") }) == signs)
  }

  @Test("Every state has a sign and a word, which are told apart without colours and in ASCII")
  func signs() {
    let states = LevelState.Kind.allCases.map { LevelState(kind: $0) }
    let texts = states.map { ASCIIGlyphs.text(($0.sign + " " + $0.word).glyphs.map(\.text).joined()) }
    #expect(Set(texts).count == states.count)
    #expect(texts.allSatisfy { !$0.contains("?") && $0.allSatisfy(\.isASCII) })
  }
}
