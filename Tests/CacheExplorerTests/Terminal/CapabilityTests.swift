import Testing

@testable import CacheExplorer
@testable import ExplorerTerminal

@Suite("Capabilities of a terminal")
@MainActor
struct CapabilityTests {
  @Test(
    "a sequence loses the pauses that its description asks for, and nothing else",
    arguments: [
      ("\u{1b}[H\u{1b}[J$<50>", "\u{1b}[H\u{1b}[J"), ("$<5>a$<2.5*/>b$<1/>", "ab"), ("\u{1b}[m$<2", "\u{1b}[m$<2"),
      ("a$b$<>c$<x>$", "a$b$<>c$<x>$"), ("$$<3>", "$"), ("", ""),
    ])
  func withoutPadding(sequence: String, expected: String) {
    #expect(String(decoding: Curses.withoutPadding(Array(sequence.utf8)), as: UTF8.self) == expected)
  }
}
