import Foundation
import Testing

/// The pages of the documentation: that their code is compiled, and that their links lead somewhere.
struct PagesTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Every page in the folder of the package, its place, and in the folders of documentation.
  private static func pages() throws -> [(name: String, text: String)] {
    let top = try FileManager.default.contentsOfDirectory(atPath: root.path()).filter { $0.hasSuffix(".md") }
    let deeper = try ["Documentation", "Sources"].flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path())
        .filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
    }
    return try (top + deeper).sorted().map {
      ($0, try String(contentsOf: root.appending(path: $0), encoding: .utf8))
    }
  }

  @Test("every Swift block of every page stands in a test, and what it imports is what that test imports")
  func blocksAreCompiled() throws {
    var compiled: [(code: [String], file: Set<String>)] = []
    let tests = Self.root.appending(path: "Tests")
    for name in try FileManager.default.subpathsOfDirectory(atPath: tests.path()) where name.hasSuffix("Tests.swift") {
      let text = try String(contentsOf: tests.appending(path: name), encoding: .utf8)
      for marker in ["// README\n", "// Article\n"] {
        for section in text.components(separatedBy: marker).dropFirst() {
          compiled.append((Self.lines(section.components(separatedBy: "// end")[0]), Set(Self.lines(text))))
        }
      }
    }
    var count = 0
    for page in try Self.pages() {
      for section in page.text.components(separatedBy: "```swift\n").dropFirst() {
        let block = Self.lines(section.components(separatedBy: "```")[0])
        guard !block.contains(where: { $0.contains(".package(url:") }) else { continue }
        count += 1
        let imports = block.filter { $0.hasPrefix("import ") }.map { $0.split(separator: " ")[1] }
        let code = block.filter { !$0.hasPrefix("import ") }
        let isCompiled = compiled.contains { place in
          place.code == code && imports.allSatisfy { place.file.contains("import \($0)") }
        }
        #expect(isCompiled, "\(page.name): this block is not compiled: \(block)")
      }
    }
    #expect(count > 45)
  }

  @Test("every relative link of a page leads to a file, and to a heading if it names one")
  func links() throws {
    let pages = try Self.pages()
    let headings = Dictionary(
      uniqueKeysWithValues: pages.map { page in
        (page.name, Set(page.text.matches(of: #/(?m)^#+ (.+)$/#).map { Self.anchor(String($0.1)) }))
      })
    var count = 0
    for page in pages {
      for link in page.text.matches(of: #/\]\(([^)\s]+)\)/#).map({ String($0.1) }) {
        guard !link.contains("://"), link.contains(".") || link.contains("/") || link.hasPrefix("#") else { continue }
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let folder = Self.root.appending(path: page.name).deletingLastPathComponent()
        let target = parts[0].isEmpty ? Self.root.appending(path: page.name) : folder.appending(path: parts[0])
        let exists = FileManager.default.fileExists(atPath: target.standardizedFileURL.path())
        #expect(exists, "\(page.name) links to \(link)")
        guard parts.count == 2, exists else { continue }
        let name = target.standardizedFileURL.path().dropFirst(Self.root.standardizedFileURL.path().count)
        let named = headings[String(name.drop { $0 == "/" })]
        #expect(named?.contains(parts[1]) == true, "\(page.name) links to \(link), which has no such heading")
      }
    }
    #expect(count > 30)
  }

  @Test("what a reader of the README needs fits on four pages of a screen")
  func short() throws {
    let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 160)
  }

  @Test("the page on performance shows the instructions that are recorded, and all of them")
  func counts() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "Sources/CacheEngine/CacheEngine.docc/Performance.md"), encoding: .utf8)
    let table = try #require(page.firstRange(of: "| path | now |"))
    let rows = page[table.lowerBound...].components(separatedBy: "\n\n")[0]
    let shown = rows.matches(of: #/(?m)^\| (.+?) \| ([0-9,]+) \|/#).map { "\($0.1)\t\($0.2.filter { $0 != "," })" }
    let recorded = try String(contentsOf: Self.root.appending(path: "Benchmarks/counts.tsv"), encoding: .utf8)
    #expect(shown == recorded.split(separator: "\n").map(String.init))
  }

  /// The anchor that the forge gives a heading.
  private static func anchor(_ heading: String) -> String {
    heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}
