import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// From a second of a level's history to what happened in it.
struct HistoryTests {
  /// A read a second, each of its own key.
  private func scene(_ size: Size) -> Scene {
    var scene = Scene(size: size)
    for second in 0..<12 {
      scene.read("key:\(second)", from: second % 2 == 0 ? 2 : 1)
      scene.log(.info, "memory", "second \(second)")
      scene.pass(.seconds(1))
    }
    scene.press(.backTab)
    return scene
  }

  @Test(
    "The arrows choose a level and a second; Enter lists the requests of that second, and Esc all of them again",
    arguments: [Size(width: 80, height: 24), Size(width: 120, height: 40), Size(width: 200, height: 60)])
  func drills(size: Size) throws {
    var scene = scene(size)
    #expect(scene.model.focus == .levels)
    scene.press(.left, .left, .left)
    // Now is the thirteenth second, in which nothing has happened yet.
    #expect(
      scene.lines.contains { $0.contains("MEMORY at 12:03:09: 1 asked, 0 hits, 1 miss") && !$0.contains("1 misses") })
    scene.press(.enter)
    #expect(scene.model.page == .requests)
    #expect(scene.model.requestList.ids.count == 1)
    #expect(scene.lines.contains { $0.contains("MEMORY at 12:03:09") && $0.contains("Requests") })
    #expect(scene.lines.contains { $0.contains("key:9") })
    // The log stands at the same second.
    scene.type("6")
    #expect(scene.model.logLine.flatMap { scene.model.shown.log[$0] }?.text == "second 9")
    scene.type("3")
    scene.press(.escape)
    #expect(scene.model.requestList.ids.count == 12)
  }

  @Test("The chosen second stays chosen while time goes on, until it leaves the picture")
  func stays() {
    var scene = scene(Size(width: 80, height: 24))
    scene.press(.left, .left)
    let second = scene.model.chosenSecond
    scene.pass(.seconds(3))
    #expect(scene.model.chosenSecond == second)
    scene.pass(.seconds(30))
    #expect(scene.model.chosenSecond == SecondRing.number(of: scene.now) - 9)
    scene.press(.end)
    #expect(scene.model.chosenSecond == SecondRing.number(of: scene.now))
    scene.press(.home)
    #expect(scene.model.chosenSecond == SecondRing.number(of: scene.now) - 9)
  }

  @Test("A second without requests leads to its lines of the log, and one without either says so")
  func empty() {
    var scene = scene(Size(width: 120, height: 40))
    scene.log(.notice, "explorer", "a mark")
    scene.press(.enter)
    #expect(scene.model.page == .log)
    #expect(scene.model.logLine.flatMap { scene.model.shown.log[$0] }?.text == "a mark")
    scene.type("1")
    scene.pass(.seconds(20))
    scene.press(.backTab, .left, .left, .enter)
    #expect(scene.model.page == .overview)
    #expect(scene.lines.contains { $0.contains("nothing is known of 12:03:") })
  }

  @Test("Another level is another history; one that was not asked in that second has no requests there")
  func levels() {
    var scene = scene(Size(width: 120, height: 40))
    scene.press(.down, .down, .down)
    #expect(scene.model.history.level == 2)
    scene.press(.left, .left, .left)
    // The ninth read came from disk: the origin was not asked.
    #expect(scene.lines.contains { $0.contains("ORIGIN at 12:03:09: 0 asked") })
    scene.press(.left)
    #expect(scene.lines.contains { $0.contains("ORIGIN at 12:03:08: 1 asked") })
    scene.press(.enter)
    #expect(scene.model.requestList.ids.count == 1)
    #expect(scene.lines.contains { $0.contains("key:8") })
  }

  @Test("A second of the cache that begins between two of the day tells both its ends")
  func between() {
    var scene = scene(Size(width: 120, height: 40))
    let wall = Scene.wall + Scene.start.duration(to: scene.now) + .milliseconds(357)
    scene.send(.tick(scene.now, wall: wall))
    scene.press(.left)
    #expect(scene.lines.contains { $0.contains("MEMORY at 12:03:11.3–12.3: 1 asked") })
  }

  @Test("A double click on a column is Enter on it")
  func clicks() throws {
    for size in [Size(width: 80, height: 24), Size(width: 120, height: 40)] {
      var scene = scene(size)
      scene.press(.tab, .character("%"))
      let place = try #require(LevelMap(scene.model).places.first?.history)
      let at = Point(x: place.right - 4, y: place.y)
      scene.send(.input(.mouse(InputEvent.Mouse(kind: .press, at: at))))
      #expect(scene.model.focus == .levels)
      scene.send(.input(.mouse(InputEvent.Mouse(kind: .press, at: at, clicks: 2))))
      #expect(scene.model.page == .requests)
      #expect(scene.lines.contains { $0.contains("key:9") })
    }
  }
}
