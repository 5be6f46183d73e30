import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal
@testable import ExplorerText

@Suite("Recording screen")
@MainActor
struct RecordingScreenTests {
  @Test("it keeps every canvas in order")
  func keeps() {
    let screen = RecordingScreen(size: Size(width: 2, height: 1))
    var canvas = Canvas(screen.size)
    screen.show(canvas)
    canvas[0, 0].glyph = "a"
    screen.show(canvas)
    #expect(screen.shown.map(\.rows) == [[""], ["a"]])
    #expect(screen.current == canvas)
  }

  @Test("events come in the order they were sent, and end with the screen")
  func events() async {
    let screen = RecordingScreen()
    screen.type("ab\n")
    screen.resize(to: Size(width: 40, height: 10))
    screen.close()
    var events: [InputEvent] = []
    for await event in screen.input { events.append(event) }
    #expect(
      events == [
        .key(.character("a")), .key(.character("b")), .key(.enter), .resized(Size(width: 40, height: 10)),
      ])
    #expect(screen.size == Size(width: 40, height: 10))
  }

  @Test("a test can wait for a canvas that comes later")
  func waits() async {
    let screen = RecordingScreen(size: Size(width: 1, height: 1))
    async let found = screen.canvas { $0.rows == ["b"] }
    for glyph in ["a", "b", "c"] {
      var canvas = Canvas(screen.size)
      canvas[0, 0].glyph = Glyph(glyph)
      screen.show(canvas)
      if glyph == "b" { break }
    }
    #expect(await found?.rows == ["b"])
  }

  @Test("a wait ends when the screen is closed, and nothing is shown afterwards")
  func closed() async {
    let screen = RecordingScreen()
    screen.close()
    screen.close()
    screen.show(Canvas(screen.size))
    #expect(await screen.canvas { _ in true } == nil)
    #expect(screen.shown.isEmpty)
  }
}
