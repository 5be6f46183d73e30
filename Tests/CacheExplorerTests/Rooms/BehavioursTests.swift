import Foundation
import Testing

/// The numbers in the titles of tests, and the pages that say what they mean.
struct BehavioursTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
  private static let pages = [
    "Documentation/Behaviours.md", "Sources/CacheEngineHTTP/CacheEngineHTTP.docc/HTTPCaching.md",
  ]

  @Test("Every number in the title of a test has its line, and every line a test")
  func bothWays() throws {
    let explained = try Set(Self.explained())
    let named = try Self.named()
    #expect(explained.count > 390)
    #expect(named.subtracting(explained).sorted() == [], "no page says what these mean")
    #expect(explained.subtracting(named).sorted() == [], "no test says that it is about these")
  }

  @Test("No behaviour is explained twice")
  func once() throws {
    let numbers = try Dictionary(grouping: Self.explained()) { $0 }
    #expect(numbers.filter { $0.value.count > 1 }.keys.sorted() == [])
  }

  /// The numbers that have a line; a P of models is another one than that of a promise.
  private static func explained() throws -> [String] {
    try pages.flatMap { page in
      try String(contentsOf: root.appending(path: page), encoding: .utf8).split(separator: "\n## ").flatMap { section in
        let prefix = section.hasPrefix("P in the tests of models") ? "models " : ""
        return section.matches(of: #/(?m)^- ([A-Z][0-9]+): \S/#).map { prefix + $0.1 }
      }
    }
  }

  /// The numbers in titles, and in tables of cases that name a rule each.
  private static func named() throws -> Set<String> {
    let tests = root.appending(path: "Tests")
    let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
    var numbers: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      let isOfModels = file.path.contains("/CacheEngineModelsTests/")
      for title in text.matches(of: #/@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/#) {
        numbers.formUnion(
          title.1.matches(of: #/\b[CHSPGN][0-9]{1,3}\b/#).map {
            (isOfModels && $0.0.hasPrefix("P") ? "models " : "") + $0.0
          })
      }
      numbers.formUnion(text.matches(of: #/"(N[0-9]{1,2})"/#).map { String($0.1) })
    }
    return numbers
  }
}
