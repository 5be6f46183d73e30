#if Explorer
import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct ExpectationTests {
  @Test(
    "An expectation is a figure, a comparison and a value in the figure's unit",
    arguments: [
      ("memory.hit >= 80%", "memory.hit >= 80%", 0.8), ("memory.hit>=0.8", "memory.hit >= 0.8", 0.8),
      ("origin.requests <= 120", "origin.requests <= 120", 120), ("p99 < 5ms", "p99 < 5ms", 5e6),
      ("  my level.v2.bytes ≤ 2 MiB ", "my level.v2.bytes <= 2 MiB", 2_097_152),
      ("joined = 1_000", "joined == 1_000", 1_000), ("memory.max != 0s", "memory.max != 0s", 0),
    ])
  func understood(text: String, written: String, value: Double) throws {
    let expectation = try Expectation(text)
    #expect(expectation.text == written)
    #expect(expectation.value == value)
  }

  @Test(
    "What is wrong is pointed at, with what may have been meant",
    arguments: [
      ("", 0, "nothing is expected", "memory.hit >= 80%"),
      ("memory.hit", 10, "there is no comparison", ">="),
      ("memory.hit => 80%", 11, "“=>” is no comparison", "did you mean “>=”?"),
      ("memory.hitt >= 80%", 7, "there is no figure “hitt”", "did you mean “hit”?"),
      ("entries >= 3", 0, "is a figure of one level", "memory.entries"),
      ("memory.hit >=", 13, "there is no value", "percent"),
      ("memory.hit >= 120%", 14, "more than everything", "100%"),
      ("requests < 9007199254740993", 11, "9007199254740993 is out of range", "from 0 to 9007199254740992"),
      ("requests < 99 999 999 999 999 999 999", 11, "99999999999999999999 is out of range", "from 0 to"),
      ("requests < 5 lately lately", 11, "“5 lately” is not a whole number", "1000"),
      ("memory.hits >= 80%", 15, "hits is a count", "write hit"),
      ("p99 < 5", 6, "“5” has no unit", "ms"),
      ("p99 < 5 KiB", 6, "is not a unit of time", "ms"),
      (">= 3", 0, "there is no figure", "memory.hit"),
    ])
  func wrong(text: String, column: Int, message: String, remedy: String) {
    let error = #expect(throws: CommandError.self) { try Expectation(text) }
    #expect(error?.column == column)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.remedy.contains(remedy) == true, "\(error?.remedy ?? "")")
  }

  @Test("In a line the caret stands under the fault, quoted or not, whatever the spaces")
  func columns() throws {
    func column(_ line: String) -> Int? { #expect(throws: CommandError.self) { try Verbs.parse(line) }?.column }
    #expect(column("expect memory.hitt >= 80%") == 14)
    #expect(column("expect \"memory.hitt >= 80%\"") == 15)
    #expect(column("expect   memory.hit   >=  80x") == 26)
    #expect(column("expect \"hit > 1%\" twice") == 18)
    #expect(column("expect") == 6)
    #expect(
      try Verbs.parse("expect memory.hit  >= 80% # of all") as? ExpectVerb
        == ExpectVerb(Expectation("memory.hit >= 80%", column: 7)))
  }

  @Test("A name that is not there is told with the nearest one, and a figure with who has it")
  func names() throws {
    let names = ExpectationNames(levels: ["memory", "disk"], operators: [("pool", "pooled"), ("cap", "capped")])
    func remedy(_ text: String) throws -> String? {
      let expectation = try Expectation(text)
      return #expect(throws: CommandError.self) { try names.check(expectation) }?.description
    }
    #expect(try remedy("memroy.hit > 1%")?.contains("did you mean “memory”?") == true)
    #expect(try remedy("memory.joined > 1")?.contains("did you mean “pool.joined”?") == true)
    #expect(try remedy("cap.joined > 1")?.contains("running, waiting, queued") == true)
    for text in ["memory.hit > 1%", "pool.joined > 1", "cap.queued == 0", "joined > 1", "p50 < 1s"] {
      try names.check(Expectation(text))
    }
  }

  @Test("Every figure is listed by help and manual, and no two share a name")
  func table() throws {
    let help = try #require(Grammar.commandLine.help("expect"))
    let manual = Manual.text(.markdown)
    for figure in ExpectedFigure.all {
      #expect(help.contains("\n  \(figure.name): \(figure.line)"))
      #expect(manual.contains("- `\(figure.name)`: \(figure.line)"))
    }
    #expect(Set(ExpectedFigure.all.map(\.kind)) == Set(ExpectedFigure.Kind.allCases))
    #expect(ExpectedFigure.all.count == ExpectedFigure.Kind.allCases.count)
    let counted = OperatorSpecification.words + ["stale"]
    let known = ExpectedFigure.names(of: [.operation])
    // What changes from moment to moment is nothing to expect.
    let momentary: Set = ["running", "waiting", "refreshing"]
    for kind in counted {
      for counter in OperatorTraffic().counters(of: kind) where !momentary.contains(counter.name) {
        #expect(known.contains(counter.name), "\(counter.name)")
      }
    }
  }

  @Test("Tab completes levels and figures, within a quote as well")
  func completes() {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.type(":expect mem")
    scene.press(.tab)
    #expect(scene.model.command.editor.text == "expect memory.hit")
    scene.press(.escape)
    scene.type(":expect \"disk.evic")
    scene.press(.tab)
    #expect(scene.model.command.editor.text == "expect \"disk.evictions")
  }
}
#endif
