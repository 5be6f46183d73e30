import CacheEngineTesting
import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// What the mouse does on the screens.
struct PointingTests {
  private static let sizes = [Size(width: 80, height: 24), Size(width: 120, height: 40), Size(width: 200, height: 60)]

  private func scene(_ size: Size) -> Scene {
    var scene = Scene.busy(size)
    scene.press(.character("%"))
    return scene
  }

  @discardableResult
  private func point(
    _ scene: inout Scene, _ x: Int, _ y: Int, _ kind: InputEvent.Mouse.Kind = .press, clicks: Int = 1
  ) -> [Effect] {
    scene.send(.input(.mouse(InputEvent.Mouse(kind: kind, at: Point(x: x, y: y), clicks: clicks))))
  }

  /// The cell at which a text begins.
  private func place(of text: String, in scene: Scene) throws -> Point {
    var canvas = Canvas(scene.model.size)
    view(scene.model, on: &canvas)
    for y in 0..<canvas.size.height {
      for x in 0..<canvas.size.width {
        let rest = (x..<canvas.size.width).map { canvas[$0, y].glyph.text }.joined()
        if rest.hasPrefix(text) { return Point(x: x, y: y) }
      }
    }
    throw NotShown(text: text)
  }

  private struct NotShown: Error { let text: String }

  @Test("% takes the mouse and gives it back; it is the terminal's at the start")
  func toggles() {
    var scene = Scene.busy(Self.sizes[0])
    #expect(!scene.model.isMouseOn)
    #expect(scene.send(.input(.key(.character("%")))) == [.mouse(true)])
    #expect(scene.send(.input(.key(.character("%")))) == [.mouse(false)])
  }

  @Test("A click chooses the row under it, whichever panel it is in", arguments: sizes)
  func choosesRows(size: Size) throws {
    var scene = scene(size)
    scene.press(.tab)
    scene.type("2")
    let entry = try place(of: "cfg/flags", in: scene)
    point(&scene, entry.x, entry.y)
    #expect(scene.model.focus == .entries)
    #expect(scene.model.list.current(in: scene.model.shown)?.key == "cfg/flags")
    scene.type("3")
    point(&scene, 10, 4)
    #expect(scene.model.requestList.cursor == 1)
  }

  @Test(
    "A key that was clicked stays chosen while entries arrive before and after it, whatever the order",
    arguments: EntryList.Column.allCases)
  func staysWithTheKey(column: EntryList.Column) throws {
    var generator = SeededGenerator(seed: 3)
    for round in 0..<12 {
      var scene = Scene(size: Self.sizes[1])
      scene.press(.character("%"))
      for key in ["m1", "m2", "m3"] { scene.read(key, from: 2, size: 500) }
      scene.send(.sort(column.word))
      if round.isMultiple(of: 2) { scene.type("S") }
      scene.pass(.milliseconds(300))
      let wanted = ["m1", "m2", "m3"][round % 3]
      let row = try place(of: "\(wanted)  ", in: scene)
      // One arrives with the click and is not listed yet, others follow.
      scene.read("a\(round)", from: 2, size: 900)
      point(&scene, row.x, row.y)
      #expect(scene.model.list.current(in: scene.model.shown)?.key == wanted)
      for step in 0..<8 {
        let key = ["b", "z", "m"].randomElement(using: &generator) ?? "b"
        scene.read("\(key)\(step)", from: 2, size: Int.random(in: 1...1_000, using: &generator))
        if step == 5 {
          let entries = ["m1", "m2", "m3", "late"].map {
            ListedEntry(key: $0, cost: 7, created: scene.now, deadline: nil)
          }
          scene.send(.snapshot(level: "memory", entries))
        }
        scene.pass(.milliseconds(step.isMultiple(of: 2) ? 60 : 300))
        #expect(scene.model.list.current(in: scene.model.shown)?.key == wanted)
        #expect(scene.lines.contains { $0.contains("▸\(wanted) ") })
      }
    }
  }

  @Test("A double click is Enter")
  func opens() throws {
    var scene = scene(Self.sizes[1])
    let entry = try place(of: "user:42", in: scene)
    point(&scene, entry.x, entry.y)
    #expect(scene.model.inspection == nil)
    point(&scene, entry.x, entry.y, clicks: 2)
    #expect(scene.model.inspection != nil)
    // Outside what lies over the panels nothing hidden is chosen, and the inspection ends.
    scene.press(.escape)
    #expect(scene.model.inspection == nil)
  }

  @Test("The hint in the corner can be clicked where it is shown, whatever is inspected", arguments: sizes)
  func helps(size: Size) throws {
    var scene = scene(size)
    let hint = try place(of: "?:help", in: scene)
    #expect(hint.y == 0)
    point(&scene, hint.x - 1, 0)
    #expect(scene.model.mode == .normal)
    scene.press(.enter)
    point(&scene, hint.x + 5, 0)
    #expect(scene.model.mode == .help)
    var small = self.scene(Size(width: 40, height: 12))
    small.type(" ")
    #expect(throws: NotShown.self) { try place(of: "?:help", in: small) }
    for x in 0..<40 { point(&small, x, 0) }
    #expect(small.model.mode == .normal)
  }

  @Test("The wheel scrolls what is under it and leaves the focus where it is")
  func wheel() throws {
    var scene = scene(Self.sizes[1])
    let line = try place(of: "expire session:11aa", in: scene)
    for number in 0..<60 { scene.log(.info, "disk", "line \(number)") }
    #expect(scene.model.log.isFollowing)
    point(&scene, line.x, line.y, .wheelUp)
    point(&scene, line.x, line.y, .wheelUp)
    point(&scene, line.x, line.y, .wheelUp)
    point(&scene, line.x, line.y, .wheelUp)
    #expect(!scene.model.log.isFollowing)
    #expect(scene.model.focus == .entries)
    let entries = try place(of: "KEY", in: scene)
    point(&scene, entries.x + 2, entries.y + 2, .wheelDown)
    #expect(scene.model.list.cursor == 3)
    point(&scene, entries.x + 2, entries.y + 2, .wheelUp)
    #expect(scene.model.list.cursor == 0)
  }

  @Test("The first click after the window got the focus does nothing else; a key says that the person is there")
  func focuses() throws {
    var scene = scene(Self.sizes[1])
    let entry = try place(of: "user:9113", in: scene)
    scene.send(.input(.focus(true)))
    point(&scene, entry.x, entry.y)
    #expect(scene.model.list.cursor == 0)
    point(&scene, entry.x, entry.y)
    #expect(scene.model.list.current(in: scene.model.shown)?.key == "user:9113")
    scene.send(.input(.focus(true)))
    scene.press(.home)
    point(&scene, entry.x, entry.y)
    #expect(scene.model.list.current(in: scene.model.shown)?.key == "user:9113")
  }

  @Test("Tabs, levels and the keys at the bottom can be clicked", arguments: sizes)
  func tabs(size: Size) throws {
    var scene = scene(size)
    if size.width == 80 {
      let tab = try place(of: "Latency", in: scene)
      point(&scene, tab.x + 1, tab.y)
      #expect(scene.model.focus == .latency)
      let other = try place(of: "In flight", in: scene)
      point(&scene, other.x, other.y)
      #expect(scene.model.focus == .inFlight)
    }
    let disk = try place(of: "DISK", in: scene)
    point(&scene, disk.x, disk.y)
    #expect(scene.model.focus == .levels)
    #expect(scene.model.history.level == 1)
    let help = try place(of: "?Help", in: scene)
    point(&scene, help.x + 2, help.y)
    #expect(scene.model.mode == .help)
  }

  @Test("A click answers no question and moves nothing while something is typed")
  func questions() throws {
    var scene = scene(Self.sizes[1])
    let entry = try place(of: "user:9113", in: scene)
    scene.type("c")
    let mode = scene.model.mode
    point(&scene, entry.x, entry.y)
    #expect(scene.model.mode == mode)
    scene.type("n:")
    point(&scene, entry.x, entry.y)
    #expect(scene.model.mode == .command)
    #expect(scene.model.list.cursor == 0)
  }

  @Test("Off, the mouse does nothing")
  func off() {
    var scene = Scene.busy(Self.sizes[1])
    for y in 0..<40 { point(&scene, 20, y, clicks: 2) }
    #expect(scene.model.focus == .entries)
    #expect(scene.model.inspection == nil)
    #expect(scene.model.list.cursor == 0)
  }

  @Test("A click anywhere at any size chooses something or nothing, and what is drawn stays whole", arguments: sizes)
  func everywhere(size: Size) throws {
    for page in Page.allCases {
      var scene = try ScreensScene.make(size)
      scene.type("%\(page.key)")
      for y in 0..<size.height {
        for x in stride(from: 0, to: size.width, by: 3) {
          point(&scene, x, y, clicks: 1 + (x + y) % 2)
          if scene.model.mode != .normal { scene.press(.escape) }
        }
      }
      #expect(scene.lines.count == size.height)
    }
  }
}
