import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct UpdateTests {
  private let size = Size(width: 80, height: 24)

  @Test("q quits, ^Z suspends, ^L draws anew, ^C quits at rest")
  func programKeys() {
    var scene = Scene(size: size)
    #expect(scene.send(.input(.key(.character("q")))) == [.quit])
    #expect(scene.send(.input(.key(.control("z")))) == [.suspend])
    #expect(scene.send(.input(.key(.control("l")))) == [.redraw])
    #expect(scene.send(.input(.key(.control("c")))) == [.quit])
    #expect(scene.send(.input(.terminate(signal: 15))) == [.quit])
    #expect(scene.send(.input(.resumed)) == [.redraw])
  }

  @Test("q asks first while a workload runs or the session is recorded; ^C and signals do not")
  func asksBeforeQuitting() {
    var scene = Scene(size: size)
    let q = Message.input(.key(.character("q")))
    scene.send(.workload("zipf"))
    #expect(scene.send(q).isEmpty)
    #expect(scene.lines[22] == " the workload zipf runs: quit? y/N")
    #expect(scene.send(.input(.key(.character("n")))).isEmpty)
    #expect(scene.model.mode == .normal)
    #expect(scene.lines[22] == " ✓ the session goes on")
    #expect(scene.send(q).isEmpty)
    #expect(scene.send(.input(.key(.character("y")))) == [.quit])
    #expect(scene.send(.input(.key(.control("c")))) == [.quit])
    #expect(scene.send(.input(.terminate(signal: 15))) == [.quit])
    scene.send(q)
    #expect(scene.send(.input(.key(.control("c")))) == [.quit])
    #expect(scene.send(.input(.terminate(signal: 1))) == [.quit])
    scene.press(.escape)

    scene.send(.recording(RecordingStatus(bytes: 70)))
    #expect(scene.send(q).isEmpty)
    #expect(scene.lines[22] == " the workload zipf runs, and the session is recorded: quit? y/N")
    scene.press(.escape)
    scene.send(.workload(nil))
    scene.send(q)
    #expect(scene.lines[22] == " the session is recorded: quit? y/N")
    scene.press(.escape)
    // A recording that has ended by itself loses nothing.
    scene.send(.recording(RecordingStatus(phase: .full, bytes: 70)))
    #expect(scene.send(q) == [.quit])
    scene.send(.recording(nil))
    #expect(scene.send(q) == [.quit])
  }

  @Test("^C stops the command that runs, and quits once it ended")
  func interrupts() {
    var scene = Scene(size: size)
    scene.press(.character(":"))
    scene.type("run steady")
    #expect(scene.send(.input(.key(.enter))) == [.run("run steady")])
    #expect(scene.send(.input(.key(.control("c")))) == [.interrupt])
    scene.send(.finished(CommandResult(command: "run", outcome: .ok, microseconds: 0), line: "run steady"))
    #expect(scene.send(.input(.key(.control("c")))) == [.quit])
  }

  @Test("An answer names the line it answers")
  func answers() {
    var scene = Scene(size: size)
    scene.press(.character(":"))
    scene.type("get a")
    scene.press(.enter)
    var result = CommandResult(command: "get", outcome: .miss, microseconds: 6_200)
    result.reason = "absent"
    result.note = "asked 3 levels"
    scene.send(.finished(result, line: "get a"))
    #expect(
      scene.model.command.answer
        == .init(isGood: true, text: "get a → miss (absent) in 6.2ms, asked 3 levels", lineLength: 5, secrets: ["a"]))
    #expect(scene.lines[22] == " ✓ get a → miss (absent) in 6.2ms, asked 3 levels")
  }

  @Test("An answer that is stale says so")
  func answersStale() {
    var scene = Scene(size: size)
    scene.send(.finished(CommandResult(command: "get", outcome: .hit, level: "disk", isStale: true, microseconds: 20)))
    #expect(scene.model.command.answer?.text == "get → a value from DISK, stale, in 20µs")
  }

  @Test("A line that is not understood stays editable, with a mark under the fault")
  func keepsFaultyLine() {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.press(.character(":"))
    scene.type("get a --levle b")
    scene.press(.enter)
    scene.send(.rejected(line: "get a --levle b", reason: "unknown option --levle; did you mean --level?", column: 6))
    #expect(scene.model.mode == .command)
    #expect(scene.lines[37].hasPrefix(" :get a --levle b"))
    #expect(scene.lines[38] == "        ^ unknown option --levle; did you mean --level?")
    scene.press(.backspace)
    #expect(scene.model.command.fault == nil)
  }

  @Test("A line that is not understood is gone after Escape: the next one begins empty")
  func givesUpFaultyLine() {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.press(.character(":"))
    scene.type("gte")
    scene.press(.enter)
    scene.send(.rejected(line: "gte", reason: "there is no verb “gte”", column: 0))
    scene.press(.escape, .character(":"))
    #expect(scene.model.command.editor.text == "")
    scene.press(.up)
    #expect(scene.model.command.editor.text == "gte")
  }

  @Test("What fails says so before the time it took, so that the reason ends the line")
  func failedAnswer() {
    var scene = Scene(size: Size(width: 120, height: 40))
    let result = CommandResult(command: "undo", outcome: .error, microseconds: 293, error: "the key has changed")
    scene.send(.finished(result, line: "undo"))
    #expect(scene.model.command.answer?.text == "undo → failed in 293µs: the key has changed")
  }

  @Test("An answer of many lines is told in the one row that there is")
  func longAnswer() {
    var scene = Scene(size: Size(width: 120, height: 40))
    let result = CommandResult(
      command: "stats", outcome: .ok, microseconds: 0, note: "2 requests\nmemory: 1\n  disk: 2")
    scene.send(.finished(result, line: "stats"))
    #expect(scene.lines[38].contains("✓ stats → done, 2 requests · memory: 1 · disk: 2"))
  }

  @Test("Changes ask first, and only y lets them happen", arguments: ["n", "q", " ", "\u{e9}"] as [Character])
  func asksFirst(other: Character) {
    var scene = Scene.busy(size)
    scene.press(.character("c"))
    #expect(scene.lines[22] == " clear MEMORY: 1 204 entries, 45.4 MiB; DISK: 8 410 entries, 48.6 MiB? y/N")
    #expect(scene.send(.input(.key(.character(other)))).isEmpty)
    #expect(scene.model.mode == .normal)
    scene.press(.character("c"))
    #expect(scene.send(.input(.key(.character("y")))) == [.perform(.clear)])
  }

  @Test("Where a question has no room, no level stands before the figures of another")
  func cutsQuestions() {
    var scene = Scene.busy(Size(width: 40, height: 10))
    scene.press(.character("c"))
    #expect(scene.lines[9] == " clear MEMORY: 1 204 entries, 45.4… y/N")
  }

  @Test("d, x and w stand for their commands on the chosen entry")
  func changes() {
    var scene = Scene.busy(size)
    scene.press(.down)
    for (key, command) in [
      ("d", KeyCommand.delete(key: "user:9113")), ("x", .expire(key: "user:9113")), ("w", .warn),
    ] as [(Character, KeyCommand)] {
      scene.press(.character(key))
      #expect(scene.send(.input(.key(.character("y")))) == [.perform(command)])
    }
  }

  @Test("On the screen of requests d and x are about the request that is marked there")
  func changesOfRequest() {
    var scene = Scene(size: size)
    scene.read("first", from: 2)
    scene.read("first", from: 0)
    scene.read("second", from: 2)
    scene.press(.character("3"))
    for (key, command) in [("d", KeyCommand.delete(key: "second")), ("x", .expire(key: "second"))]
      as [(Character, KeyCommand)]
    {
      scene.press(.character(key))
      #expect(scene.send(.input(.key(.character("y")))) == [.perform(command)])
    }
  }

  @Test("Opened for reading only, changes are refused and say why")
  func refusesWhenReadOnly() {
    var scene = Scene.busy(size)
    scene.model.isReadOnly = true
    scene.press(.character("d"))
    #expect(scene.model.mode == .normal)
    #expect(scene.model.command.answer?.isGood == false)
  }

  @Test("Frozen, the picture stands still while capture goes on; L brings the present back")
  func freezes() {
    var scene = Scene(size: size)
    scene.read("a", from: 2)
    scene.press(.character(" "))
    scene.read("b", from: 2)
    scene.pass(.seconds(3))
    #expect(scene.lines[0].contains("PAUSED · 10 events behind"))
    #expect(!scene.lines.contains { $0.contains("▸b") || $0.contains(" b ") })
    scene.press(.character("L"))
    #expect(scene.lines[0].contains("● LIVE"))
    #expect(scene.model.list.order.count == 2)
  }

  @Test("The cursor stays with its entry while others move")
  func cursorStays() {
    var scene = Scene(size: size)
    for key in ["a", "b", "c"] { scene.read(key, from: 2) }
    scene.pass(.seconds(1))
    scene.press(.down)
    #expect(scene.model.list.current(in: scene.model.live)?.key == "b")
    for _ in 0..<3 { scene.read("b", from: 0) }
    scene.pass(.seconds(1))
    #expect(scene.model.list.cursor == 0)
    #expect(scene.model.list.current(in: scene.model.live)?.key == "b")
  }

  @Test("A filter hides what does not match as it is typed; Esc shows everything again")
  func filters() {
    var scene = Scene.busy(size)
    scene.press(.character("/"))
    scene.type("USER")
    scene.press(.enter)
    #expect(scene.model.list.order.count == 2)
    #expect(scene.lines[6].contains("Entries 1–2 of 2 · /USER"))
    scene.press(.character("/"), .home)
    scene.type("!")
    #expect(scene.model.list.order.count == 7)
    scene.press(.enter, .escape)
    #expect(scene.model.list.order.count == 9)
  }

  @Test("s goes through the columns, S turns the order round")
  func sorts() {
    var scene = Scene.busy(size)
    func first() -> String? { scene.model.list.current(in: scene.model.live)?.key }
    #expect(first() == "user:42")
    scene.press(.character("s"), .character("s"))
    #expect(scene.model.list.sort == .size)
    #expect(first() == "img:hero@2x")
    scene.press(.character("S"))
    #expect(first() == "session:7f3a9e12bc45d6708812aa91")
    // Where nothing is sorted, the order of what is not seen stays as it is.
    scene.press(.character("6"), .character("s"))
    #expect(scene.lines[22] == " ✕ nothing on this screen is sorted; 2 shows the entries")
    #expect(scene.model.list.sort == .size && scene.model.list.isReversed)
  }

  @Test("The log stays under the reader while lines come in, until G follows again")
  func logStays() {
    var scene = Scene(size: size)
    for number in 0..<50 { scene.log(.info, "disk", "line \(number)") }
    scene.press(.backTab, .backTab)
    #expect(scene.model.focus == .log)
    scene.press(.up, .up)
    let before = scene.lines[15...20]
    for number in 50..<60 { scene.log(.info, "disk", "line \(number)") }
    #expect(scene.lines[15...20] == before)
    scene.press(.character("G"))
    #expect(scene.lines.contains { $0.contains("line 59") })
    scene.press(.character("g"))
    #expect(scene.lines.contains { $0.contains("line 0 ") })
  }

  @Test("{ shows less of the log and } more")
  func logLevels() {
    var scene = Scene.busy(size)
    scene.press(.character("{"), .character("{"), .character("{"))
    #expect(scene.model.log.minimum == .warning)
    #expect(!scene.lines.contains { $0.contains("INFO") || $0.contains("DEBUG") })
    scene.press(.character("}"))
    #expect(scene.model.log.minimum == .notice)
    scene.send(.showLog(from: .trace))
    #expect(scene.model.log.minimum == .trace)
  }

  @Test("n and N go from match to match in the log")
  func searchesLog() {
    var scene = Scene(size: size)
    for number in 0..<60 { scene.log(.info, "disk", number % 20 == 7 ? "needle \(number)" : "hay \(number)") }
    scene.press(.backTab, .backTab, .character("/"))
    scene.type("needle")
    scene.press(.enter, .character("N"))
    #expect(scene.lines.contains { $0.contains("\"needle\" 3 matches") })
    #expect(scene.lines.contains { $0.contains("needle 47") })
    scene.press(.character("N"))
    #expect(scene.lines.contains { $0.contains("needle 27") })
    scene.press(.character("n"))
    #expect(scene.lines.contains { $0.contains("needle 47") })
  }

  @Test("Tab completes verbs, options, levels and keys, and goes through them")
  func completes() {
    var scene = Scene.busy(size)
    func complete(_ typed: String, tabs: Int = 1) -> String {
      scene.model.command.editor = LineEditor()
      scene.model.mode = .normal
      scene.press(.character(":"))
      scene.type(typed)
      for _ in 0..<tabs { scene.press(.tab) }
      return scene.model.command.editor.text
    }
    #expect(complete("g") == "get")
    #expect(complete("s") == "set")
    #expect(complete("s", tabs: 2) == "stop")
    #expect(complete("get us") == "get user:42")
    #expect(complete("get us", tabs: 2) == "get user:9113")
    #expect(complete("get a --l") == "get a --level")
    #expect(complete("get a --level d") == "get a --level disk")
    #expect(complete("get --level disk us") == "get --level disk user:42")
    #expect(complete("clear me") == "clear memory")
    #expect(complete("clear --a") == "clear --all")
    #expect(complete("log wa") == "log warning")
    #expect(complete("help ex") == "help expire")
    #expect(complete("run bu") == "run burst")
    #expect(complete("run burst --r", tabs: 2) == "run burst --requests")
    #expect(complete("run burst --key us") == "run burst --key user:42")
    #expect(complete("run burst --rate us") == "run burst --rate us")
    #expect(complete("zzz") == "zzz")
  }

  @Test("The line is edited as in a shell, and older lines come back")
  func editsAndRecalls() {
    var scene = Scene(size: size)
    for line in ["get a", "get b"] {
      scene.press(.character(":"))
      scene.type(line)
      scene.press(.enter)
    }
    scene.press(.character(":"))
    scene.type("set x one two")
    scene.press(.control("w"), .control("a"), .delete, .end, .backspace)
    #expect(scene.model.command.editor.text == "et x one")
    // No older line begins so.
    scene.press(.up, .up, .up)
    #expect(scene.model.command.editor.text == "et x one")
    scene.press(.left, .control("u"))
    #expect(scene.model.command.editor.text == "e")
    scene.press(.backspace, .delete, .up, .up, .up)
    #expect(scene.model.command.editor.text == "get a")
    scene.press(.down, .down)
    #expect(scene.model.command.editor.text == "")
    scene.press(.escape)
    #expect(scene.model.mode == .normal)
  }

  @Test("What is pasted is inserted and never run")
  func pastes() {
    var scene = Scene(size: size)
    scene.send(.input(.paste("q")))
    scene.press(.character(":"))
    #expect(scene.send(.input(.paste("get a\nclear\r\n"))).isEmpty)
    #expect(scene.model.command.editor.text == "get a clear ")
    #expect(scene.model.mode == .command)
  }

  @Test("Usage is asked for once a second while something happens, and not at rest")
  func asksForUsage() {
    var model = Model(title: "", levels: Scene.threeLevels, now: Scene.start)
    #expect(update(&model, .tick(Scene.start, wall: .zero)) == [.refreshEntries, .refreshUsage])
    let miss = CacheEvent(time: Scene.start, level: "memory", key: "a", kind: .miss(.absent, .zero))
    #expect(update(&model, .events([miss], lost: 0)).isEmpty)
    func tick(_ seconds: Int64) -> [Effect] {
      update(&model, .tick(Scene.start.advanced(by: .seconds(seconds)), wall: .zero))
    }
    #expect(tick(1) == [.refreshUsage])
    #expect(tick(2).isEmpty)
  }

  @Test("A memory warning asks what the levels still hold, and Esc dismisses its banner")
  func warns() {
    var scene = Scene(size: size)
    scene.pass(.seconds(60))
    let event = CacheEvent(
      time: scene.now, level: "memory", kind: .memoryWarning(dropped: 3_870, cost: 64_172_851, .microseconds(1_300)))
    #expect(scene.send(.events([event], lost: 0)).contains(.refreshEntries))
    #expect(scene.lines[21].hasPrefix(" ▲ MEMORY WARNING 12:04:00  MEMORY dropped 3 870 (61.2 MiB)"))
    scene.press(.escape)
    #expect(!scene.lines.contains { $0.contains("MEMORY WARNING") })
  }
}
