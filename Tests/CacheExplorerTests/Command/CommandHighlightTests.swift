import CacheEngineTesting
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

struct CommandHighlightTests {
  /// A letter for each character: v a verb, o an option, l a level, q a quantity, s what is quoted, x what is wrong.
  private func marks(_ line: String) -> String {
    CommandHighlight.parts(of: line, in: .commandLine, levels: ["memory", "disk"]).map { part in
      switch part {
      case .plain: "."
      case .verb: "v"
      case .option: "o"
      case .level: "l"
      case .quantity: "q"
      case .quoted: "s"
      case .wrong: "x"
      }
    }.joined()
  }

  @Test(
    "Every word of a line is told apart while it is typed",
    arguments: [
      ("get user:1", "vvv......."), ("get a --level disk", "vvv...oooooootllll".replacing("t", with: ".")),
      ("set a 'b c' --ttl 30s", "vvv...sssss.ooooo.qqq"), ("advance 60s", "vvvvvvv.qqq"),
      ("clear memory", "vvvvv.llllll"), ("fault disk error 5%", "vvvvv.llll.......qq"),
    ])
  func parts(line: String, marks expected: String) { #expect(marks(line) == expected) }

  @Test(
    "What is merely not finished is not wrong",
    arguments: [
      "", "g", "ge", "get", "get a --le", "get a --level", "get a --level di", "run zi", "set a \"b", "help ge",
      "warn cr", "fault memory la",
    ])
  func unfinished(line: String) { #expect(!marks(line).contains("x")) }

  @Test(
    "What nothing can be added to is wrong where it is wrong",
    arguments: [
      ("gte", "xxx"), ("gte x", "xxx.."), ("get a --levle b", "vvv...xxxxxxx.."),
      ("get a --level tape", "vvv...ooooooo.xxxx"),
      ("run elephant", "vvv.xxxxxxxx"), ("stop now", "vvvv.xxx"), ("get a b", "vvv...x"),
    ])
  func wrong(line: String, marks expected: String) { #expect(marks(line) == expected) }

  @Test("A line of any characters has a part for each of them")
  func anything() {
    var generator = SeededGenerator(seed: 5)
    let letters = Array("get set --level \\ \" ' @ # \u{301} 日 \u{1b} 5% memory fault x")
    for _ in 0..<3_000 {
      let line = String(
        (0..<Int.random(in: 0..<30, using: &generator)).compactMap { _ in letters.randomElement(using: &generator) })
      #expect(CommandHighlight.parts(of: line, in: .commandLine, levels: ["memory"]).count == Array(line).count)
    }
  }
}
