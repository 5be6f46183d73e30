import CacheEngine
import ExplorerText
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

/// `^P`: everything that can be done, by its name.
struct ActionPaletteTests {
  private static let sizes = [Size(width: 120, height: 40), Size(width: 80, height: 24), Layout.smallest]

  private func opened(_ size: Size = Size(width: 80, height: 24)) -> Scene {
    var scene = Scene.busy(size)
    scene.press(.control("p"))
    return scene
  }

  @Test("Every action of every key of every screen, every verb and every theme is found by its own words")
  func complete() {
    let normal = KeyTable.bindings.filter { $0.scope.realm == .normal && $0.action != .palette }
    let wanted =
      normal.map(\.does) + Grammar.commandLine.verbs.map(\.line) + Theme.allCases.map { "theme \($0.rawValue)" }
    #expect(opened().model.palette.items.map(\.text).sorted() == wanted.sorted())
    for text in wanted {
      var scene = opened()
      scene.send(.input(.paste(text)))
      #expect(scene.model.palette.chosen?.text == text)
    }
    for verb in Grammar.commandLine.verbs {
      var scene = opened()
      scene.type(":" + verb.name)
      #expect(scene.model.palette.chosen?.text == verb.line)
    }
  }

  @Test("What is pasted or typed beyond the longest name is not compared with every name again at each key")
  func long() {
    var scene = opened()
    scene.send(.input(.paste(String(repeating: "x", count: 3_000))))
    scene.type("yz")
    #expect(scene.model.palette.editor.text == String(repeating: "x", count: 256))
    #expect(scene.model.palette.found.isEmpty)
    scene.press(.control("u"))
    scene.type("warning")
    #expect(scene.model.palette.found.isEmpty == false)
  }

  @Test("Nothing typed lists all in the order of the help")
  func order() {
    let help = KeyTable.Scope.allCases.filter { $0.realm == .normal }.flatMap { scope in
      KeyTable.bindings.filter { $0.scope == scope && $0.action != .palette }.map(\.does)
    }
    var scene = opened()
    let palette = scene.model.palette
    #expect(Array(palette.found.map(\.text).prefix(help.count)) == help)
    #expect(palette.found.dropFirst(help.count).first?.text == Grammar.commandLine.verbs.first?.line)
    scene.type("warn")
    scene.press(.control("u"))
    #expect(scene.model.palette.found.map(\.text) == palette.found.map(\.text))
  }

  @Test("Enter does what the key would have done, and Esc does nothing", arguments: sizes)
  func does(size: Size) {
    var scene = opened(size)
    scene.type("latency")
    scene.press(.enter)
    #expect(scene.model.page == .latency)
    #expect(scene.model.mode == .normal)
    scene.press(.control("p"))
    scene.type("log")
    scene.press(.escape)
    #expect(scene.model.page == .latency)
    scene.press(.control("p"))
    scene.type("send a mem")
    scene.press(.enter)
    guard case .confirming(let question) = scene.model.mode else { return #expect(Bool(false), "it asks as w does") }
    #expect(question.command == .warn)
    scene.press(.escape, .control("p"))
    scene.type("theme light")
    #expect(scene.send(.input(.key(.enter))) == [.theme(.light)])
    #expect(scene.model.theme == .light)
  }

  @Test("A verb that stands alone runs; one that needs more waits in the command line for it")
  func verbs() {
    var scene = opened()
    scene.type(":stats")
    #expect(scene.send(.input(.key(.enter))) == [.run("stats")])
    #expect(scene.model.command.history.last == "stats")
    scene.press(.control("p"))
    scene.type(":clear")
    #expect(scene.send(.input(.key(.enter))) == [], "what goes is still to be said")
    #expect(scene.model.mode == .command)
    #expect(scene.model.command.editor.text == "clear ")
  }

  @Test("What is refused says why: for reading only, and in another program's cache", arguments: sizes)
  func refused(size: Size) {
    var scene = Scene.busy(size)
    scene.model.isReadOnly = true
    scene.press(.control("p"))
    scene.type("clear every")
    #expect(scene.send(.input(.key(.enter))) == [])
    #expect(scene.model.command.answer?.text.contains("opened for reading only") == true)
    scene.model.isReadOnly = false
    scene.model.attachment = Attachment(label: "app", whyReadOnly: "the app allows no changes")
    scene.press(.control("p"))
    scene.type("send a mem")
    #expect(scene.send(.input(.key(.enter))) == [])
    #expect(scene.lines.contains { $0.contains("✕ the app allows") })
    scene.press(.control("p"))
    scene.type("of two caches beside each other: keys go to both")
    scene.press(.enter)
    #expect(scene.model.command.answer?.isGood == false)
  }

  @Test(
    "The list is drawn with its keys, scrolls with the choice, and says when nothing is called that", arguments: sizes)
  func drawn(size: Size) {
    var scene = opened(size)
    #expect(scene.lines[1].contains("Actions \(scene.model.palette.items.count) of"))
    #expect(scene.lines[3].contains("▸focus the next panel") && scene.lines[3].contains("Tab"))
    #expect(scene.canvas.cursor?.y == 2)
    for _ in 0..<30 { scene.press(.down) }
    let chosen = scene.model.palette.items[30]
    #expect(scene.lines.contains { $0.contains("▸" + chosen.text.prefix(12)) && $0.contains(chosen.key.prefix(8)) })
    scene.press(.pageDown, .pageDown, .pageUp, .control("p"), .down)
    #expect(scene.lines.count { $0.contains("▸") } >= 1)
    for _ in 0..<300 { scene.press(.down) }
    #expect(scene.lines.contains { $0.contains("▸theme mono") })
    scene.type("zzzz")
    #expect(scene.lines.contains { $0.contains("nothing is called that") })
    scene.press(.enter)
    #expect(scene.model.mode == .palette, "there is nothing to do yet")
    scene.press(.control("c"))
    #expect(scene.model.mode == .normal)
  }

  @Test("What is typed is scrubbed, edited as a line is, and longer than the window without harm", arguments: 1...3)
  func typing(seed: Int) {
    var scene = opened(Size(width: 40 + seed, height: 10))
    scene.send(.input(.paste("\u{1b}[2J日本\u{202e}" + String(repeating: "語", count: 100 * seed))))
    #expect(scene.lines.joined().unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202e}" })
    #expect(scene.canvas.cursor.map { $0.x < 40 + seed } == true)
    scene.press(.control("u"))
    scene.type("zoom")
    scene.press(.home, .delete, .control("d"))
    #expect(scene.model.palette.editor.text == "om")
  }

  @Test("In a replay it finds the keys of a replay, and what a replay has no cache for says so")
  func inReplay() throws {
    let folder = try TemporaryFolder()
    let model = Model(title: "t", levels: Scene.threeLevels, size: Size(width: 80, height: 24), now: Scene.start)
    var session = try RecordedSession(in: folder, model: model)
    session.send(.tick(Scene.start, wall: Scene.wall))
    session.show()
    var state = ReplayState(Playback(try session.opened()), size: Size(width: 80, height: 25))
    func press(_ keys: [InputEvent.Key]) -> [ReplayState.Effect] {
      keys.reduce([]) { $0 + state.handle(.key($1)) }
    }
    func type(_ text: String) -> [ReplayState.Effect] { press(text.map { .character($0) }) }
    #expect(press([.control("p")]) == [])
    var canvas = Canvas(state.size)
    view(state, on: &canvas)
    #expect(canvas.lines.contains { $0.contains("stop, or go on") && $0.contains("Space") })
    #expect(type("twice") == [] && press([.enter]) == [])
    #expect(state.playback.speed == 2)
    #expect(press([.control("p")]) == [] && type("leave the re") == [] && press([.enter]) == [.leave])
    #expect(press([.control("p")]) == [] && type(":stop") == [] && press([.enter]) == [])
    canvas = Canvas(state.size)
    view(state, on: &canvas)
    #expect(canvas.lines.last?.contains("a replay has no cache to stop") == true)
    #expect(press([.escape, .control("p"), .escape]) == [])
    #expect(state.palette == nil)
  }

  @Test("Of a masked session nothing of it is recorded but what was chosen, and of an open one every key")
  func recorded() {
    var masked = Scene.busy(Size(width: 80, height: 24)).model
    let kept = [InputEvent.Key.control("p"), .character("5"), .enter].map { key in
      let (message, before) = (Message.input(.key(key)), InputState(masked))
      _ = update(&masked, message)
      return RecordingMask.kept(message, from: before, to: masked.mode).map { JSONText(recording: $0).line }
    }
    #expect(kept == [nil, nil, JSONText(recording: Message.input(.key(.character("5")))).line])
    var (live, again) = (opened().model, Scene.busy(Size(width: 80, height: 24)).model)
    for key in [InputEvent.Key.control("p"), .character("5"), .enter] { _ = update(&again, .input(.key(key))) }
    for key in [InputEvent.Key.character("5"), .enter] { _ = update(&live, .input(.key(key))) }
    #expect(live.page == again.page)
    #expect(live.page == .config)
  }
}
