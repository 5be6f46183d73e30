import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// What travels from level to level on the overview.
struct MotionTests {
  private func scene() -> Scene {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.model.isAnimated = true
    scene.read("a", from: 2)
    return scene
  }

  /// The cells of the arrow between memory and disk: what is passed on, and what comes back.
  private func arrow(_ scene: Scene) throws -> (down: String, up: String) {
    let lines = scene.lines.map { Array($0) }
    let start = try #require(lines[1].indices.dropFirst().first { lines[1][$0 - 1] == "┐" })
    return (String(lines[2][start..<start + 5]), String(lines[5][start..<start + 5]))
  }

  @Test("A look-up goes on after a miss and its copy comes up, a step each eighth of a second, and then they are gone")
  func travels() throws {
    var scene = scene()
    var places: [(Int?, Int?)] = []
    for _ in 0..<6 {
      #expect(scene.model.isMoving == (places.count < 5))
      let (down, up) = try arrow(scene)
      places.append((Array(down).firstIndex(of: "○"), Array(up).firstIndex(of: "●")))
      scene.pass(.milliseconds(125))
    }
    #expect(places.map(\.0) == [0, 1, 2, 3, 4, nil])
    #expect(places.map(\.1) == [4, 3, 2, 1, 0, nil])
  }

  @Test("Nothing travels where nobody can follow it, looks, or wants it")
  func rests() throws {
    var busy = scene()
    for number in 0..<200 { busy.read("k\(number)", from: 1) }
    busy.pass(.seconds(1))
    busy.read("b", from: 2)
    #expect(!busy.model.isMoving)
    #expect(try !arrow(busy).down.contains("○"))
    var frozen = scene()
    frozen.press(.character(" "))
    #expect(!frozen.model.isMoving)
    #expect(try !arrow(frozen).down.contains("○"))
    var away = scene()
    away.send(.input(.focus(false)))
    #expect(!away.model.isMoving)
    away.send(.input(.focus(true)))
    #expect(away.model.isMoving)
    var still = scene()
    still.model.isAnimated = false
    #expect(!still.model.isMoving)
    #expect(try !arrow(still).up.contains("●"))
    var other = scene()
    other.press(.character("2"))
    #expect(!other.model.isMoving)
  }

  @Test("A change of another process arrives on the arrow from the level that is shared")
  func arrives() throws {
    var levels = Scene.threeLevels
    levels[1].shared = SharedStatus()
    var scene = Scene(size: Size(width: 120, height: 40), levels: levels)
    scene.model.isAnimated = true
    scene.event(.operated(.shared(.forgot(nil))), level: "coherence", key: "a")
    scene.pass(.milliseconds(300))
    let line = scene.lines[3]
    #expect(line.contains("│  ✕  │"), "\(line)")
    #expect(scene.lines.count { $0.contains("│  ✕  │") } == 1)
  }
}
