import Testing

@testable import ExplorerModel
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
