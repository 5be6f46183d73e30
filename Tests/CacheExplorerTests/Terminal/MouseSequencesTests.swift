import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal
@testable import ExplorerText

@Suite("Mouse sequences")
struct MouseSequencesTests {
  private func decode(_ text: String) -> [InputEvent] {
    var decoder = KeyDecoder()
    return decoder.feed(Array(text.utf8)) + decoder.giveUp()
  }

  private func mouse(_ kind: InputEvent.Mouse.Kind, _ x: Int, _ y: Int) -> InputEvent {
    .mouse(InputEvent.Mouse(kind: kind, at: Point(x: x, y: y)))
  }

  @Test("a press and the wheel are told with their cell, whatever else is held down")
  func presses() {
    #expect(decode("\u{1b}[<0;1;1M") == [mouse(.press, 0, 0)])
    #expect(decode("\u{1b}[<0;120;40M") == [mouse(.press, 119, 39)])
    #expect(decode("\u{1b}[<16;7;3M") == [mouse(.press, 6, 2)])
    #expect(decode("\u{1b}[<64;300;200M") == [mouse(.wheelUp, 299, 199)])
    #expect(decode("\u{1b}[<69;2;2M") == [mouse(.wheelDown, 1, 1)])
  }

  @Test("letting go, moving, and other buttons say nothing, and no character of theirs becomes a key")
  func silent() {
    for text in [
      "\u{1b}[<0;1;1m", "\u{1b}[<2;1;1M", "\u{1b}[<1;1;1M", "\u{1b}[<32;5;5M", "\u{1b}[<66;5;5M", "\u{1b}[<128;5;5M",
    ] { #expect(decode(text) == [], "\(text.dropFirst())") }
  }

  @Test(
    "what is no report is no click",
    arguments: [
      "[<0;1M", "[<;;M", "[<0;0;1M", "[<0;1;0M", "[<0;1;1;1M", "[<0;99999;1M", "[<-1;1;1M",
      "[<0;99999999999999999999;1M",
    ])
  func malformed(text: String) {
    #expect(!decode("\u{1b}" + text + "q").contains { if case .mouse = $0 { true } else { false } })
    #expect(decode("\u{1b}" + text + "q").last == .key(.character("q")))
  }

  @Test("reports come whole although they are read in pieces, between keys and in a row")
  func pieces() {
    let text = "j\u{1b}[<0;10;5Mk\u{1b}[<64;1;2M\u{1b}[I\u{1b}[O"
    let expected: [InputEvent] = [
      .key(.character("j")), mouse(.press, 9, 4), .key(.character("k")), mouse(.wheelUp, 0, 1), .focus(true),
      .focus(false),
    ]
    #expect(decode(text) == expected)
    var decoder = KeyDecoder()
    #expect(text.utf8.flatMap { decoder.feed([$0]) } == expected)
  }

  @Test("two presses on one cell in quick succession are a double click, and a third begins anew")
  func doubleClick() {
    var counter = ClickCounter()
    let start = ContinuousClock().now
    let (here, there) = (Point(x: 4, y: 4), Point(x: 4, y: 5))
    #expect(counter.count(at: here, start) == 1)
    #expect(counter.count(at: here, start + .milliseconds(100)) == 2)
    #expect(counter.count(at: here, start + .milliseconds(200)) == 1)
    #expect(counter.count(at: there, start + .milliseconds(300)) == 1)
    #expect(counter.count(at: there, start + .milliseconds(300) + ClickCounter.patience) == 2)
    #expect(counter.count(at: here, start + .seconds(9)) == 1)
    #expect(counter.count(at: here, start + .seconds(10)) == 1)
  }
}
