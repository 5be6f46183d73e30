import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerText

struct TimeTravelTests {
  private let size = Size(width: 120, height: 40)

  @Test("Frozen, one key goes an event on and the other an event back, as far as there are any")
  func steps() {
    var scene = Scene(size: size)
    scene.read("a", from: 2)
    scene.press(.character(" "))
    let before = scene.lines
    scene.read("b", from: 0)
    #expect(scene.model.live.requests.count.requests == 2)
    #expect(scene.model.shown.requests.count.requests == 1)
    // A request, a look-up, a hit, an end.
    for step in 1...4 {
      scene.press(.character("."))
      #expect(scene.lines[0].contains("event \(step) of 4"))
    }
    #expect(scene.model.shown.requests.count.answered == 2)
    #expect(scene.model.shown.entries.row("b")?.hits == 1)
    scene.press(.character("."))
    #expect(scene.model.command.answer?.text == "nothing has happened since")
    scene.press(.character(","), .character(","))
    #expect(scene.model.shown.entries.row("b") == nil)
    #expect(scene.model.shown.requests.count.pending == 1)
    scene.press(.character(","), .character(","))
    scene.model.command.answer = nil
    // But for the header, which tells how much has happened since.
    #expect(scene.lines.dropFirst().dropLast(3) == before.dropFirst().dropLast(3))
    scene.press(.character(","))
    #expect(scene.model.command.answer?.text == "this is where the picture was frozen")
    scene.press(.character("L"))
    #expect(scene.model.travel == nil)
    #expect(scene.model.shown.requests.count.requests == 2)
  }

  @Test("Nobody steps over events that were lost")
  func stopsAtLosses() {
    var scene = Scene(size: size)
    scene.press(.character(" "))
    scene.read("a", from: 0)
    scene.send(.events([], lost: 2))
    scene.read("b", from: 0)
    #expect(scene.model.travel?.count == 4)
    #expect(scene.model.travel?.isCut == true)
  }

  @Test("Going on event by event ends where the present is", arguments: 1...6)
  func arrivesAtThePresent(seed: Int) {
    var messages = RandomMessages(seed: UInt64(seed), levels: Scene.threeLevels)
    var scene = Scene(size: size)
    scene.press(.character(" "))
    scene.send(.events((0..<150).map { _ in messages.event() }, lost: 0))
    for _ in 0..<150 { scene.press(.character(".")) }
    let (shown, live) = (scene.model.shown, scene.model.live)
    #expect(shown.traffic.map(\.lookups) == live.traffic.map(\.lookups))
    #expect(shown.requests.count == live.requests.count)
    #expect(shown.eventCount == live.eventCount)
    #expect(shown.entries.rows.map(\.key) == live.entries.rows.map(\.key))
  }
}
