import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerState
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
    // And on, into what happened before the pause.
    scene.press(.character(","))
    #expect(scene.lines[0].contains("1 of 10 before the pause"))
    scene.press(.character("L"))
    #expect(scene.model.travel == nil)
    #expect(scene.model.shown.requests.count.requests == 2)
  }

  @Test("From the pause one key goes back to the beginning, event by event, and another the same way on")
  func backwards() {
    var scene = Scene(size: size)
    var pictures: [[String]] = []
    func rows() -> [String] { Array(scene.lines.dropFirst().dropLast(3)) }
    for key in ["a", "b", "a"] {
      scene.read(key, from: key == "a" ? 2 : 1)
    }
    let count = scene.model.live.eventCount
    scene.press(.character(","))
    #expect(scene.lines[0].contains("1 of \(count) before the pause"))
    #expect(scene.model.shown.requests.count.pending == 1)
    for _ in 1..<count {
      pictures.append(rows())
      scene.press(.character(","))
    }
    #expect(scene.model.shown.eventCount == 0)
    #expect(scene.model.shown.entries.rows.isEmpty)
    scene.press(.character(","))
    #expect(scene.model.command.answer?.text == "nothing that happened before is known")
    scene.model.command.answer = nil
    for picture in pictures.reversed() {
      scene.press(.character("."))
      #expect(rows() == picture)
    }
    scene.press(.character("."))
    #expect(scene.model.travel?.position == 0)
    #expect(scene.model.shown.eventCount == count)
    #expect(scene.model.live.eventCount == count)
  }

  @Test("As much is kept of what happened as the log has, and no more than twice that")
  func reach() {
    var past = RecentPast(spacing: 10)
    var picture = Picture(levels: Scene.threeLevels, now: CacheInstant(nanoseconds: 0))
    var messages = RandomMessages(seed: 1, levels: Scene.threeLevels)
    for count in 1...100 {
      let event = messages.event()
      past.note([event], lost: 0, before: picture)
      _ = picture.fold([event], lost: 0)
      let before = TimeTravel(picture, past: past).countBefore
      #expect(before >= min(count, 10) && before <= 20)
    }
    past.note([], lost: 1, before: picture)
    #expect(TimeTravel(picture, past: past).countBefore == 0, "nobody goes over what was lost")
    past.note(Array(repeating: messages.event(), count: RecentPast.fastest + 1), lost: 0, before: picture)
    #expect(TimeTravel(picture, past: past).countBefore == 0, "nor over what came too fast")
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
