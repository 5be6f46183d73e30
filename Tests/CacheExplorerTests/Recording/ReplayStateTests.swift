import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// What a person does with a replay.
struct ReplayStateTests {
  /// A minute with a picture each second, and a warning in second 30.
  private func state(
    in folder: borrowing TemporaryFolder, size: Size = Size(width: 120, height: 41)
  ) throws -> ReplayState {
    var model = Model(title: "t", levels: Scene.threeLevels, size: Size(width: 120, height: 40), now: Scene.start)
    model.wall = Scene.wall
    var session = try RecordedSession(in: folder, model: model)
    for second in 1...60 {
      session.clock.advance(by: .seconds(1))
      session.send(.tick(Scene.start.advanced(by: .seconds(second)), wall: Scene.wall + .seconds(second)))
      if second == 30 {
        session.send(.log([LogLine(time: .zero, level: .warning, source: "memory", text: "pressure")], lost: 0))
      }
      session.show()
    }
    return ReplayState(Playback(try session.opened()), size: size)
  }

  private func bar(_ state: ReplayState) -> String {
    var canvas = Canvas(state.size)
    view(state, on: &canvas)
    return canvas.lines.last ?? ""
  }

  private func press(_ keys: InputEvent.Key..., in state: inout ReplayState) {
    for key in keys { #expect(state.handle(.key(key)) == []) }
  }

  @Test("A moment can be looked at on other screens and at other sizes, while the recording plays on and goes back")
  func looks() throws {
    let folder = try TemporaryFolder()
    var scene = Scene(size: Size(width: 120, height: 40))
    var session = try RecordedSession(in: folder, model: scene.model)
    for key in ["user:1", "user:2", "feed"] {
      scene.read(key, from: 2)
      for message in scene.sent { session.send(message) }
      scene.sent = []
      session.clock.advance(by: .seconds(1))
      session.show()
    }
    var state = ReplayState(Playback(try session.opened()), size: Size(width: 80, height: 24))
    func rows() -> [String] {
      var canvas = Canvas(state.size)
      view(state, on: &canvas)
      return canvas.lines
    }
    press(.character("L"), .character("2"), in: &state)
    #expect(rows()[1].contains("┌ Entries 1–3 of 3") && rows()[1].hasSuffix("┐"))
    #expect(rows().last?.contains("looking, Esc: the film") == true)
    press(.character("/"), in: &state)
    for letter in "user" { press(.character(letter), in: &state) }
    press(.enter, in: &state)
    #expect(rows()[1].contains("of 2"))
    // The picture before, looked at the same way.
    press(.character(","), in: &state)
    #expect(state.playback.model.live.entries.row("feed") == nil)
    #expect(rows()[1].contains("of 2"))
    press(.enter, in: &state)
    #expect(rows().contains { $0.contains("Request #") })
    #expect(state.handle(.resized(Size(width: 100, height: 30))) == [.redraw])
    #expect(rows().count == 30 && rows().contains { $0.contains("Request #") })
    // Nothing is changed, and nothing asked of a cache that is not there.
    press(.character("v"), in: &state)
    #expect(rows().contains { $0.contains("only the values that were looked at") })
    let before = rows()
    press(.character("d"), .character("w"), in: &state)
    #expect(rows() == before)
    // Esc closes the request, clears the filter, and then shows the film.
    press(.escape, .escape, .escape, in: &state)
    #expect(state.shown == nil)
    #expect(Array(state.playback.canvas.lines)[0].hasPrefix(rows()[0]))
    #expect(state.handle(.key(.escape)) == [.leave])
  }

  @Test("Time passes at the speed that was chosen, and stops at the end")
  func plays() throws {
    let folder = try TemporaryFolder()
    var state = try state(in: folder)
    #expect(state.playback.pause == .seconds(1))
    state.playback.pass(.milliseconds(2_500))
    #expect(state.playback.place == 2)
    #expect(state.playback.pause == .milliseconds(500))
    press(.character(">"), in: &state)
    #expect(state.playback.speed == 2)
    #expect(state.playback.pause == .milliseconds(250))
    press(.character("<"), .character("<"), in: &state)
    #expect(state.playback.speed == 0.5)
    state.playback.pass(.seconds(1))
    #expect(state.playback.place == 3)
    press(.character(" "), in: &state)
    #expect(state.playback.pause == nil)
    state.playback.pass(.seconds(100))
    #expect(state.playback.place == 3)
    press(.character(" "), in: &state)
    state.playback.pass(.seconds(1_000))
    #expect(state.playback.isAtEnd)
    #expect(bar(state).hasPrefix(" ■ REPLAY 1 min 00 s of 1 min 00 s  ×0.5"))
    press(.character(" "), in: &state)
    #expect(state.playback.place == 0)
    #expect(state.playback.isPlaying)
  }

  @Test("Steps, leaps, the ends and the warnings are a key away")
  func keys() throws {
    let folder = try TemporaryFolder()
    var state = try state(in: folder)
    press(.character("."), .character("."), .character(","), in: &state)
    #expect(state.playback.place == 1)
    #expect(!state.playback.isPlaying)
    press(.right, .character("l"), .left, in: &state)
    #expect(state.playback.place == 6)
    press(.character("e"), in: &state)
    #expect(state.playback.place == 30)
    press(.character("e"), in: &state)
    #expect(bar(state).contains("✕ no warning or error after this picture"))
    press(.character("L"), .character("E"), in: &state)
    #expect(state.playback.place == 30)
    press(.character("g"), in: &state)
    #expect(state.playback.place == 0)
    press(.left, in: &state)
    #expect(state.playback.place == 0)
  }

  @Test("jump, speed and export are commands; others say why not, with a caret; q leaves")
  func commands() throws {
    let folder = try TemporaryFolder()
    var state = try state(in: folder)
    func run(_ line: String) -> [ReplayState.Effect] {
      _ = state.handle(.key(.character(":")))
      for character in line { _ = state.handle(.key(.character(character))) }
      return state.handle(.key(.enter))
    }
    #expect(run("jump 12.3s") == [])
    #expect(state.playback.place == 12)
    #expect(run("jump +5s") == [])
    #expect(state.playback.place == 17)
    #expect(run("jump -10s") == [])
    #expect(state.playback.place == 7)
    #expect(run("jump next warning") == [])
    #expect(state.playback.place == 30)
    #expect(run("jump 9h") == [])
    #expect(state.playback.isAtEnd)
    #expect(run("speed 0.25") == [])
    #expect(state.playback.speed == 0.25)
    #expect(run("export a.cast") == [.export("a.cast")])
    #expect(run("get a") == [])
    #expect(bar(state).contains("✕ a replay has no cache to get; use jump"))
    #expect(state.editor != nil)
    _ = state.handle(.key(.escape))
    #expect(state.editor == nil)
    #expect(run("jump netx") == [])
    #expect(state.fault?.column == 5)
    _ = state.handle(.key(.escape))
    #expect(state.handle(.terminate(signal: 15)) == [.leave])
    // What is still being written would not be there.
    let written = CommandLineState.Answer(isGood: true, text: "it is written")
    for key in ["q", ":"] {
      state.wrote("a.cast", written)
      #expect(run("export a.cast") == [.export("a.cast")])
      #expect(key == "q" ? state.handle(.key(.character("q"))) == [] : run("quit") == [])
      #expect(bar(state).contains("a.cast is still being written; q again leaves without it"))
      #expect(state.handle(.key(.character("q"))) == [.leave])
    }
    state.wrote("a.cast", written)
    #expect(bar(state).contains("it is written"))
    #expect(state.handle(.key(.character("q"))) == [.leave])
  }

  @Test("Whoever leaves is asked about every file that is being written, in a damaged recording as well")
  func asks() throws {
    let folder = try TemporaryFolder()
    var state = try state(in: folder)
    let text = try String(contentsOfFile: state.playback.recording.file, encoding: .utf8)
    let damaged = text.replacing("\"message\":{\"log\"", with: "\"message\":{\"unknown\"")
    state.playback = Playback(try Recording(Array(damaged.utf8), file: "a.rec"))
    state.playback.go(to: .max)
    #expect(bar(state).contains("✕ a.rec:"))
    for file in ["a.cast", "b.cast"] {
      for character in ":export \(file)" { _ = state.handle(.key(.character(character))) }
      #expect(state.handle(.key(.enter)) == [.export(file)])
    }
    press(.character("q"), in: &state)
    #expect(bar(state).contains("✕ 2 files are still being written; q again leaves without them"))
    press(.left, in: &state)
    state.playback.go(to: .max)
    #expect(bar(state).contains("✕ a.rec:"))
    state.wrote("a.cast", CommandLineState.Answer(isGood: true, text: "it is written"))
    press(.character("q"), in: &state)
    #expect(bar(state).contains("✕ b.cast is still being written; q again leaves without it"))
    #expect(state.handle(.key(.character("q"))) == [.leave])
  }

  @Test("The picture is as it was; the row of the replay stands below it, or over its last row if there is no room")
  func picture() throws {
    let folder = try TemporaryFolder()
    var state = try state(in: folder)
    for size in [Size(width: 120, height: 41), Size(width: 120, height: 40), Size(width: 80, height: 24)] {
      _ = state.handle(.resized(size))
      var canvas = Canvas(size)
      view(state, on: &canvas)
      let original = state.playback.canvas
      for y in 0..<min(40, size.height - 1) {
        for x in 0..<size.width { #expect(canvas[x, y] == original[x, y]) }
      }
      #expect(canvas.lines[size.height - 1].hasPrefix(" ▶ REPLAY 0.0 s of 1 min 00 s"))
    }
    #expect(bar(state).contains("recorded at 120x40; enlarge the window"))
  }

  @Test("The help names every key of a replay, and any key leaves it")
  func help() throws {
    let folder = try TemporaryFolder()
    var state = try state(in: folder, size: Size(width: 80, height: 24))
    press(.character("?"), in: &state)
    var canvas = Canvas(state.size)
    view(state, on: &canvas)
    let text = canvas.lines.joined(separator: "\n")
    for binding in KeyTable.bindings where binding.scope == .replaying { #expect(text.contains(binding.does)) }
    press(.character("x"), in: &state)
    #expect(!state.isHelping)
  }

  @Test("At every size and in every state nothing traps and nothing is drawn outside")
  func sizes() throws {
    let folder = try TemporaryFolder()
    var state = try state(in: folder)
    for keys in [[], [InputEvent.Key.character("?")], [.character(":"), .character("日")]] {
      for key in keys { _ = state.handle(.key(key)) }
      for width in stride(from: 0, through: 150, by: 7) {
        for height in stride(from: 0, through: 48, by: 3) {
          state.size = Size(width: width, height: height)
          var canvas = Canvas(state.size)
          view(state, on: &canvas)
          #expect(canvas.cells.count == width * height)
        }
      }
    }
  }
}
