import CacheEngineTesting
import CacheEngine
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// A live session on a screen in memory: keys, commands, a workload and resizes, recorded and replayed.
@Suite(.timeLimit(.minutes(10))) @MainActor struct ExplorerRecordingTests {
  private static let yaml = """
    name: recorded
    levels:
      - memory: { count: 20, expiry: 2s }
      - pooled:
          origin: { latency: 1ms, failures: 10%, size: 64 B, seed: 3 }
    """

  private func explorer(_ screen: RecordingScreen) async throws -> Explorer {
    let configuration = try ConfigurationReader.read(Self.yaml, file: "c.yaml", folder: NSTemporaryDirectory())
    let buffer = EventBuffer()
    let clock = AdjustableClock()
    let build: OpenedCache.Build = { configuration, file in
      try await CacheBuilder.build(configuration, file: file, clock: clock, observers: [buffer])
    }
    let live = try await build(configuration, "c.yaml")
    let opened = OpenedCache(configuration: configuration, file: "c.yaml", isFile: false, live: live, build: build)
    let model = Model(configuration, title: "recorded", file: "c.yaml", now: clock.now)
    return Explorer(screen: screen, opened: opened, buffer: buffer, model: model)
  }

  /// Plays the person: random keys, commands, resizes; each time until the screen has answered.
  private func play(_ screen: RecordingScreen, seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let commands = [
      "get user:1", "set a \"b c\" --ttl 1s", "warn", "filter key", "nonsense", "run zipf --rate 300 --keys 40",
      "sort size", "mark here", "get nobody", "expire --all", "log debug", "expect memory.hit >= 1%",
    ]
    let sizes = [(120, 40), (80, 24), (33, 7), (160, 50)].map { Size(width: $0.0, height: $0.1) }
    let keys: [InputEvent.Key] = [
      .tab, .down, .up, .enter, .escape, .pageDown, .character("z"), .character("s"), .character(" "), .character(","),
      .character("."), .character("L"), .character("1"), .character("3"), .character("4"), .character("5"),
      .character("6"),
      .character("?"), .escape, .character("i"), .escape, .character("v"), .character("P"), .character("d"),
      .character("n"),
    ]
    for round in 0..<40 {
      let before = screen.shown.count
      switch round % 4 {
      case 0:
        // Whatever was open is left first.
        screen.send(.key(.escape))
        screen.type(":" + (commands.randomElement(using: &generator) ?? "warn") + "\n")
      case 3 where round % 12 == 3: screen.resize(to: sizes.randomElement(using: &generator) ?? sizes[0])
      default: screen.send(.key(keys.randomElement(using: &generator) ?? .down))
      }
      try await see(screen, "an answer to round \(round)") { _ in screen.shown.count > before }
    }
    screen.send(.key(.escape))
    screen.send(.key(.escape))
    screen.type(":quit\n")
  }

  /// Waits for a picture; what is on the screen is told if none comes before the time limit.
  private func see(
    _ screen: RecordingScreen, _ what: String, where isMet: @escaping @MainActor (Canvas) -> Bool
  ) async throws {
    let canvas = await screen.canvas(where: isMet)
    _ = try #require(canvas, "no picture with \(what): \(screen.current?.rows.joined(separator: "\n") ?? "")")
  }

  @Test("The replay of a live session shows exactly the canvases that were shown", arguments: [1, 2])
  func live(seed: UInt64) async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "live.rec").path()
    let screen = RecordingScreen(size: Size(width: 120, height: 40))
    let explorer = try await explorer(screen)
    try explorer.record(to: path, limit: nil)
    let session = Task { await explorer.run(workload: WorkloadRequest(name: "zipf", rate: 200)) }
    try await play(screen, seed: seed)
    #expect(await session.value == 0)
    try await explorer.live.close()
    let recording = try Recording(opening: path)
    #expect(recording.note == nil)
    #expect(recording.isWhole)
    #expect(recording.pictures.count == screen.shown.count)
    var playback = Playback(recording)
    for (place, canvas) in screen.shown.enumerated() {
      playback.go(to: place)
      #expect(playback.failure == nil)
      let replayed = playback.canvas
      guard replayed == canvas else {
        Issue.record("picture \(place): \(zip(replayed.lines, canvas.lines).filter { $0 != $1 })")
        break
      }
    }
    #expect(screen.shown.contains { $0.lines[0].contains("● REC ") })
  }

  @Test("A recording that begins in the middle says when an entry was used, and not that it was stored then")
  func used() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "used.rec").path()
    let explorer = try await explorer(RecordingScreen(size: Size(width: 120, height: 40)))
    explorer.prepare()
    let used = explorer.model.live.now.advanced(by: .seconds(-3))
    let hit = CacheEvent(time: used, level: "memory", key: "a", kind: .hit(cost: 5, deadline: nil, .zero))
    _ = update(&explorer.model, .events([hit], lost: 0))
    _ = try explorer.beginRecording(path, limit: nil)
    explorer.recorder?.notePicture(Canvas(explorer.model.size))
    _ = try await explorer.endRecording()
    try await explorer.live.close()
    let row = try #require(Playback(try Recording(opening: path)).model.live.entries.row("a"))
    #expect(row.isPresent)
    #expect(row.created == nil)
    #expect(row.used == used)
  }

  @Test("record begins in the middle with what is listed and logged, and record off closes the file whole")
  func middle() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "middle.rec").path()
    let screen = RecordingScreen(size: Size(width: 120, height: 40))
    let explorer = try await explorer(screen)
    let session = Task { await explorer.run(workload: nil) }
    screen.type(":set first 1\n")
    try await see(screen, "step 1") { $0.lines.contains { $0.contains("✓ set first 1") } }
    screen.type(":export a.cast\n")
    try await see(screen, "step 2") { $0.lines.contains { $0.contains("nothing is being recorded; use record FILE") } }
    screen.type(":record \(path)\n")
    try await see(screen, "step 3") { $0.lines[0].contains("● REC") }
    screen.type(":record \(path)x\n")
    try await see(screen, "step 4") { $0.lines.contains { $0.contains("the session is being recorded into") } }
    screen.type(":set second 2\n")
    try await see(screen, "step 5") { $0.lines.contains { $0.contains("✓ set second 2") } }
    screen.type(":record off\n")
    try await see(screen, "step 6") { $0.lines.contains { $0.contains("✓ record off → done, recorded") } }
    #expect(screen.current?.lines[0].contains("REC") == false)
    let recording = try Recording(opening: path)
    #expect(recording.note == nil)
    #expect(!recording.isWhole)
    var playback = Playback(recording)
    #expect(playback.canvas.lines.contains { $0.contains("first") })
    #expect(recording.pictures.count > 2)
    for place in recording.pictures.indices {
      playback.go(to: place)
      #expect(playback.isAsShown(playback.canvas) == true, "picture \(place)")
    }
    let hasSecond = recording.pictures.indices.contains { place in
      playback.go(to: place)
      return playback.canvas.lines.contains { $0.contains("✓ set second 2") }
    }
    #expect(hasSecond)

    // The same session shows it, goes on meanwhile, and comes back.
    screen.type(":replay \(path)\n")
    try await see(screen, "step 7") { $0.lines.last?.contains("REPLAY") == true }
    screen.send(.key(.character("L")))
    try await see(screen, "step 8") { $0.lines.last?.hasPrefix(" ■ REPLAY") == true }
    screen.type(":export \(path).cast\nq")
    try await see(screen, "step 9") { $0.lines.contains { $0.contains(" → done, back; this") } }
    screen.type(":replay /no/such.rec\n")
    try await see(screen, "step 10") {
      $0.lines.contains { $0.contains("/no/such.rec: error: the recording cannot be read") }
    }
    screen.send(.key(.escape))
    screen.type("q")
    #expect(await session.value == 0)
    #expect(FileManager.default.fileExists(atPath: path + ".cast"))
    try await explorer.live.close()
  }

  @Test("What a replay in a live session exports is written to its end without a question, and told there")
  func exported() async throws {
    let folder = try TemporaryFolder()
    let recorded = try RecordedSession.random(8, steps: 9, in: folder)
    let (errands, cast) = (Errands(), folder.url.appending(path: "a.cast").path())
    var told: [CommandLineState.Answer] = []
    let screen = RecordingScreen(size: Size(width: 120, height: 40))
    let show = ReplayShow(try recorded.opened(), speed: 1, screen: screen, errands: errands) { told.append($0) }
    for character in ":export \(cast)" { show.post(.key(.character(character))) }
    for event: InputEvent in [.key(.enter), .key(.character("q")), .terminate(signal: 15)] { show.post(event) }
    #expect(await show.run() == 0)
    await errands.end()
    #expect(told.map(\.isGood) == [true])
    #expect(told.first?.text.hasSuffix(" written to \(cast)") == true)
    #expect(FileManager.default.fileExists(atPath: cast))
  }

  @Test("What a live session may not write, a replay within it does not write either")
  func refused() async throws {
    let folder = try TemporaryFolder()
    let recorded = try RecordedSession.random(8, steps: 9, in: folder)
    let (errands, cast) = (Errands(), folder.url.appending(path: "a.cast").path())
    var told: [String] = []
    let show = ReplayShow(
      try recorded.opened(), speed: 1, screen: RecordingScreen(size: Size(width: 120, height: 40)), errands: errands,
      tell: { told.append($0.text) }, refusal: { "\($0) is in use" })
    for character in ":export \(cast)" { show.post(.key(.character(character))) }
    for event: InputEvent in [.key(.enter), .key(.character("q")), .terminate(signal: 15)] { show.post(event) }
    #expect(await show.run() == 0)
    await errands.end()
    #expect(told == ["\(cast) is in use"])
    #expect(!FileManager.default.fileExists(atPath: cast))
  }

  @Test("What became of a file that no picture told of is told to whoever comes next")
  func untold() async throws {
    let folder = try TemporaryFolder()
    let recorded = try RecordedSession.random(8, steps: 9, in: folder)
    let screen = RecordingScreen(size: Size(width: 120, height: 40))
    var told: [String] = []
    let show = ReplayShow(try recorded.opened(), speed: 1, screen: screen) { told.append($0.text) }
    let session = Task { await show.run() }
    show.wrote("a.cast", .init(isGood: false, text: "the first failed"))
    try await see(screen, "the first one") { $0.lines.last?.contains("the first failed") == true }
    show.wrote("b.cast", .init(isGood: false, text: "the second failed"))
    show.post(.key(.character("q")))
    #expect(await session.value == 0)
    #expect(told == ["the second failed"])
  }

  @Test("A file that could not be written is told when the screen is gone, and by the status")
  func late() async throws {
    let screen = RecordingScreen()
    let explorer = try await explorer(screen)
    let session = Task { await explorer.run(workload: nil) }
    try await see(screen, "anything") { _ in true }
    let failed = CommandResult(command: "export", outcome: .error, microseconds: 0, error: "the disk is full")
    explorer.mailbox.post(.finished(failed, line: "export a.csv"))
    explorer.mailbox.post(.finished(CommandResult(command: "get", outcome: .error, microseconds: 0), line: "get a"))
    explorer.mailbox.post(.input(.key(.character("q"))))
    #expect(await session.value == 0)
    #expect(explorer.lastProblems == ["export a.csv: the disk is full"])
    #expect(explorer.concludeFiles(0) == 2 && explorer.concludeFiles(143) == 143)
    try await explorer.live.close()
  }

  @Test("A file that is only being written when the person leaves is told as well")
  func later() async throws {
    let screen = RecordingScreen()
    let explorer = try await explorer(screen)
    let session = Task { await explorer.run(workload: nil) }
    try await see(screen, "anything") { _ in true }
    explorer.answer("export", line: "export a.svg") {
      // Until the screen is closed.
      _ = await screen.canvas { _ in false }
      throw CommandFailure(message: "no room")
    }
    screen.type("q")
    #expect(await session.value == 0)
    #expect(explorer.lastProblems == ["export a.svg: no room"])
    try await explorer.live.close()
  }

  @Test("Nothing that is exported takes the place of the file that is recorded into")
  func ownRecording() async throws {
    let folder = try TemporaryFolder()
    let screen = RecordingScreen(size: Size(width: 200, height: 40))
    let explorer = try await explorer(screen)
    let session = Task { await explorer.run(workload: nil) }
    for name in ["s.cast", "s.csv", "s.svg"] {
      let path = folder.url.appending(path: name).path()
      screen.type(":record \(path)\n")
      try await see(screen, "recording \(name)") { $0.lines[0].contains("● REC") }
      screen.type(":export \(path)\n")
      try await see(screen, "the answer for \(name)") { $0.lines.contains { $0.contains("export \(path) → ") } }
      let refusal = "✕ export \(path) → failed: the session is being recorded"
      #expect(screen.current?.lines.contains { $0.contains(refusal) } == true)
      screen.type(":record off\n")
      try await see(screen, "the end of \(name)") { !$0.lines[0].contains("● REC") }
      _ = try Recording(opening: path)
    }
    screen.type("q")
    #expect(await session.value == 0)
    try await explorer.live.close()
  }

  @Test("Where there is no screen, record, replay and jump say so")
  func headless() async throws {
    let screen = RecordingScreen()
    let explorer = try await explorer(screen)
    let interpreter = Interpreter(live: explorer.live, mode: .script)
    for (line, words) in [
      ("record a.rec", "--record FILE"), ("replay a.rec", "--replay FILE"), ("jump 3s", "replay FILE"),
      ("export a.cast", "--record FILE"),
    ] {
      let result = await interpreter.run(try #require(try Verbs.parse(line)))
      #expect(result.outcome == .error)
      #expect(result.error?.contains(words) == true, "\(result.error ?? "")")
    }
    try await explorer.live.close()
  }
}
