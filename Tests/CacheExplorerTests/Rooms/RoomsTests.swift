import Foundation
import Testing

/// The drawing of the rooms in ARCHITECTURE.md, and the arrows in Package.swift.
struct RoomsTests {
  private typealias Arrows = [String: Set<String>]

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")

  @Test("The drawing of the rooms shows what Package.swift says, and leaves out only what follows from the rest")
  func drawing() throws {
    let page = try String(contentsOf: Self.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
    var drawn: Arrows = [:]
    for arrow in page.matches(of: #/(?m)^  (\w+) --> (\w+)$/#) {
      drawn[String(arrow.1), default: []].insert(String(arrow.2))
    }
    let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
    let declared = try Self.declared(in: manifest)
    #expect(declared.count > 25)
    for (room, known) in drawn.sorted(by: { $0.key < $1.key }) {
      let unknown = known.subtracting(declared[room] ?? [])
      #expect(unknown.isEmpty, "the drawing lets \(room) know \(unknown.sorted()), and Package.swift does not")
    }
    for (room, known) in declared.sorted(by: { $0.key < $1.key }) {
      let undrawn = known.subtracting(Self.reached(from: room, in: drawn))
      #expect(undrawn.isEmpty, "Package.swift lets \(room) know \(undrawn.sorted()), and the drawing does not")
    }
  }

  @Test("No room knows one that knows it")
  func noCircle() throws {
    let declared = try Self.declared(
      in: String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8))
    for room in declared.keys.sorted() { #expect(!Self.reached(from: room, in: declared).contains(room)) }
  }

  @Test("What a manifest says is read: rooms, targets, conditions, and nothing of tests or of other packages")
  func reading() throws {
    let manifest = """
      .systemLibrary(name: "CLib", providers: [.apt(["lib"])]),
      .room("Low", "Low", [.product(name: "Logging", package: "swift-log")]),
      .room("High", "High", ["Low", .target(name: "CLib", condition: .when(platforms: [.linux]))]),
      // .room("Ghost", "Ghost", ["Low"]),
      .target(name: "Top", dependencies: ["High", "Low"], exclude: ["Low"], swiftSettings: strict),
      .testTarget(name: "TopTests", dependencies: ["Top"]),
      """
    #expect(
      try Self.declared(in: manifest) == ["CLib": [], "Low": [], "High": ["Low", "CLib"], "Top": ["High", "Low"]])
  }

  private static func reached(from room: String, in arrows: Arrows) -> Set<String> {
    var reached: Set<String> = []
    var rest = Array(arrows[room] ?? [])
    while let next = rest.popLast() {
      if reached.insert(next).inserted { rest += arrows[next] ?? [] }
    }
    return reached
  }

  /// The targets that are no tests, and those of them that each may know.
  private static func declared(in manifest: String) throws -> Arrows {
    let code = manifest.replacing(#/(?m)^\s*//.*$/#, with: "")
    var calls: [String: Substring] = [:]
    for call in code.matches(of: #/\.(?:room|target|executableTarget|systemLibrary)\(\s*(?:name: )?"(\w+)"/#) {
      // A dependency is written like a target, but within one.
      guard !calls.values.contains(where: { ($0.startIndex..<$0.endIndex).contains(call.range.lowerBound) }) else {
        continue
      }
      let parenthesis = try #require(code[call.range.lowerBound...].firstIndex(of: "("))
      calls[String(call.1)] = try balanced(code[parenthesis...])
    }
    // The tests have targets of their own beside them, which are no rooms.
    let rooms = Set(calls.filter { !$0.value.contains("path: \"Tests/") }.keys)
    return try calls.filter { rooms.contains($0.key) }.mapValues { call in
      guard let start = try #/dependencies: |^\(\s*"\w+",\s*"\w+",\s*/#.firstMatch(in: call)?.range.upperBound,
        call[start] == "["
      else { return [] }
      let names = try balanced(call[start...]).matches(of: #/"(\w+)"/#).map { String($0.1) }
      return Set(names).intersection(rooms)
    }
  }

  /// The beginning of a text up to the bracket that closes its first one.
  private static func balanced(_ text: Substring) throws -> Substring {
    var depth = 0
    for place in text.indices {
      if "([".contains(text[place]) { depth += 1 }
      if ")]".contains(text[place]) { depth -= 1 }
      if depth == 0 { return text[...place] }
    }
    throw CocoaError(.formatting)
  }
}
