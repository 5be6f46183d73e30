#if Explorer
import ArgumentParser
import CTerminalGuard
import CacheEngine
import CacheEngineHitRatio
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Opens a configuration and uses it: on the screen, or for a script.
enum Session {
  /// Where the commands of a script come from.
  enum Script: Sendable {
    /// All of them are understood before the first one is carried out.
    case commands([any Verb])
    /// Each is answered before the next one is looked at.
    case dialogue(AsyncStream<InputLines.Line>)
  }

  /// Plays commands and prints the answers.
  static func play(
    _ script: Script, on configuration: CacheConfiguration, file: String, format: ScriptRunner.Format,
    isStrict: Bool, expecting: [Expectation]
  ) async throws {
    let opened = try await open(configuration, file: file, isStrict: isStrict)
    let work = Task {
      let runner = ScriptRunner(opened: opened, format: format, print: { StandardStreams.say($0) })
      switch script {
      case .commands(let commands): return await runner.play(commands, expecting: expecting)
      case .dialogue(let lines):
        return await runner.play(lines, names: ExpectationNames(configuration), expecting: expecting)
      }
    }
    let interruption = Interruption { work.cancel() }
    let ending = await work.value
    try await close(ending.live)
    if let status = interruption.status { throw ExitCode(status) }
    try Self.judge(failed: ending.failed, of: ending.expectations)
    guard ending.refused == 0 else {
      let noun = ending.refused == 1 ? "command" : "commands"
      throw ProgramFailure(.usage, "error: \(ending.refused) \(noun) could not be carried out; the answers say why")
    }
  }

  /// - Throws: ``ProgramFailure`` with status 1 if an expectation failed.
  static func judge(failed: Int, of count: Int) throws(ProgramFailure) {
    guard failed > 0 else { return }
    let noun = count == 1 ? "expectation" : "expectations"
    throw ProgramFailure(.expectationFailed, "error: \(failed) of \(count) \(noun) failed")
  }

  /// Drives a cache with a trace, and prints the statistics of every level.
  ///
  /// - Throws: ``ProgramFailure`` if the trace cannot be read to its end.
  static func replay(
    _ request: WorkloadRequest, drive: TraceDrive, on configuration: CacheConfiguration, file: String,
    format: ScriptRunner.Format, isStrict: Bool, expecting: [Expectation]
  ) async throws {
    let workload: Workload
    let trace = StandardStreams.name(of: request.file ?? request.name)
    do { workload = try Workload(request) } catch {
      throw ProgramFailure(.usage, "\(error)")
    }
    let opened = try await open(configuration, file: file, isStrict: isStrict)
    let live = opened.live
    live.pace?.speed = drive.speed
    let work = Task { await WorkloadRunner(live: live).run(workload, requests: nil, rate: nil, clients: drive.clients) }
    let interruption = Interruption { work.cancel() }
    let report = await work.value
    // Of what never began there is nothing to report.
    if report.requests == 0, let problem = report.problem {
      try await close(live)
      throw ProgramFailure(.usage, "\(problem)")
    }
    switch format {
    case .text:
      let requests = Format.counted(report.requests, "request", isGrouped: false)
      let skipped = workload.skipped > 0 ? ", \(workload.skipped) skipped that are no reads" : ""
      let format = workload.format.map { " (\($0.rawValue))" } ?? ""
      StandardStreams.say("\(requests) of \(trace)\(format), \(report.failures) failed\(skipped)")
      StandardStreams.say(live.summary)
    case .json: StandardStreams.say(live.statisticsJSON)
    }
    let ending = await ScriptRunner(opened: opened, format: format, print: { StandardStreams.say($0) })
      .play(expecting.map(ExpectVerb.init))
    try await close(live)
    if let status = interruption.status { throw ExitCode(status) }
    if let problem = report.problem { throw ProgramFailure(.usage, "\(problem)") }
    // What is expected of no requests proves nothing, whether it holds or fails.
    guard report.requests > 0 else {
      throw ProgramFailure.noRequest(in: trace, skipped: workload.skipped)
    }
    try judge(failed: ending.failed, of: ending.expectations)
  }

  /// Prints what every policy would answer at every capacity of a level, and writes it into files.
  ///
  /// - Throws: ``ProgramFailure`` if the trace cannot be read, or a file not be written.
  static func curves(
    of trace: String, as traceFormat: TraceFormat?, on configuration: CacheConfiguration, level: String?,
    svg: String?, json: String?,
    format: ScriptRunner.Format
  ) async throws {
    for path in [svg, json].compactMap(\.self) {
      do { try NamedFile.check(path) } catch { throw ProgramFailure(.usage, "error: \(error)") }
    }
    let work = Task { try await CurveReader.report(of: trace, as: traceFormat, on: configuration, level: level) }
    let interruption = Interruption { work.cancel() }
    let result = await work.result
    if let status = interruption.status { throw ExitCode(status) }
    let report = try result.get()
    StandardStreams.say(format == .json ? report.json : report.text)
    for (path, text) in [(svg, report.svg), (json, report.json + "\n")] {
      guard let path else { continue }
      do { try NamedFile.write(text, to: path, options: []) } catch {
        throw ProgramFailure(.usage, "error: \(error)")
      }
    }
  }

  /// What is opened, and how.
  struct Show: Sendable {
    var configuration: CacheConfiguration
    var file: String
    /// A demonstration is no file that could be read again.
    var isFile = true
    var workload: WorkloadRequest?
    var steps: [DemoStep] = []
    /// What to tell first.
    var caption: String?
    var appearance: ScreenOptions
    var isStrict = false
    /// The file that the session is recorded into, and how far it may grow.
    var record: String?
    var recordLimit: Int?
  }

  /// Opens the screen, or tells everything in sentences where there is none, and stays until the person leaves.
  @MainActor
  static func show(_ show: Show) async throws {
    let environment = ProcessInfo.processInfo.environment
    let reason = show.appearance.plain ? nil : Terminal.whyPlain(environment)
    guard !show.appearance.plain, reason == nil || show.appearance.screen else {
      guard show.record == nil else {
        throw ProgramFailure.nothingToRecord(because: reason)
      }
      return try await tell(show, because: reason)
    }
    ctg_keep_few_heaps()
    let screen = try terminal(show.appearance, environment)
    let buffer = EventBuffer()
    var model = Model(
      show.configuration, title: show.configuration.name, file: show.file, isFile: show.isFile, now: SystemClock().now)
    show.appearance.apply(to: &model)
    // The first picture does not wait for the levels: a disk may have to be read.
    model.size = screen.size
    model.wall = SystemClock().timeSinceEpoch
    let paths = ProgramPaths(environment: environment)
    let panels = paths.panels.map(PanelMemory.init(path:))
    if let kept = panels?.arrangement { model.arrangement = kept }
    var canvas = Canvas(screen.size)
    view(model, on: &canvas)
    screen.show(canvas)
    let opened: OpenedCache
    do {
      opened = try await open(
        show.configuration, file: show.file, isFile: show.isFile, isStrict: show.isStrict, observers: [buffer])
    } catch {
      screen.close()
      throw error
    }
    let history = paths.history.map(CommandHistory.init(path:))
    let explorer = Explorer(
      screen: screen, opened: opened, buffer: buffer, model: model, history: history,
      panels: panels,
      models: show.configuration.models.map { ModelShow($0, clock: opened.live.clock) })
    if let file = show.record {
      do { try explorer.record(to: file, limit: show.recordLimit) } catch {
        screen.close()
        try await close(explorer.live)
        throw ProgramFailure(.usage, "error: \(error)")
      }
    }
    // What the person should know, once the screen is gone again as well as on it.
    let greeting = FirstStart.greeting(notedIn: paths.greeted)
    for note in [show.caption, screen.warning, greeting].compactMap(\.self) { explorer.announce(note) }
    var status = await explorer.run(workload: show.workload, steps: show.steps)
    screen.close()
    status = explorer.concludeFiles(status)
    try await close(explorer.live)
    if status != 0 { throw ExitCode(status) }
  }

  @MainActor
  static func terminal(
    _ appearance: ScreenOptions, _ environment: [String: String]
  ) throws(ProgramFailure) -> Terminal {
    CrashReport.prepare(environment)
    do { return try Terminal(Terminal.Options(appearance, environment)) } catch {
      throw ProgramFailure(.terminal, "error: \(error)")
    }
  }

  /// Shows a recorded session: on the screen, as a file for asciinema, or its last picture where there is no screen.
  @MainActor
  static func replay(
    recording file: String, speed: Double, export: String?, appearance: ScreenOptions
  ) async throws {
    let recording: Recording
    do { recording = try Recording(opening: file) } catch { throw ProgramFailure(.usage, error.description) }
    if let export, ExportFormat(file: export) == .svg {
      var playback = Playback(recording)
      playback.go(to: .max)
      let picture = SVGPicture(playback.canvas, title: "a session of \(recording.start.title)", theme: appearance.theme)
      do { try await Export.write(picture.text, to: export) } catch { throw ProgramFailure(.usage, "error: \(error)") }
      if let failure = playback.failure { throw ProgramFailure(.usage, failure.description) }
      return StandardStreams.say("\(export): the last picture")
    }
    if let export {
      let report: Asciicast.Report
      do { report = try Asciicast.write(recording, to: export, theme: appearance.theme) } catch {
        throw ProgramFailure(.usage, "error: \(error)")
      }
      if let note = recording.note { StandardStreams.complain("notice: \(file): \(note)") }
      if let failure = report.failure { throw ProgramFailure(.usage, failure.description) }
      return StandardStreams.say("\(export): \(report.sentence)")
    }
    let environment = ProcessInfo.processInfo.environment
    let reason = appearance.plain ? nil : Terminal.whyPlain(environment)
    guard !appearance.plain, reason == nil || appearance.screen else {
      var playback = Playback(recording)
      playback.go(to: .max)
      let size = "\(playback.model.size.width)x\(playback.model.size.height)"
      let count = "\(Format.count(recording.pictures.count)) \(recording.pictures.count == 1 ? "picture" : "pictures")"
      StandardStreams.say(
        "\(harmless(file)): a session of \(harmless(recording.start.title)), "
          + "\(Format.behind(nanoseconds: recording.length)), \(count) of \(size); the last one:")
      let canvas = playback.canvas
      StandardStreams.say((appearance.ascii ? canvas.asciiLines : canvas.lines).joined(separator: "\n"))
      if playback.failure == nil, playback.isAsShown(canvas) == false {
        StandardStreams.complain(
          "notice: \(file): this is not the picture that was shown; the file was changed, or another program made it")
      }
      if let note = recording.note { StandardStreams.complain("notice: \(file): \(note)") }
      if let failure = playback.failure { throw ProgramFailure(.usage, failure.description) }
      return
    }
    let screen = try terminal(appearance, environment)
    var problems: [String] = []
    let status = await ReplayShow(
      recording, speed: speed, screen: screen, theme: appearance.theme,
      tell: { if !$0.isGood { problems.append($0.text) } }
    ).runAlone()
    screen.close()
    for problem in problems { StandardStreams.complain("error: \(problem)") }
    if status != 0 { throw ExitCode(status) }
    if !problems.isEmpty { throw ExitCode(ProgramFailure.Status.usage.rawValue) }
  }

  /// Tells everything in sentences.
  private static func tell(_ show: Show, because reason: String?) async throws {
    let buffer = EventBuffer()
    let opened = try await open(
      show.configuration, file: show.file, isFile: show.isFile, isStrict: show.isStrict, observers: [buffer])
    let isASCII = show.appearance.ascii
    let say: @Sendable (String) -> Void = { StandardStreams.say(isASCII ? ASCIIGlyphs.text($0) : $0) }
    let session = PlainSession(
      interpreter: Interpreter(
        opened, mode: .interactive, isReadOnly: show.appearance.readOnly, onProblem: { say($0.sentence) }),
      buffer: buffer,
      mask: show.appearance.keyMask, say: say)
    let level = show.configuration.logLevel.flatMap(LogLevel.init(name:)) ?? .info
    let status = await Interruption.during {
      if let reason { StandardStreams.complain("notice: \(reason); everything is told in sentences") }
      let levels = opened.live.levels.map(\.name).joined(separator: ", ")
      say("\(harmless(show.configuration.name)) is open; its levels are \(harmless(levels)); “help” tells the commands")
      if let caption = show.caption { say(caption) }
      await session.run(InputLines.standardInput(), workload: show.workload, steps: show.steps, logLevel: level)
    }
    try await close(session.interpreter.current.live)
    if let status { throw ExitCode(status) }
  }

  /// Runs the workload to its end, prints one picture or the statistics, and leaves.
  static func once(_ show: Show, size: Size, isJSON: Bool) async throws {
    let buffer = EventBuffer(capacity: 1 << 18)
    let opened = try await open(
      show.configuration, file: show.file, isFile: show.isFile, isStrict: show.isStrict, observers: [buffer])
    let work = Task {
      let interpreter = Interpreter(opened, mode: .script, isReadOnly: show.appearance.readOnly)
      guard let workload = show.workload else { return CommandResult(command: "run", outcome: .ok, microseconds: 0) }
      return await interpreter.run(RunVerb(workload))
    }
    let interruption = Interruption { work.cancel() }
    if let notice = show.workload.flatMap(notice(of:)) { StandardStreams.complain(notice) }
    let result = await work.value
    if isJSON {
      StandardStreams.say(opened.live.statisticsJSON)
    } else {
      StandardStreams.say(try await OneFrame.text(opened, buffer, size: size, show.appearance))
    }
    try await close(opened.live)
    if let status = interruption.status { throw ExitCode(status) }
    if let error = result.error { throw ProgramFailure(.usage, "error: \(error)") }
  }

  /// How long a workload takes that its rate makes long.
  private static func notice(of workload: WorkloadRequest) -> String? {
    guard let rate = workload.rate, let requests = Interpreter.requests(of: workload) else { return nil }
    let seconds = Double(requests) / rate
    guard seconds >= 5 else { return nil }
    let count = Format.counted(requests, "request", isGrouped: false)
    let time = Format.behind(nanoseconds: Int64(min(seconds * 1e9, 9e18)))
    return "notice: \(count) at \(Format.number(rate)) a second take \(time); --requests N makes fewer"
  }

  static func open(
    _ configuration: CacheConfiguration, file: String, isFile: Bool = true, isStrict: Bool,
    observers: [any CacheObserver] = []
  ) async throws -> OpenedCache {
    let clock = AdjustableClock()
    let build: OpenedCache.Build = { configuration, file in
      try await CacheBuilder.build(configuration, file: file, clock: clock, observers: observers)
    }
    do {
      let live = try await build(configuration, file)
      if isStrict {
        let problems = await Reachability.unreachable(in: live)
        guard problems.isEmpty else {
          try await close(live)
          // What to do about it is for the level to say: it may also be a password that is wrong.
          throw ProgramFailure(
            .unreachable,
            problems.map { "error: \($0)\n" }.joined()
              + "  --strict insists on every source: see that it answers, or leave --strict out")
        }
      }
      return OpenedCache(configuration: configuration, file: file, isFile: isFile, live: live, build: build)
    } catch let error as ConfigurationFailure {
      throw ProgramFailure(.configuration, error.description)
    }
  }

  static func close(_ live: LiveCache) async throws {
    do { try await live.close() } catch { StandardStreams.complain("warning: closing the cache: \(error)") }
  }
}

extension Terminal.Options {
  init(_ appearance: ScreenOptions, _ environment: [String: String]) {
    self.init(environment: environment)
    isASCII = appearance.ascii
    theme = appearance.theme
    colors = appearance.color == .never ? .mono : nil
    ignoresNoColor = appearance.color == .always
  }
}
#endif
