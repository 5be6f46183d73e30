import CacheEngineTesting
import Testing

@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct CanvasTests {
  @Test("Text is clipped at every edge, and a wide character is not split")
  func clipsAtEdges() {
    var canvas = Canvas(Size(width: 6, height: 2))
    canvas.write("日本語日", x: -1, y: 0)
    canvas.write("abc日", x: 2, y: 1)
    canvas.write("lost", x: 0, y: 2)
    canvas.write("lost", x: .max, y: .min)
    #expect(canvas.lines == [" 本語", "  abc"])
  }

  @Test("Drawing over half of a wide character takes away the other half")
  func mendsHalves() {
    var canvas = Canvas(lines: ["日本"])
    canvas.write("x", x: 1, y: 0)
    canvas.write("y", x: 2, y: 0)
    #expect(canvas.lines == [" xy"])
    #expect(canvas.cells.map(\.glyph) == [" ", "x", "y", " "])
  }

  @Test("Whatever is drawn over what, a wide character has both halves and nothing else has", arguments: 0..<40)
  func wholeGlyphs(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var canvas = Canvas(Size(width: 9, height: 2))
    for _ in 0..<60 {
      let (x, y) = (Int.random(in: -5...10, using: &random), Int.random(in: -1...2, using: &random))
      switch Int.random(in: 0..<4, using: &random) {
      case 0: canvas.fill(Rect(x: x, y: y, width: 3, height: 2), with: "░")
      case 1: canvas.box(Rect(x: x, y: y, width: 4, height: 2), title: "日")
      default:
        let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in Bool.random(using: &random) ? "日" : "x" }
        canvas.write(DisplayText(text.joined()), x: x, y: y)
      }
      for y in 0..<canvas.size.height {
        for x in 0..<canvas.size.width {
          #expect(canvas[x, y].glyph.isEmpty == (x > 0 && canvas[x - 1, y].glyph.isWide))
        }
        #expect(!canvas[canvas.size.width - 1, y].glyph.isWide)
      }
    }
  }

  @Test("A row tells from where to where it is unlike another")
  func difference() {
    let canvas = Canvas(lines: ["abcdef", "abcdef", "abcdef"])
    var other = canvas
    other[1, 1].glyph = "x"
    other[4, 1].style = .hit
    other[5, 2].glyph = "x"
    #expect((0..<3).map { canvas.columns(of: $0, unlike: other) } == [nil, 1...4, 5...5])
    other.copyRow(1, from: canvas)
    #expect((0..<3).map { other.columns(of: $0, unlike: canvas) } == [nil, nil, 5...5])
  }

  @Test("A canvas of lines gives the lines back")
  func roundTrip() {
    let lines = ["┌ 日本 ┐", "│ a  b │", "└──────┘"]
    #expect(Canvas(lines: lines).lines == lines)
  }

  @Test("A frame shows its titles where they fit")
  func box() {
    var canvas = Canvas(Size(width: 24, height: 5))
    canvas.box(Rect(x: 0, y: 0, width: 24, height: 3), title: "Entries", right: "sort")
    canvas.box(Rect(x: 0, y: 3, width: 12, height: 2), title: "Entries", right: "sort")
    #expect(
      canvas.lines == [
        "┌ Entries ────── sort ┐".replacing("──────", with: "───────"),
        "│                      │", "└──────────────────────┘", "┌ Entries ─┐", "└──────────┘",
      ])
  }

  @Test("Bars count in eighths, and what is more than nothing shows")
  func bars() {
    #expect(Canvas.bar(width: 4, fraction: 0.5) == "██")
    #expect(Canvas.bar(width: 4, fraction: 0.53) == "██▏")
    #expect(Canvas.bar(width: 4, fraction: 0.000_1) == "▏")
    #expect(Canvas.bar(width: 4, fraction: 7) == "████")
    #expect(Canvas.bar(width: 4, fraction: 0) == "")
    #expect(Canvas.bar(width: 4, fraction: .nan) == "")
  }

  @Test("A sparkline tells nothing from little")
  func sparkline() {
    #expect(Canvas.sparkline([0, 1, 4, 8]) == "·▁▄█")
    #expect(Canvas.sparkline([0, 0]) == "··")
  }

  @Test("No size and no place traps")
  func survivesAnything() {
    for size in [Size(width: 0, height: 0), Size(width: -3, height: 5), Size(width: 1, height: 1)] {
      var canvas = Canvas(size)
      for value in [Int.min, -1, 0, 1, 7, Int.max] {
        let rect = Rect(x: value, y: value, width: value, height: value)
        canvas.box(rect, title: "title", right: "right")
        canvas.fill(rect)
        canvas.reverse(rect)
        canvas.bar(x: value, y: value, width: 5, fraction: 0.5, style: .plain)
        canvas[value, value] = .blank
      }
      #expect(canvas.cells.count == canvas.size.width * canvas.size.height)
    }
  }
}
