import CacheEngine
import Foundation
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// The command line under the keys of a person.
struct CommandLineTests {
  private func scene(history: [String] = []) -> Scene {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.read("user:42", from: 1)
    scene.model.command.remember(all: history)
    scene.press(.character(":"))
    return scene
  }

  @Test("Up goes through the older lines that begin like this one, and Down comes back to it")
  func prefix() {
    var scene = scene(history: ["get a", "run zipf", "get b", "warn", "get b"])
    scene.type("get")
    scene.press(.up)
    #expect(scene.model.command.editor.text == "get b")
    scene.press(.up)
    #expect(scene.model.command.editor.text == "get a")
    scene.press(.up)
    #expect(scene.model.command.editor.text == "get a")
    scene.press(.down, .down)
    #expect(scene.model.command.editor.text == "get")
    scene.press(.control("u"), .up)
    #expect(scene.model.command.editor.text == "get b")
    scene.press(.up)
    #expect(scene.model.command.editor.text == "warn")
  }

  @Test("^R searches older lines as one types, goes on with ^R, and Escape gives the line back")
  func search() {
    var scene = scene(history: ["run zipf --rate 5", "get zipper", "run loop"])
    scene.type("ge")
    scene.press(.control("r"))
    scene.type("zip")
    #expect(scene.model.command.editor.text == "get zipper")
    #expect(scene.lines[37].contains("search older commands ‘zip’ :get zipper"))
    scene.press(.control("r"))
    #expect(scene.model.command.editor.text == "run zipf --rate 5")
    scene.press(.backspace)
    #expect(scene.model.command.search == "zi")
    scene.press(.escape)
    #expect(scene.model.command.editor.text == "ge")
    #expect(scene.model.mode == .command)
    scene.press(.control("r"))
    scene.type("loop")
    #expect(scene.send(.input(.key(.enter))) == [.run("run loop")])
    #expect(scene.model.command.search == nil)
  }

  @Test("Searching for more than any older line has takes no longer the longer it is", .timeLimit(.minutes(1)))
  func longSearch() {
    var command = CommandLineState()
    command.remember(all: (0..<500).map { "get user:\($0)" })
    let text = String(repeating: "x", count: 4_000)
    for _ in 0..<1_000 { command.find(text, from: 0) }
    #expect(command.editor.text == "")
    command.find("user:7", from: 0)
    #expect(command.editor.text == "get user:79")
  }

  @Test("The line suggests how it goes on, and the right arrow takes it")
  func ghost() {
    var scene = scene(history: ["run zipf --rate 5"])
    scene.type("run z")
    #expect(scene.model.command.ghost(in: scene.model.shown) == "ipf --rate 5")
    #expect(scene.lines[37].hasPrefix(" :run zipf --rate 5"))
    scene.press(.right)
    #expect(scene.model.command.editor.text == "run zipf --rate 5")
    scene.press(.control("u"))
    scene.type("get us")
    #expect(scene.model.command.ghost(in: scene.model.shown) == "er:42")
    scene.press(.left)
    #expect(scene.model.command.ghost(in: scene.model.shown) == nil)
    scene.press(.end, .end)
    #expect(scene.model.command.editor.text == "get user:42")
    scene.press(.control("u"))
    #expect(scene.model.command.ghost(in: scene.model.shown) == nil)
  }

  @Test("Tab asks for files where a file is meant, and goes round among them")
  func files() {
    var scene = scene()
    scene.type("load ex")
    #expect(scene.send(.input(.key(.tab))) == [.listFiles(beginning: "ex")])
    scene.send(.files(beginning: "ex", ["example.yaml", "examples/"]))
    #expect(scene.model.command.editor.text == "load example.yaml")
    scene.press(.tab)
    #expect(scene.model.command.editor.text == "load examples/")
    scene.press(.control("u"))
    scene.type("set a @no")
    #expect(scene.send(.input(.key(.tab))) == [.listFiles(beginning: "no")])
    scene.type("t")
    scene.send(.files(beginning: "no", ["note"]))
    #expect(scene.model.command.editor.text == "set a @not")
    #expect(scene.send(.input(.key(.tab))) == [.listFiles(beginning: "not")])
    scene.send(.files(beginning: "not", ["note"]))
    #expect(scene.model.command.editor.text == "set a @note")
  }

  @Test("Answers go to the lines they answer, in whatever order they come")
  func answers() {
    var scene = scene()
    for line in ["get slow", "get fast"] {
      scene.type(line)
      scene.press(.enter, .character(":"))
    }
    scene.send(
      .finished(CommandResult(command: "get", outcome: .hit, level: "memory", microseconds: 5), line: "get fast"))
    #expect(scene.model.command.running == ["get slow"])
    #expect(scene.model.command.answer?.text.hasPrefix("get fast → ") == true)
    scene.send(.finished(CommandResult(command: "get", outcome: .miss, microseconds: 900), line: "get slow"))
    #expect(scene.model.command.running.isEmpty)
    #expect(scene.model.command.answer?.text.hasPrefix("get slow → ") == true)
    // What nobody typed takes no line's answer away.
    scene.type("get other")
    scene.press(.enter)
    scene.send(.finished(CommandResult(command: "run", outcome: .ok, microseconds: 0), line: ""))
    #expect(scene.model.command.running == ["get other"])
  }

  @Test("Commands filter, sort, and show the fault of a level and another configuration")
  func screens() throws {
    var scene = Scene(size: Size(width: 120, height: 40))
    for key in ["user:1", "user:2", "img:1"] { scene.read(key, from: 2) }
    scene.send(.filter("img"))
    #expect(scene.model.list.order.count == 1)
    scene.send(.filter(""))
    scene.send(.sort("key"))
    #expect(scene.model.list.sort == .key)
    scene.send(.sort("ttl"))
    #expect(scene.model.list.sort == .timeLeft)
    scene.send(.faults(["disk": "error 5%"]))
    #expect(scene.lines.contains { $0.contains("DISK") && $0.contains("✕ error 5%") })
    scene.model.size = Size(width: 80, height: 24)
    #expect(scene.lines.contains { $0.contains("DISK") && $0.contains("✕ error 5%") })
    scene.send(.faults([:]))
    #expect(!scene.lines.contains { $0.contains("✕ error 5%") })
    scene.log(.info, "disk", "before")
    let other = try ConfigurationReader.read(
      "name: other\nlevels:\n  - memory: { name: upper }", file: "o", folder: "/")
    scene.send(.replaced(Replacement(other, file: "other.yaml")))
    #expect(scene.lines[0].contains("other"))
    #expect(scene.lines.contains { $0.contains("UPPER") })
    #expect(!scene.lines.contains { $0.contains("DISK") && $0.contains("hit") })
    #expect(scene.lines.contains { $0.contains("before") })
  }

  @Test("What is wrong with a filter is told also where the filter is longer than the row")
  func longFilter() {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.type("/" + String(repeating: "a", count: 100) + " ttl:<5x")
    #expect(scene.lines[22].contains("ttl:<5x  ✕ “x” is not a unit of time; "), "\(scene.lines[22])")
    #expect(scene.lines[21] == " ✕ “x” is not a unit of time; use us, ms, s, m, h or d", "\(scene.lines[21])")
  }

  @Test("What is wrong with a line is told and marked also where the line is longer than the row")
  func longFaults() {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.press(.character(":"))
    let line = "set " + String(repeating: "a", count: 100) + " 'b"
    scene.send(.rejected(line: line, reason: "a quote is not closed", column: 105))
    #expect(scene.lines[22].contains("aaaa 'b  ✕ a quote is not closed"), "\(scene.lines[22])")
    #expect((0..<80).filter { scene.canvas[$0, 22].style.isReversed } == [Array(scene.lines[22]).firstIndex(of: "'")])
    // Of a fault that the row has scrolled past only the words are shown.
    scene.send(.rejected(line: line, reason: "there is no verb “set”", column: 0))
    #expect((0..<80).allSatisfy { !scene.canvas[$0, 22].style.isReversed })
    #expect(scene.lines[22].hasSuffix("✕ there is no verb “set”"), "\(scene.lines[22])")
    var large = Scene(size: Size(width: 120, height: 40))
    large.press(.character(":"))
    large.send(.rejected(line: line + String(repeating: " c", count: 20), reason: "not closed", column: 105))
    let (typed, said) = (Array(large.lines[37]), Array(large.lines[38]))
    #expect(said.firstIndex(of: "^") == typed.firstIndex(of: "'"), "\(large.lines[37...38])")
    #expect(!large.lines[37].contains("not closed"), "once is enough")
  }

  @Test("The answer to a line with a long key is told beside the ends of the line")
  func longLines() {
    var scene = Scene(size: Size(width: 80, height: 24))
    let line = "set " + String(repeating: "k", count: 300) + " v"
    scene.send(
      .finished(CommandResult(command: "set", outcome: .ok, microseconds: 0, note: "stored in memory"), line: line))
    #expect(scene.lines[22].hasPrefix(" ✓ set kkk"))
    #expect(scene.lines[22].hasSuffix("…kkkkkkkkkkkkkkk v → done, stored in memory"), "\(scene.lines[22])")
    scene.press(.character("P"))
    #expect(!scene.lines[22].contains("kkk") && scene.lines[22].hasSuffix(" → done, stored in memory"))
  }

  @Test("What was said on one screen is not said on the next")
  func turnsPage() {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.type("F")
    #expect(scene.lines[22].hasPrefix(" ✕ one cache is shown"))
    scene.type("2")
    #expect(scene.model.page == .entries)
    #expect(scene.model.command.answer == nil)
    // A screen that has nothing to show does not take the other's place.
    scene.type("FF")
    #expect(scene.lines[22].hasPrefix(" ✕ one cache is shown"))
  }

  @Test("Why a command failed is told whole where there is room for that alone")
  func longReasons() {
    var scene = Scene(size: Size(width: 80, height: 24))
    let reason = "the cache belongs to the app; open a configuration with cache-explorer open"
    let result = CommandResult(command: "reload", outcome: .error, microseconds: 0, error: reason)
    scene.send(.finished(result, line: "reload"))
    #expect(scene.lines[22].hasSuffix(" ✕ " + reason), "\(scene.lines[22])")
    scene.send(.input(.resized(Size(width: 120, height: 40))))
    #expect(scene.lines.contains { $0.hasSuffix(" ✕ reload → failed: " + reason) })
  }

  @Test("What is wrong is told whole over what stands above where its row is too narrow", arguments: [40, 80])
  func wrappedReasons(width: Int) {
    var scene = Scene(size: Size(width: width, height: 24))
    let reason =
      "there is no workload “zpif”, and a good deal more is wrong than a row can hold; use one of zipf, uniform, scan, loop, burst"
    func told(_ rows: Range<Int>) -> String {
      scene.lines[rows].map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    }
    scene.press(.character(":"))
    scene.send(.rejected(line: "run zpif", reason: reason, column: 4))
    #expect(told(12..<22).hasSuffix("✕ " + reason), "\(scene.lines)")
    #expect(scene.lines[22].hasPrefix(" :run zpif"))
    scene.press(.escape)
    let result = CommandResult(command: "run", outcome: .error, microseconds: 0, error: reason)
    scene.send(.finished(result, line: "run trace"))
    #expect(told(12..<23).hasSuffix("✕ " + reason), "\(scene.lines)")
    scene.press(.character(":"))
    #expect(!scene.lines.contains { $0.contains("use one of") }, "who types sees what there is")
  }

  @Test("Why a key did nothing is said until the next one does something; what a command answered stays")
  func refusalsGo() {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.type("y")
    #expect(scene.lines[22].hasPrefix(" ✕ the clipboard is not used"))
    scene.type("z")
    #expect(scene.model.command.answer == nil)
    let result = CommandResult(command: "undo", outcome: .error, microseconds: 0, error: "the key has changed")
    scene.send(.finished(result, line: "undo"))
    scene.type("z")
    #expect(scene.lines[22] == " ✕ undo → failed: the key has changed")
  }

  @Test("What a demonstration says stays in sight beside what it does, until an answer to a typed line comes")
  func captions() {
    var scene = Scene(size: Size(width: 80, height: 24))
    let done = CommandResult(command: "run", outcome: .ok, microseconds: 0)
    scene.send(.finished(done, line: ""))
    scene.send(.caption("look at the arrows"))
    scene.send(.finished(done, line: ""))
    #expect(scene.lines.contains { $0.hasPrefix(" ▸ look at the arrows") })
    scene.press(.character(":"))
    scene.type("get a")
    scene.press(.enter)
    scene.send(.finished(CommandResult(command: "get", outcome: .miss, microseconds: 0), line: "get a"))
    #expect(scene.lines.contains { $0.hasPrefix(" ✓ get a → miss") })
    scene.send(.caption("look at the disk"))
    #expect(scene.lines.contains { $0.hasPrefix(" ▸ look at the disk") })
  }
}
