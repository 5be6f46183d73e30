import CacheEngine
import CacheEngineTesting
import Foundation
import PseudoTerminal
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// What is recorded and replayed.
@Suite(.timeLimit(.minutes(10))) struct RecordingTests {
  @Test("Whatever happened, a replay shows the same pictures, cell for cell", arguments: 1...6)
  func samePictures(seed: Int) throws {
    let folder = try TemporaryFolder()
    let session = try RecordedSession.random(UInt64(seed), steps: 160, in: folder)
    let recording = try session.opened()
    #expect(recording.note == nil)
    #expect(recording.pictures.count == session.shown.count)
    var playback = Playback(recording)
    for (place, canvas) in session.shown.enumerated() {
      playback.go(to: place)
      #expect(playback.failure == nil)
      #expect(playback.canvas == canvas, "picture \(place)")
      #expect(playback.isAsShown(playback.canvas) == true)
    }
  }

  @Test("Going back and forth comes to the same pictures as going straight", arguments: 1...2)
  func seeks(seed: Int) throws {
    let folder = try TemporaryFolder()
    let session = try RecordedSession.random(UInt64(seed), steps: 420, in: folder)
    var playback = Playback(try session.opened())
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<16 {
      let place = Int.random(in: 0..<session.shown.count, using: &generator)
      playback.go(to: place)
      #expect(playback.place == place)
      #expect(playback.canvas == session.shown[place])
    }
    playback.go(to: .min)
    #expect(playback.place == 0)
    playback.go(to: .max)
    #expect(playback.isAtEnd)
  }

  @Test("Every message comes back from its line as it was", arguments: 1...4)
  func roundTrip(seed: Int) throws {
    var messages = RandomMessages(seed: UInt64(seed), levels: Scene.threeLevels)
    var all = (0..<300).map { _ in messages.message() }
    all += [
      .workload("zipf"), .workload(nil), .showLog(from: .warning), .caption("a\u{0}b"), .filter("x"), .sort("ttl"),
      .faults(["a": "down"]), .help,
      .files(beginning: "a", ["a/", "ab"]),
      .value(ValueSight(key: "k", level: nil, content: .bytes([0, 9, 255], of: 7))),
      .value(ValueSight(key: "k", level: "m", content: .failed("no"))), .planned(.changes(["~ a"])),
      .planned(.refused([ConfigurationProblem(file: "f", place: nil, message: "m", remedy: "r")])),
      .recording(nil), .recording(RecordingStatus(phase: .full, bytes: 7, lost: 2)), .input(.terminate(signal: 15)),
      .attachedAgain(
        Attachment(label: "attached again (pid 8)", ended: nil),
        Replacement(
          title: "t", levels: Scene.threeLevels, operators: [], chain: [.level(2), .level(0)], config: ConfigSheet())),
      .input(.suspend), .input(.resumed), .input(.key(.function(5))), .input(.key(.control("c"))),
      .models(
        ModelSheet.Content(
          source: "live", rows: [ModelSheet.Row(name: .init(type: "A", id: "1"), isStored: true, cost: 3)])),
    ]
    for message in all {
      let line = JSONText(recording: message).line
      #expect(!line.contains("\n"))
      let back = try Message(recorded: try JSONText(reading: Array(line.utf8)[...]))
      #expect(JSONText(recording: back).line == line)
      #expect("\(back)".count > 0)
    }
  }

  // MARK: Files that are not as they should be

  @Test("A recording that was torn anywhere opens up to there, and says so")
  func torn() throws {
    let folder = try TemporaryFolder()
    let session = try RecordedSession.random(3, steps: 60, in: folder)
    _ = try session.opened()
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: session.path)))
    let firstLine = try #require(bytes.firstIndex(of: 0x0a))
    let firstPicture = try #require(bytes[(firstLine + 1)...].firstIndex(of: 0x0a))
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<20 {
      let cut = Int.random(in: firstPicture + 1..<bytes.count, using: &generator)
      let recording = try Recording(Array(bytes[..<cut]), file: "torn.rec")
      #expect(recording.note != nil)
      if bytes[cut - 1] != 0x0a { #expect(recording.note?.contains("broke off within line") == true) }
      var playback = Playback(recording)
      playback.go(to: .max)
      #expect(playback.failure == nil)
      #expect(playback.canvas == session.shown[playback.place])
    }
    for cut in [1, 30, firstLine] {
      let failure = #expect(throws: RecordingFailure.self) { try Recording(Array(bytes[..<cut]), file: "torn.rec") }
      #expect(failure?.description.hasPrefix("torn.rec") == true)
    }
  }

  @Test("A file of another kind, of a newer program or damaged within is refused with the place and the remedy")
  func refused() throws {
    let folder = try TemporaryFolder()
    let session = try RecordedSession.random(4, steps: 30, in: folder)
    _ = try session.opened()
    let text = try String(contentsOfFile: session.path, encoding: .utf8)
    func failure(_ text: String) -> String {
      #expect(throws: RecordingFailure.self) { try Recording(Array(text.utf8), file: "a.rec") }?.description ?? ""
    }
    #expect(
      failure("levels:\n  - memory: {}\n").hasPrefix("a.rec:1: error: this is not a recording of cache-explorer; "))
    #expect(failure("").contains("a.rec:1: error: this is not a recording"))
    #expect(failure("{\"version\":2,\"width\":80}\n").contains("this is not a recording"))
    let newer = failure(text.replacing("\"version\":3", with: "\"version\":4"))
    #expect(newer.contains("the recording has format 4") && newer.contains("reads format 3"))
    #expect(newer.contains("or with a newer one"))
    let older = failure(text.replacing("\"version\":3", with: "\"version\":2"))
    #expect(older.contains("the recording has format 2") && older.contains("or record the session again"))
    let chain = text.replacing("\"chain\":[{\"level\":{\"_0\":0}}", with: "\"chain\":[{\"level\":{\"_0\":70}}")
    #expect(chain != text && failure(chain).contains("the cache has parts that are not there"))
    let zone = text.replacing("\"utcOffsetInSeconds\":0", with: "\"utcOffsetInSeconds\":9223372036854775807")
    #expect(zone != text && failure(zone).contains("no clock is so far from UTC"))
    for width in ["-5", "0", "999999999"] {
      let window = text.replacing("\"width\":100", with: "\"width\":\(width)")
      #expect(failure(window).contains("no window has \(width)x36 cells"))
    }
    var lines = text.split(separator: "\n").map(String.init)
    lines[5] = "what is this"
    #expect(failure(lines.joined(separator: "\n") + "\n").hasPrefix("a.rec:6: error: this is no line of a recording; "))
    #expect(failure(lines[0] + "\n").contains("has no picture"))
    // As another program writes the first line again.
    let spaced = text.replacing("{\"format\":", with: "{ \"format\" : ")
    try spaced.write(toFile: session.path, atomically: true, encoding: .utf8)
    #expect(try !Recording(opening: session.path).pictures.isEmpty)
    let none = #expect(throws: RecordingFailure.self) { try Recording(opening: "/no/such.rec") }
    #expect(
      none?.description.contains("/no/such.rec: error: the recording cannot be read (No such file or directory); ")
        == true)
  }

  @Test("A line that is damaged within ends the replay there, with its place; what is before can be seen")
  func damaged() throws {
    let folder = try TemporaryFolder()
    let session = try RecordedSession.random(5, steps: 90, in: folder)
    _ = try session.opened()
    var lines = try String(contentsOfFile: session.path, encoding: .utf8).split(separator: "\n").map(String.init)
    let place = try #require(lines.indices.first { $0 > 60 && lines[$0].contains("\"message\"") })
    let name = try #require(lines[place].firstMatch(of: /"message":{"(\w+)"/)?.1)
    lines[place] = lines[place].replacing("\"message\":{\"", with: "\"message\":{\"un")
    var playback = Playback(try Recording(Array((lines.joined(separator: "\n") + "\n").utf8), file: "a.rec"))
    playback.go(to: .max)
    #expect(
      playback.failure?.description.hasPrefix(
        "a.rec:\(place + 1): error: this line cannot be understood: message: “un\(name)” is no name that is known here; "
      )
        == true)
    #expect(!playback.isPlaying)
    #expect(playback.canvas == session.shown[playback.place])
    let stopped = playback.place
    playback.go(to: 0)
    #expect(playback.failure == nil)
    playback.go(to: stopped)
    #expect(playback.canvas == session.shown[stopped])
  }

  @Test(
    "A damaged field is told with its place, what stands there and what may stand there",
    arguments: [
      (
        #"{"log":{"_0":[{"time":0,"level":9,"source":"a","text":"b"}],"lost":0}}"#,
        "log._0[0].level: 9 is not 0, 1, 2, 3, 4 or 5"
      ),
      (
        #"{"recording":{"_0":{"phase":"on","bytes":1,"lost":0}}}"#,
        "recording._0.phase: “on” is not going, full or broken"
      ),
      (
        #"{"finished":{"_0":{"command":"get","outcome":"hot","isStale":false,"microseconds":1}}}"#,
        "finished._0.outcome: “hot” is not hit, miss, ok or error"
      ),
      (
        #"{"events":{"_0":[{"what":"hit","time":1},{"what":"hot","time":1}],"lost":0}}"#,
        "events._0[1]: there is no event “hot”"
      ),
      (
        #"{"events":{"_0":[{"what":"removed","time":1,"cause":"mood"}],"lost":0}}"#,
        "events._0[0]: there is no cause “mood”, only removed, cleared, replaced, expired, evicted, warning, damaged"
      ),
      (
        #"{"events":{"_0":[{"what":"ended","time":1,"operation":"get","outcome":"miss"}],"lost":0}}"#,
        "events._0[0]: an event “ended” needs “reason”"
      ),
      (#"{"tick":{"_0":1}}"#, "tick: “wall” is missing"), (#"{"tick":7}"#, "tick: 7 is not an object"),
      (#"{"tick":{"_0":1,"wall":"noon"}}"#, "tick.wall: “noon” is not a whole number"),
      (#"{"help":{},"showConfig":{}}"#, #"{"help":{},"showConfig":{}} is not an object with one name"#),
      (
        #"{"filter":{"_0":["\#(String(repeating: "a", count: 50))"]}}"#,
        "filter._0: [\"" + String(repeating: "a", count: 38) + "… is not a text"
      ),
    ] as [(String, String)])
  func damagedField(line: String, fault: String) {
    let found = #expect(throws: RecordedFault.self) {
      try Message(recorded: try JSONText(reading: Array(line.utf8)[...]))
    }
    #expect(found?.message == fault)
  }

  @Test(
    "Half a character in a line is a fault",
    arguments: [#""\ud800\u0041""#, #""\ud800\ue000""#, #""\ud800""#, #""\udc00""#])
  func halfCharacter(text: String) {
    let fault = #expect(throws: RecordedFault.self) { try JSONText(reading: Array(text.utf8)[...]) }
    #expect(fault?.message.hasPrefix("there is half a character at column ") == true)
  }

  @Test("A file may tell of the end of time")
  func endOfTime() throws {
    let folder = try TemporaryFolder()
    let model = Model(title: "t", levels: Scene.threeLevels, size: Size(width: 80, height: 24), now: Scene.start)
    var session = try RecordedSession(in: folder, model: model)
    session.show()
    _ = try session.opened()
    var lines = try String(contentsOfFile: session.path, encoding: .utf8).split(separator: "\n").map(String.init)
    let last = try #require(lines.lastIndex { $0.contains("\"picture\":") })
    lines[last] = "{\"at\":9223372036854775000" + lines[last].drop { $0 != "," }
    let recording = try Recording(Array((lines.joined(separator: "\n") + "\n").utf8), file: "a.rec")
    var playback = Playback(recording, speed: 0.5)
    #expect(playback.pause == .nanoseconds(9_000_000_000_000_000_000))
    playback.go(toTime: recording.length - 1)
    #expect(!playback.isAtEnd)
    playback.set(speed: 1_000)
    playback.pass(.seconds(1_000_000_000))
    #expect(playback.isAtEnd && !playback.isPlaying)
    let report = try Asciicast.write(recording, to: folder.url.appending(path: "a.cast").path())
    #expect(report.pictures == 2 && report.sentence.hasPrefix("2 pictures of "))
  }

  @Test("What is in a file is a recording's own or left alone, and only its owner may read it")
  func files() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("precious", to: "notes.txt")
    let model = Model(title: "t", levels: Scene.threeLevels, now: Scene.start)
    let failure = #expect(throws: CommandFailure.self) { try Recorder(path: path, model: model, isWhole: true) }
    #expect(failure?.message.contains("exists and is not a recording") == true)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    #expect(throws: CommandFailure.self) { try Recorder(path: "/no/such/dir/a.rec", model: model, isWhole: true) }
    let dash = #expect(throws: CommandFailure.self) { try Recorder(path: "-", model: model, isWhole: true) }
    #expect(dash?.message.hasSuffix("name one, as in session.rec") == true)
    // Nobody ever writes into it, and nobody waits for that.
    let pipe = folder.url.appending(path: "pipe").path()
    let made = unsafe mkfifo(pipe, 0o600)
    #expect(made == 0)
    #expect(throws: CommandFailure.self) { try Recorder(path: pipe, model: model, isWhole: true) }
    let session = try RecordedSession.random(6, steps: 9, in: folder)
    _ = try session.opened()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: session.path)
    let again = try Recorder(path: session.path, model: model, isWhole: true)
    let taken = #expect(throws: CommandFailure.self) { try Recorder(path: session.path, model: model, isWhole: true) }
    #expect(taken?.message == "another session is being recorded into \(session.path); name another file")
    again.notePicture(Canvas(model.size))
    again.finish()
    #expect(try Recording(opening: session.path).pictures.count == 1)
    let mode = try FileManager.default.attributesOfItem(atPath: session.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  // MARK: The bound

  @Test("A file never grows beyond its limit, and tells where it ends")
  func bound() throws {
    let folder = try TemporaryFolder()
    var session = try RecordedSession.random(7, steps: 900, in: folder, limit: 96 << 10)
    session.recorder.flush()
    #expect(session.recorder.status.phase == .full)
    let size = session.recorder.status.bytes
    #expect(size <= 96 << 10)
    #expect(size > 64 << 10)
    session.send(.caption("too late"))
    session.show()
    let recording = try session.opened()
    #expect(try Data(contentsOf: URL(filePath: session.path)).count == size)
    #expect(recording.note == "the recording reached its limit and ends here")
    var playback = Playback(recording)
    playback.go(to: .max)
    #expect(playback.canvas == session.shown[playback.place])
  }

  @Test("The header says that the session is recorded, how large the file is, and when it is full")
  func header() {
    for size in [Size(width: 80, height: 24), Size(width: 120, height: 40)] {
      var scene = Scene.busy(size)
      #expect(!scene.lines[0].contains("REC"))
      scene.send(.recording(RecordingStatus(bytes: 1_258_291)))
      #expect(scene.lines[0].contains("● LIVE") && scene.lines[0].contains("● REC 1.2 MiB"), "\(scene.lines[0])")
      scene.send(.recording(RecordingStatus(phase: .full, bytes: 256 << 20)))
      #expect(scene.lines[0].contains("■ REC full 256 MiB"))
      scene.send(.recording(RecordingStatus(bytes: 4_096, lost: 12)))
      #expect(scene.lines[0].contains("● REC 4 KiB lost 12"))
      scene.send(.recording(nil))
      #expect(!scene.lines[0].contains("REC"))
    }
  }

  // MARK: Masks

  @Test("A masked recording holds no key, no value, nothing that was typed and no words of errors")
  func masked() throws {
    let folder = try TemporaryFolder()
    var model = Model(title: "cache", levels: Scene.threeLevels, size: Size(width: 100, height: 30), now: Scene.start)
    model.isMasked = true
    model.command.remember(all: ["get secret-old"])
    var session = try RecordedSession(in: folder, model: model)
    let request = RequestID(1)
    func event(_ kind: CacheEvent.Kind, key: String? = "secret-key") -> CacheEvent {
      CacheEvent(
        time: Scene.start, request: request, level: "memory", key: key, kind: kind, madeRoomFor: "secret-room")
    }
    session.send(
      .events(
        [
          event(.requestBegan(.get)), event(.lookupBegan), event(.failed(.get, "no secret-text", .zero)),
          event(.stored(.set, cost: 7, deadline: nil, .zero)), event(.removed(.evicted, cost: 7), key: "secret-other"),
          event(.operated(.retried(attempt: 1, after: .zero, error: "secret"))),
          event(.operated(.fellBack(error: "secret"))), event(.operated(.refreshEnded(.zero, error: "secret"))),
          event(.requestEnded(.get, .failed("secret"), .zero)),
        ], lost: 0))
    session.send(
      .log(
        [
          LogLine(
            time: .zero, level: .info, source: "memory", text: "miss   secret-key", keys: ["secret-key"],
            request: request, event: 2),
          LogLine(time: .zero, level: .info, source: "explorer", text: "secret words"),
        ], lost: 0))
    let summary = ListedEntry(key: "secret-list", cost: 3, created: Scene.start, deadline: nil)
    session.send(.snapshot(level: "disk", [summary]))
    for character in ":get secret\u{7f}" { session.send(.input(.key(.character(character)))) }
    session.send(.input(.paste("secret")))
    session.send(.input(.key(.enter)))
    var result = CommandResult(command: "get", outcome: .hit, value: Data("secret".utf8), microseconds: 3)
    result.note = "secret"
    session.send(.finished(result, line: "get secret"))
    session.send(.rejected(line: "secret", reason: "secret", column: 2))
    session.send(.input(.key(.escape)))
    session.send(.filter("secret"))
    session.send(.files(beginning: "secret", ["secret"]))
    session.send(.value(ValueSight(key: "secret-key", level: "disk", content: .bytes(Array("secret".utf8), of: 6))))
    session.send(.finished(result, line: "del secret-key"))
    session.send(
      .models(ModelSheet.Content(source: "live", rows: [.init(name: .init(type: "A", id: "secret"), isStored: true)])))
    session.show()
    let recording = try session.opened()
    let text = try String(contentsOfFile: session.path, encoding: .utf8)
    #expect(!text.contains("secret"))
    #expect(!text.contains("736563726574"), "the value in hexadecimal digits")
    #expect(text.contains("key-1") && text.contains("key-2") && text.contains("del key-1"))
    #expect(recording.isMasked)
    var playback = Playback(recording)
    playback.go(to: .max)
    #expect(playback.failure == nil)
    #expect(playback.canvas.lines.contains { $0.contains("key-1") })
    #expect(playback.isAsShown(playback.canvas) == true)
  }

  @Test("What P hid in the log of a session is hidden in its replay")
  func hiddenInLog() throws {
    let folder = try TemporaryFolder()
    let scene = Scene(size: Size(width: 120, height: 40))
    var session = try RecordedSession(in: folder, model: scene.model)
    let line = LogLine(time: Scene.wall, level: .error, source: "disk", text: "get    secret-key", keys: ["secret-key"])
    session.send(.log([line], lost: 0))
    for key in [Page.log.key, "P"] { session.send(.input(.key(.character(key)))) }
    session.show()
    var playback = Playback(try session.opened())
    playback.go(to: .max)
    #expect(playback.canvas == session.shown.last)
    #expect(playback.canvas.lines.contains { $0.contains("get    key-") })
    #expect(!playback.canvas.lines.contains { $0.contains("secret-key") })

    // Recordings of older programs have no keys in their lines.
    let text = JSONText(recording: line).line
    let older = text.replacing(",\"keys\":[\"secret-key\"]", with: "")
    #expect(older != text)
    #expect(try JSONText(reading: Array(text.utf8)[...]).recorded(LogLine.self) == line)
    #expect(try JSONText(reading: Array(older.utf8)[...]).recorded(LogLine.self).keys == [])
  }

  @Test("A masked recording of a proxy holds no path, no address, no value of a field and no validator")
  func maskedProxy() throws {
    let folder = try TemporaryFolder()
    var model = Model(title: "cache", levels: Scene.threeLevels, size: Size(width: 120, height: 40), now: Scene.start)
    model.isMasked = true
    var session = try RecordedSession(in: folder, model: model)
    func exchange(_ number: Int, key: String?) -> ServedExchange {
      ServedExchange(
        number: number, time: Scene.wall, method: "GET", path: "/secret?token=secret-\(number)", key: key, status: 200,
        outcome: .hit, bytes: 3, duration: .milliseconds(2))
    }
    session.send(.served([], ServedCounts(), lost: 0))
    session.send(.input(.key(.character("9"))))
    let exchanges = [exchange(1, key: "http://a/secret?token=secret-1"), exchange(2, key: nil)]
    var counts = ServedCounts()
    for exchange in exchanges { counts.count(exchange.outcome, bytes: exchange.bytes, isWhole: exchange.isWhole) }
    session.send(.served(exchanges, counts, lost: 0))
    session.send(
      .variants(
        key: "http://a/secret?token=secret-1",
        [
          ServedVariant(
            selecting: ["cookie: secret", "accept-language: secret"], status: 200, bytes: 3, validator: "\"secret\"",
            age: 1, left: 2)
        ]))
    session.show()
    let recording = try session.opened()
    let text = try String(contentsOfFile: session.path, encoding: .utf8)
    #expect(!text.contains("secret") && !text.contains("token"))
    #expect(text.contains("key-1") && text.contains("key-2"))
    var playback = Playback(recording)
    playback.go(to: .max)
    #expect(playback.failure == nil)
    #expect(playback.canvas.lines.contains { $0.contains("key-1") })
    #expect(!playback.canvas.lines.contains { $0.contains("secret") })
    #expect(playback.isAsShown(playback.canvas) == true)
  }

  @Test("Masked or not, no random session leaves a replay in the middle of a line that nobody typed", arguments: 1...3)
  func maskedRandom(seed: Int) throws {
    let folder = try TemporaryFolder()
    let session = try RecordedSession.random(UInt64(seed), steps: 120, in: folder, isMasked: true)
    var playback = Playback(try session.opened())
    for place in playback.recording.pictures.indices {
      playback.go(to: place)
      #expect(playback.failure == nil)
      #expect(playback.model.mode != .command && playback.model.mode != .filter)
      #expect(playback.isAsShown(playback.canvas) == true, "picture \(place)")
    }
    let report = try Asciicast.write(playback.recording, to: folder.url.appending(path: "m.cast").path())
    #expect(report.sentence.hasSuffix(", every one as it was recorded"))
    // Another picture than the file makes is found.
    #expect(playback.isAsShown(Canvas(Size(width: 7, height: 7))) == false)
  }

  /// Ways to begin to type, and to end it.
  private static let typed: [[InputEvent.Key]] = [
    [.character("X"), .character("a"), .enter], [.character("X"), .escape, .character("?")],
    [.character("?"), .character("/"), .character("d"), .enter],
    [.character("?"), .character("/"), .escape, .escape],
    [.control("p")] + "this help".map { InputEvent.Key.character($0) } + [.enter],
    [.control("p"), .escape, .character("?")],
  ]

  /// A masked session that everything came to, and its replay at the end.
  private func replayed(_ messages: (Model) throws -> [Message]) throws -> (session: Model, replay: Model) {
    let folder = try TemporaryFolder()
    var model = Scene.busy(Size(width: 120, height: 40)).model
    (model.isMasked, model.isMouseOn) = (true, true)
    var session = try RecordedSession(in: folder, model: model)
    for message in try messages(model) { session.send(message) }
    session.show()
    var playback = Playback(try session.opened())
    playback.go(to: .max)
    #expect(playback.failure == nil)
    return (session.model, playback.model)
  }

  @Test("A masked replay comes to the mode of the session, however somebody typed", arguments: typed)
  func maskedModes(keys: [InputEvent.Key]) throws {
    let (session, replay) = try replayed { _ in keys.map { .input(.key($0)) } }
    #expect(replay.mode == session.mode)
  }

  @Test("A masked replay comes to the mode of the session, whatever was clicked", arguments: [":", "/"])
  func maskedClicks(name: String) throws {
    let (session, replay) = try replayed { model in
      let bar = try #require(Layout(model).keyBar)
      func click(_ action: Action) throws -> Message {
        let x = try #require((0..<model.size.width).first { KeyBar.action(at: $0, model, in: bar) == action })
        return .input(.mouse(InputEvent.Mouse(kind: .press, at: Point(x: x, y: bar.y))))
      }
      return [
        try click(name == ":" ? .command : .filter), .input(.key(.character("d"))), .input(.key(.escape)),
        // The first click into a window is not meant, but after a key it is.
        .input(.focus(true)), .input(.key(.character(":"))), .input(.key(.escape)), try click(.help),
      ]
    }
    #expect(session.mode == .help)
    #expect(replay.mode == .help)
  }

  @Test("A line that is refused while the help is open closes it in a masked replay as well")
  func maskedRefusal() throws {
    let (session, replay) = try replayed { _ in
      [.help, .rejected(line: "gte secret", reason: "no", column: 0), .input(.key(.escape))]
    }
    #expect(session.mode == .normal)
    #expect(replay.mode == .normal)
  }

  // MARK: Asciicast

  @Test("A terminal that is fed with the asciicast shows the same as was shown", arguments: 1...2)
  func asciicast(seed: Int) throws {
    let folder = try TemporaryFolder()
    let session = try RecordedSession.random(UInt64(seed), steps: 150, in: folder)
    let recording = try session.opened()
    let cast = folder.url.appending(path: "a.cast").path()
    let report = try Asciicast.write(recording, to: cast)
    #expect(report.pictures == session.shown.count)
    #expect(report.differences == 0 && report.unchecked == 0)
    #expect(report.sentence.hasSuffix(", every one as it was shown"))
    let text = try String(contentsOfFile: session.path, encoding: .utf8)
    let bare = text.replacing(try Regex("\"grid\":\"[0-9a-f]+\""), with: "\"grid\":null")
    let blind = try Asciicast.write(try Recording(Array(bare.utf8), file: "a.rec"), to: cast + "2")
    #expect(blind.sentence.hasSuffix(", none of which can be checked"))
    let lines = try String(contentsOfFile: cast, encoding: .utf8).split(separator: "\n")
    let header = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
    #expect(header["version"] as? Int == 2)
    #expect(header["width"] as? Int == 100)
    var emulator = TerminalEmulator(width: 100, height: 36)
    var last = 0.0
    for line in lines.dropFirst() {
      let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any])
      let (time, kind, data) = (event[0] as? Double ?? -1, event[1] as? String, event[2] as? String ?? "")
      #expect(time >= last)
      last = time
      if kind == "r" {
        let size = data.split(separator: "x").compactMap { Int($0) }
        emulator.resize(width: size[0], height: size[1])
      } else {
        emulator.feed(Array(data.utf8))
      }
    }
    #expect(emulator.unknown == [])
    let final = try #require(session.shown.last)
    for (row, wanted) in zip(emulator.screen.rows, final.lines) { #expect(row == wanted) }
    #expect(emulator.screen.isCursorVisible == (final.cursor != nil))
  }

  @Test("What was counted is recorded as it was, and a file may not count to anything that overflows")
  func counts() throws {
    let statistics = CacheStatistics()
    var messages = RandomMessages(
      seed: 4, levels: Scene.threeLevels, operators: [OperatorRow(name: "cap", kind: "capped")])
    for _ in 0..<2_000 { statistics.record(messages.event()) }
    var counts = statistics.snapshot
    for name in counts.operators.keys {
      counts.operators[name]?.running = 3
      counts.operators[name]?.waiting = 0
    }
    let read = try JSONText(reading: Array(JSONText(recording: counts).line.utf8)[...])
    #expect(try read.recorded(CacheStatistics.Snapshot.self) == counts)
    counts.requests = 1 << 60
    #expect(throws: RecordedFault.self) { try JSONText(recording: counts).recorded(CacheStatistics.Snapshot.self) }
  }

  @Test("Values come back from JSON as they were, whatever they are made of")
  func coding() throws {
    struct Everything: Codable, Equatable {
      var whole = Int.min
      var large = UInt64.max
      var small: Int32 = -7
      var broken: [Double] = [0.1, -3, .leastNonzeroMagnitude, 1e300, .infinity, -.infinity]
      var short = Duration.nanoseconds(-5)
      var fine = Duration(secondsComponent: 3, attosecondsComponent: 1)
      var bytes: [UInt8] = [0, 15, 255]
      var none: Int?
      var list: [String?] = ["a", nil]
      var keys: [InputEvent.Key] = [
        .character("\u{301}"), .character("="), .character("\r\n"), .control("c"), .function(12), .pageUp,
      ]
      var nested: [String: [ChainPart]] = ["x": [.lanes(1, then: [.level(2)], otherwise: [])]]
    }
    let value = Everything()
    let line = JSONText(recording: value).line
    #expect(line.contains("\"bytes\":\"000fff\"") && line.contains("\"short\":-5") && !line.contains("none"))
    #expect(try JSONText(reading: Array(line.utf8)[...]).recorded(Everything.self) == value)
    for (text, fault) in [
      ("{\"whole\":\"a\"}", "whole: “a” is not a whole number"), ("{}", "“whole” is missing"),
      ("[]", "[] is not an object"),
      (
        line.replacing("000fff", with: "000ff"),
        "bytes: “000ff” is not hexadecimal, with two digits for each byte"
      ),
      (line.replacing("\"pageUp\"", with: "\"pageLeft\""), "keys[5]: there is no key “pageLeft”"),
      (line.replacing("[\"a\",", with: "[{\"b\":1},"), "list[0]: {\"b\":1} is not a text"),
      (
        line.replacing("{\"level\":", with: "{\"floor\":"),
        "nested.x[0].lanes.then[0]: “floor” is no name that is known here"
      ),
      (
        line.replacing("\"_0\":2", with: "\"_0\":true"),
        "nested.x[0].lanes.then[0].level._0: true is not a whole number"
      ),
    ] {
      let found = #expect(throws: RecordedFault.self) {
        try JSONText(reading: Array(text.utf8)[...]).recorded(Everything.self)
      }
      #expect(found?.message == fault)
    }
  }
}
