import CacheEngine
import CacheEngineTesting
import Foundation

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// A session that was recorded into a file of a test, with the pictures that were shown.
struct RecordedSession {
  let path: String
  private(set) var shown: [Canvas] = []
  var model: Model
  let recorder: Recorder
  let clock = ManualClock()

  init(in folder: borrowing TemporaryFolder, model: Model, limit: Int = RecordingFormat.usualLimit) throws {
    path = folder.url.appending(path: "session.rec").path()
    self.model = model
    recorder = try Recorder(path: path, model: model, isWhole: true, limit: limit, clock: clock)
    show()
  }

  mutating func send(_ message: Message) {
    _ = update(&model, message, notedBy: recorder)
  }

  mutating func show() {
    var canvas = Canvas(model.size)
    view(model, on: &canvas)
    recorder.notePicture(canvas)
    shown.append(canvas)
  }

  /// Ends the recording and opens it.
  func opened() throws -> Recording {
    recorder.finish()
    return try Recording(opening: path)
  }

  /// A session of messages as nobody would send them.
  static func random(
    _ seed: UInt64, steps: Int, in folder: borrowing TemporaryFolder, isMasked: Bool = false,
    limit: Int = RecordingFormat.usualLimit
  ) throws -> RecordedSession {
    let scene = try OperatorScene.busy(Size(width: 100, height: 36))
    let rows = scene.model.live
    var model = Model(
      title: "\u{1b}]0;title\u{7}", levels: rows.levels, operators: rows.operators, chain: rows.chain,
      size: Size(width: 100, height: 36), now: Scene.start)
    model.command.grammar = .commandLine
    model.wall = Scene.wall
    model.isMasked = isMasked
    model.command.remember(all: ["get user:42", "set a \"b c\""])
    var messages = RandomMessages(seed: seed, levels: rows.levels, operators: rows.operators)
    var session = try RecordedSession(in: folder, model: model, limit: limit)
    for step in 0..<steps {
      session.send(messages.message())
      if step % 3 == 0 {
        session.clock.advance(by: .milliseconds(40))
        session.show()
      }
    }
    session.show()
    return session
  }
}
