import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// A recording whose file is written more slowly than the session goes on.
@Suite(.timeLimit(.minutes(10))) struct SlowRecordingTests {
  /// A session whose writer stands still until it is let go.
  private struct Slow {
    let path: String
    let queue = DispatchQueue(label: "recorder")
    let recorder: Recorder
    var model: Model

    init(in folder: borrowing TemporaryFolder, limit: Int = RecordingFormat.usualLimit, mostWaiting: Int = 100) throws {
      path = folder.url.appending(path: "slow.rec").path()
      model = Model(title: "t", levels: Scene.threeLevels, size: Size(width: 120, height: 40), now: Scene.start)
      model.wall = Scene.wall
      recorder = try Recorder(
        path: path, model: model, isWhole: true, limit: limit, clock: ManualClock(), mostWaiting: mostWaiting,
        queue: queue)
      queue.suspend()
      show()
    }

    mutating func send(_ count: Int, lost: Int = 0, from first: Int = 0) {
      let events = (0..<count).map { number in
        CacheEvent(
          time: Scene.start, level: "memory", key: "key:\(first + number)",
          kind: .stored(.set, cost: 1, deadline: nil, .zero))
      }
      let message = Message.events(events, lost: lost)
      _ = update(&model, message, notedBy: recorder)
      show()
    }

    private func show() {
      var canvas = Canvas(model.size)
      view(model, on: &canvas)
      recorder.notePicture(canvas)
    }

    /// Lets the writer go on until nothing waits.
    func catchUp() {
      queue.resume()
      recorder.flush()
    }

    func opened() throws -> Recording {
      recorder.finish()
      return try Recording(opening: path)
    }
  }

  @Test("events that came too fast are counted in the session, in the file and on the replay's screen")
  func counted() throws {
    let folder = try TemporaryFolder()
    var slow = try Slow(in: folder)
    slow.send(60)
    slow.send(60)
    #expect(slow.recorder.status.lost == 0)
    for batch in 0..<3 { slow.send(20, lost: batch, from: 100) }
    slow.catchUp()
    slow.send(1, lost: 5)
    #expect(slow.recorder.status.lost == 63, "60 left out, and 3 that had been lost before they came")
    #expect(slow.recorder.status.text.contains("lost 63"))
    let recording = try slow.opened()
    #expect(recording.lost == 63)
    #expect(recording.note == "63 events came too fast to be recorded")

    var playback = Playback(recording)
    playback.go(to: .max)
    #expect(playback.failure == nil)
    #expect(playback.model.live.lost == 68)
    #expect(playback.differences.isEmpty, "a picture that cannot be the same is not compared")
    var canvas = Canvas(Size(width: 120, height: 41))
    let state = ReplayState(playback, size: canvas.size)
    view(state, on: &canvas)
    #expect(canvas.lines[0].contains("lost 68"))
    #expect(canvas.lines.contains { $0.contains("63 events came too fast to be recorded") })
  }

  @Test("what was left out at the very end is counted as well")
  func atTheEnd() throws {
    let folder = try TemporaryFolder()
    var slow = try Slow(in: folder)
    slow.send(150)
    slow.send(1_000)
    slow.send(30)
    slow.queue.resume()
    let recording = try slow.opened()
    #expect(recording.lost == 1_030)
    #expect(recording.note == "\(Format.count(1_030)) events came too fast to be recorded")
    var playback = Playback(recording)
    playback.go(to: .max)
    #expect(playback.model.live.lost == 0, "nothing came after it that could have told")
    #expect(playback.model.live.entries.count(level: 0) == 150)
  }

  @Test("who quits waits for no more events than are written in a moment, however many came too fast")
  func quits() throws {
    let folder = try TemporaryFolder()
    var slow = try Slow(in: folder, mostWaiting: Recorder.mostWaiting)
    for batch in 0..<60 { slow.send(1_000, from: batch * 1_000) }
    slow.queue.resume()
    #expect(try slow.opened().lost >= 60_000 - 25_000)
  }

  @Test("a file that reached its limit says how many were left out before")
  func full() throws {
    let folder = try TemporaryFolder()
    var slow = try Slow(in: folder, limit: RecordingStatus.leastLimit)
    slow.send(150)
    slow.send(40)
    slow.catchUp()
    for batch in 0..<20 {
      slow.send(90, from: batch * 90)
      slow.recorder.flush()
    }
    #expect(slow.recorder.status.phase == .full)
    let recording = try slow.opened()
    #expect(recording.lost == 40)
    #expect(recording.note == "the recording reached its limit and ends here; 40 events came too fast to be recorded")
  }

  @Test("a writer that keeps up leaves nothing out")
  func keepsUp() throws {
    let folder = try TemporaryFolder()
    var slow = try Slow(in: folder)
    slow.catchUp()
    for batch in 0..<50 {
      slow.send(90, from: batch * 90)
      slow.recorder.flush()
    }
    let recording = try slow.opened()
    #expect(recording.lost == 0)
    #expect(recording.note == nil)
    var playback = Playback(recording)
    playback.go(to: .max)
    #expect(playback.model.live.entries.count(level: 0) == 4_500)
    #expect(playback.differences.isEmpty)
  }
}
