import CacheEngine
import ExplorerText
import Foundation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

struct SVGPictureTests {
  /// The texts of an XML document, and what its elements say of them; `nil` if it is none.
  private func read(_ svg: String) -> [(attributes: [String: String], text: String)]? {
    let reader = TextReader()
    let parser = XMLParser(data: Data(svg.utf8))
    parser.delegate = reader
    return parser.parse() ? reader.texts : nil
  }

  @Test("Every row of the screen stands in it as text, each piece as wide as its cells", arguments: Theme.allCases)
  func rows(theme: Theme) throws {
    let canvas = Scene.busy(Size(width: 120, height: 40)).canvas
    let svg = SVGPicture(canvas, title: "a < b & \"c\"\u{1b}", theme: theme).text
    let texts = try #require(read(svg))
    var rows = [Int: [Character]]()
    for (attributes, text) in texts {
      let x = try #require(attributes["x"].flatMap(Int.init)), y = try #require(attributes["y"].flatMap(Int.init))
      let cells = DisplayText(text).width
      #expect(attributes["textLength"] == "\(cells * 8)", "\(text)")
      var row = rows[(y - 22) / 15] ?? []
      let column = (x - 10) / 8
      while row.count < column { row.append(" ") }
      // A glyph of two cells counts for two, as on the screen.
      row += text.flatMap { DisplayText(String($0)).width == 2 ? [$0, "\0"] : [$0] }
      rows[(y - 22) / 15] = row
    }
    for (y, line) in canvas.lines.enumerated() where !line.isEmpty {
      #expect(String((rows[y] ?? []).filter { $0 != "\0" }) == line)
    }
    #expect(svg.contains("viewBox=\"0 0 980 620\""))
    #expect(svg.contains("<title>a &lt; b &amp; &quot;c&quot;\\u{1b}</title>"))
  }

  @Test("What combines with a sign of XML leaves that no sign of XML")
  func marks() throws {
    var canvas = Canvas(Size(width: 20, height: 1))
    canvas.write("a<\u{301}b&\u{301}c", x: 0, y: 0)
    let svg = SVGPicture(canvas, title: "<\u{301}", theme: .mono).text
    #expect(try #require(read(svg)).map(\.text) == ["a<\u{301}b&\u{301}c"], "\(svg)")
  }

  @Test("Colours are those of the theme, and what is reversed stands on its colour")
  func colors() throws {
    var canvas = Canvas(Size(width: 6, height: 1))
    canvas.write("hit", x: 0, y: 0, style: .hit)
    canvas.write("w", x: 4, y: 0, style: Style.warning.reversed)
    let texts = try #require(read(SVGPicture(canvas, title: "t").text))
    #expect(texts.map(\.text) == ["hit", "w"])
    #expect(texts[0].attributes["fill"] == "#8cd58f")
    #expect(texts[1].attributes["fill"] == "#12161c")
    #expect(
      SVGPicture(canvas, title: "t").text.contains(##"<rect x="42" y="10" width="8" height="15" fill="#fad75c"/>"##))
    #expect(try #require(read(SVGPicture(canvas, title: "t", theme: .light).text))[0].attributes["fill"] == "#06840a")
    #expect(try #require(read(SVGPicture(canvas, title: "t", theme: .mono).text))[0].attributes["fill"] == "#d6d8da")
  }

  @Test("A demonstration's picture is drawn at once, and the README shows one of the same levels and size")
  func demo() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "demo.svg")
    let run = try await Program.run(["demo", "--seconds", "30", "--export", file.path()])
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    #expect(run.output.contains("a picture of 120x40"))
    let shown = Program.root.appending(path: "Documentation/demo.svg")
    for picture in [file, shown] {
      let svg = try String(contentsOf: picture, encoding: .utf8)
      let texts = try #require(read(svg)).map(\.text).joined(separator: "\n")
      for name in ["1 MEMORY", "2 DISK", "ORIGIN", "served by", "12:00:30", "copies expire"] {
        #expect(texts.contains(name), "\(picture.lastPathComponent) does not say \(name)")
      }
      #expect(svg.contains(#"viewBox="0 0 980 620""#))
    }
    let readme = try String(contentsOf: Program.root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.contains("(Documentation/demo.svg)"))
  }

  @Test(
    "A demonstration's picture is of the second that was asked for, however long its answers take", arguments: Demo.all)
  func second(of demo: Demo) async throws {
    let folder = try TemporaryFolder()
    let canvas = try await DemoPicture.canvas(
      demo, try demo.configuration(folder: folder.url.path()), seconds: 8, size: Size(width: 120, height: 40))
    // An answer that is waited for at the end of the eighth second is waited for.
    let text = canvas.lines.joined(separator: "\n")
    #expect(text.contains("12:00:08") || text.contains("12:00:09"), "\(text)")
  }

  @Test("What cannot be a picture is refused with what to do")
  func refused() async throws {
    for (arguments, message) in [
      (["demo", "--export", "a.cast"], "--replay"), (["demo", "--export", "a.png"], ".svg"),
      (["demo", "--seconds", "0", "--export", "a.svg"], "1 to 600"), (["demo", "--seconds", "9"], "needs --export"),
      (["demo", "--export", "/nowhere/a.svg"], "cannot be written"),
    ] {
      let run = try await Program.run(arguments)
      #expect(run.status == 2)
      #expect(run.errors.contains(message), "\(run.errors)")
    }
  }
}

private final class TextReader: NSObject, XMLParserDelegate {
  var texts: [(attributes: [String: String], text: String)] = []
  private var isText = false

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String] = [:]
  ) {
    isText = element == "text"
    if isText { texts.append((attributes, "")) }
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if isText { texts[texts.count - 1].text += text }
  }

  func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
    isText = false
  }
}
