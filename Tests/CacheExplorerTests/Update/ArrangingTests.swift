import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// Panels that are hidden, moved and remembered.
struct ArrangingTests {
  private let large = Size(width: 120, height: 40)
  private let small = Size(width: 80, height: 24)

  @Test("H hides the focused panel, and those beside it take its room; = brings all back", arguments: [1, 2, 3, 4])
  func hides(tabs: Int) {
    var scene = Scene.busy(large)
    let usual = scene.lines
    for _ in 1..<tabs { scene.press(.tab) }
    let hidden = scene.model.focus
    #expect(scene.send(.input(.key(.character("H")))) == [.keepArrangement(scene.model.arrangement)])
    #expect(Layout(scene.model).panels[hidden] == nil && scene.model.focus != hidden)
    covered(scene)
    for _ in 0..<10 {
      scene.press(.tab)
      #expect(scene.model.focus != hidden)
    }
    scene.press(.character("="))
    scene.model.command.answer = nil
    scene.model.focus = .entries
    #expect(scene.lines == usual)
  }

  @Test("The last panel stays")
  func keepsOne() {
    var scene = Scene.busy(large)
    scene.type("HHH")
    #expect(Layout(scene.model).panels.count == 1)
    covered(scene)
    scene.type("H")
    #expect(scene.model.command.answer?.isGood == false)
    #expect(Layout(scene.model).panels.count == 1)
  }

  @Test(
    "M has a panel change places with the next one, round and round",
    arguments: [Size(width: 120, height: 40), Size(width: 80, height: 24)])
  func moves(size: Size) {
    var scene = Scene.busy(size)
    let place = Layout(scene.model).panels[.entries]
    scene.type("M")
    #expect(scene.model.focus == .entries)
    #expect(Layout(scene.model).panels[.inFlight] == place)
    covered(scene)
    scene.type("MMM")
    #expect(scene.model.arrangement.order.first == .entries)
    scene.type("=")
    #expect(scene.model.arrangement == PanelArrangement())
  }

  /// Every cell below what is always there belongs to exactly one panel.
  private func covered(_ scene: Scene, at location: SourceLocation = #_sourceLocation) {
    let layout = Layout(scene.model)
    let top = (layout.servedBy?.bottom ?? 0)
    let bottom = (layout.banner ?? layout.commandLine).y
    for y in top..<bottom {
      for x in 0..<scene.model.size.width {
        let count = layout.panels.values.count { $0.contains(Point(x: x, y: y)) }
        if count != 1 { return #expect(count == 1, "\(x), \(y)", sourceLocation: location) }
      }
    }
  }

  @Test("On other screens, zoomed and on the levels there is nothing to hide, which is told")
  func refused() {
    var scene = Scene.busy(large)
    for keys in ["2H", "1zH"] {
      scene.type(keys)
      #expect(scene.model.command.answer?.isGood == false)
      #expect(scene.model.arrangement == PanelArrangement())
    }
    scene.type("z")
    scene.press(.backTab)
    #expect(scene.model.focus == .levels)
    scene.type("M")
    #expect(scene.model.command.answer?.isGood == false)
  }

  @Test("In a small window the tabs are those that are shown, and a click on each finds it")
  func tabs() throws {
    var scene = Scene.busy(small)
    scene.press(.character("%"))
    scene.type("M")
    scene.press(.tab)
    let row = try #require(scene.lines.firstIndex { $0.contains("Latency") && $0.contains("Log") })
    for (name, panel) in [("Latency", PanelID.latency), ("Entries", .entries), ("Log", .log)] {
      let line = scene.lines[row]
      let x = try #require(line.range(of: name).map { line.distance(from: line.startIndex, to: $0.lowerBound) })
      scene.send(.input(.mouse(.init(kind: .press, at: Point(x: x + 1, y: row)))))
      #expect(scene.model.focus == panel)
    }
  }

  @Test("What is remembered is there the next time, for its owner alone")
  func remembers() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "state/cache-explorer/panels.json").path()
    let first = PanelMemory(path: path)
    #expect(first.arrangement == nil && first.problem == nil)
    let wanted = try #require(PanelArrangement(order: [.log, .entries, .latency, .inFlight], hidden: [.latency]))
    #expect(first.keep(wanted) == nil)
    let second = PanelMemory(path: path)
    #expect(second.arrangement == wanted && second.problem == nil)
    #expect(second.keep(PanelArrangement()) == nil)
    #expect(PanelMemory(path: path).arrangement == PanelArrangement())
  }

  @Test(
    "A file that is damaged, or of a newer program, is told of and left alone",
    arguments: [
      ("", "damaged"), ("{", "damaged"), ("[]", "damaged"), ("\u{0}\u{1}", "damaged"),
      (#"{"format":"something else","version":1}"#, "damaged"),
      (#"{"format":"cache-explorer panels","version":1}"#, "damaged"),
      (#"{"format":"cache-explorer panels","version":1,"panels":{"order":["log"],"hidden":[]}}"#, "damaged"),
      (
        #"{"format":"cache-explorer panels","version":1,"panels":{"order":["log","log","latency","entries"],"hidden":[]}}"#,
        "damaged"
      ),
      (
        #"{"format":"cache-explorer panels","version":1,"panels":{"order":["log","inFlight","latency","entries"],"hidden":["log","inFlight","latency","entries"]}}"#,
        "damaged"
      ),
      (#"{"format":"cache-explorer panels","version":2,"panels":{"grid":7}}"#, "newer"),
      (String(repeating: " ", count: 5_000), "cannot be read"),
    ])
  func leftAlone(text: String, word: String) throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "panels.json")
    try Data(text.utf8).write(to: file)
    let memory = PanelMemory(path: file.path())
    #expect(memory.arrangement == nil)
    #expect(memory.problem?.contains(word) == true && memory.problem?.contains(file.path()) == true)
    #expect(memory.keep(PanelArrangement()) == nil)
    #expect(try Data(contentsOf: file) == Data(text.utf8))
  }

  @Test("Where nothing can be written that is told")
  func unwritable() {
    #expect(PanelMemory(path: "/dev/null/panels.json").keep(PanelArrangement())?.contains("cannot be written") == true)
  }
}
