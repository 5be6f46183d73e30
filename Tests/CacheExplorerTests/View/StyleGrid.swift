import Foundation
import Testing

@testable import ExplorerText

/// How a picture is styled, as text: a line for each row, its runs of equal style one after the other.
///
/// A run is a letter for the role and how many cells it takes: `h4` four cells of a hit. A capital letter is bold, `~`
/// reversed. Plain cells at the end of a row are left out. What the pictures of the tests should look like is in
/// `Tests/Styles`, a file for each; `RECORD_STYLES=1 make test` writes them anew, to be looked at before they are committed.
enum StyleGrid {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Styles")
  private static let letters: [Style.Role: String] = [
    .plain: "p", .faint: "f", .title: "t", .border: "b", .key: "k", .hit: "h", .miss: "m", .join: "j", .fill: "l",
    .warning: "w", .error: "e", .accent: "a",
  ]

  static func text(_ canvas: Canvas) -> String {
    (0..<canvas.size.height).map { y in
      var runs: [(style: Style, count: Int)] = []
      for x in 0..<canvas.size.width {
        let style = canvas[x, y].style
        if runs.last?.style == style { runs[runs.count - 1].count += 1 } else { runs.append((style, 1)) }
      }
      if runs.last?.style == .plain { runs.removeLast() }
      return runs.map { name($0.style) + ($0.count == 1 ? "" : "\($0.count)") }.joined(separator: " ")
    }.joined(separator: "\n") + "\n"
  }

  private static func name(_ style: Style) -> String {
    let letter = letters[style.role] ?? "?"
    return (style.isReversed ? "~" : "") + (style.isBold ? letter.uppercased() : letter)
  }

  /// Compares the styles of a picture with those that were recorded for it.
  static func expect(_ canvas: Canvas, isStyledAs name: String, at location: SourceLocation = #_sourceLocation) throws {
    let file = folder.appending(path: name + ".txt")
    let drawn = text(canvas)
    if ProcessInfo.processInfo.environment["RECORD_STYLES"] != nil {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(drawn.utf8).write(to: file)
      return
    }
    let recorded = try String(contentsOf: file, encoding: .utf8)
    for (row, (drawn, recorded)) in zip(rows(drawn), rows(recorded)).enumerated() where drawn != recorded {
      #expect(drawn == recorded, "\(name), row \(row)", sourceLocation: location)
    }
    #expect(rows(drawn).count == rows(recorded).count, "\(name)", sourceLocation: location)
  }

  private static func rows(_ text: String) -> [Substring] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
  }
}

struct StyleGridTests {
  @Test("Every role has a letter of its own")
  func letters() {
    var canvas = Canvas(Size(width: Style.Role.allCases.count + 3, height: 1))
    for (x, role) in Style.Role.allCases.enumerated() { canvas[x, 0] = Cell(glyph: "x", style: Style(role: role)) }
    canvas[Style.Role.allCases.count, 0] = Cell(glyph: "x", style: Style(role: .hit, isBold: true))
    canvas[Style.Role.allCases.count + 1, 0] = Cell(glyph: "x", style: Style(role: .hit, isReversed: true))
    #expect(StyleGrid.text(canvas) == "p f t b k h m j l w e a H ~h\n")
  }
}
