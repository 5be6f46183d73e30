import Foundation
import Testing

/// The page that says what each lock protects.
struct ConcurrencyPageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")

  @Test("Every lock of the engine has its line in Concurrency, and every lock that the page names is there")
  func bothWays() throws {
    let page = try String(contentsOf: Self.root.appending(path: "Documentation/Concurrency.md"), encoding: .utf8)
    let named = Set(
      page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        .flatMap { $0.split(separator: "|")[0].matches(of: #/`([A-Za-z]+\.[a-z][A-Za-z]*)`/#).map { String($0.1) } })
    let locks = try Self.locks()
    #expect(locks.count > 50)
    #expect(locks.subtracting(named).sorted() == [], "the page does not say what these protect")
    #expect(named.subtracting(locks).sorted() == [], "there are no such locks")
  }

  /// The locks that are stored somewhere, by the file and the property.
  private static func locks() throws -> Set<String> {
    let sources = root.appending(path: "Sources/CacheEngine")
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var locks: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let stem = file.deletingPathExtension().lastPathComponent.split(separator: "+")[0]
      guard stem != "SanitizedMutex" else { continue }
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        // Most lines are told apart sooner than by a regular expression.
        guard line.contains("Mutex") || line.contains("Lock"),
          let found = line.firstMatch(of: #/^ *(?:[@a-zA-Z]+ )*let (\w+) ?[:=] (?:Mutex|BriefLock|ReadMostlyLock)\b/#)
        else { continue }
        locks.insert("\(stem).\(found.1)")
      }
    }
    return locks
  }
}
