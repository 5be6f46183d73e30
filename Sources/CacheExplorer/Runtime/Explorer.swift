import CacheEngine

/// The interactive program: turns keys, engine events and time into messages, draws, and carries out effects.
///
/// Every task that it starts is ended before ``run(workload:)`` returns.
@MainActor
final class Explorer {
  /// Tells what happens to a cache that belongs to another program, until the task is cancelled.
  typealias Follow = @Sendable (@escaping @Sendable (Message) -> Void) async -> Void

  /// Between two pictures of a cache that is in use.
  private static let frame = Duration.milliseconds(50)
  /// Between two pictures when more happens than anybody can read: each of them is a whole new log.
  private static let busyFrame = Duration.milliseconds(200)
  /// So many events in a frame can be read.
  private static let readable = 10
  /// Between two looks at everything that the levels hold.
  private static let survey = Duration.seconds(1)
  /// Levels with more entries than this are not listed, but for what is used and looked for.
  private static let surveyLimit = 100_000
  /// Looking for keys in such a level ends with so many.
  private static let mostFound = 1_000

  private let screen: any Screen
  private let buffer: EventBuffer
  private let interpreter: Interpreter
  /// What was read anew and waits for a yes.
  private var pending: CacheConfiguration?
  private let models: ModelShow?
  private let follow: Follow?
  /// How many events there were, the lost ones included.
  private var eventCount = 0
  private let mailbox = Mailbox<Message>()
  private let history: CommandHistory?
  private var model: Model
  private var commands: [UInt64: Task<Void, Never>] = [:]
  private var lastCommand: UInt64 = 0
  private var surveyor: Task<Void, Never>?
  private var exitStatus: Int32?
  private var isPrepared = false
  private var recorder: Recorder?
  /// A recorded session is on the screen in place of this one, which goes on.
  private var replay: ReplayShow?
  private var isAlarmSet = false

  init(
    screen: any Screen, opened: OpenedCache, buffer: EventBuffer, model: Model, history: CommandHistory? = nil,
    models: ModelShow? = nil, follow: Follow? = nil
  ) {
    self.screen = screen
    self.models = models
    self.follow = follow
    self.buffer = buffer
    self.model = model
    self.history = history
    if let history { self.model.command.remember(all: history.lines) }
    interpreter = Interpreter(opened, mode: .interactive, isReadOnly: model.isReadOnly)
  }

  /// The cache in use; whoever runs the program closes it at the end.
  var live: LiveCache { interpreter.current.live }

  /// Runs until the person quits or the terminal ends.
  ///
  /// - Parameters:
  ///   - workload: What to run from the start.
  ///   - steps: The moments of a demonstration.
  /// - Returns: The exit status: 0, or 128 plus the signal that ended the program.
  func run(workload: WorkloadRequest?, steps: [DemoStep] = []) async -> Int32 {
    prepare()
    draw()
    defer { MainLoop.setAlarm(of: self, after: nil) {} }
    mailbox.post(tick)
    var sources = [Task { await readInput() }, Task { await readEvents() }, Task { await show(steps) }]
    if let models { sources.append(Task { await models.run { mailbox.post(.models($0)) } }) }
    if let follow { sources.append(Task { [mailbox] in await follow { mailbox.post($0) } }) }
    carryOut(.refreshUsage)
    carryOut(.refreshEntries)
    if let workload { carryOut(.perform(.run(workload))) }
    while exitStatus == nil {
      show(await mailbox.take())
    }
    for task in sources + commands.values + [surveyor].compactMap(\.self) { task.cancel() }
    screen.close()
    recorder?.finish()
    await interpreter.stopWorkload()
    return exitStatus ?? 0
  }

  /// The model is ready for its first picture, which a recording begins with.
  private func prepare() {
    guard !isPrepared else { return }
    isPrepared = true
    model.size = screen.size
    model.wall = live.clock.timeSinceEpoch
  }

  /// Leaves as if the person had quit.
  func end() {
    exitStatus = exitStatus ?? 0
    mailbox.post(.input(.resumed))
  }

  /// Writes a line of the program's own into the log pane.
  func announce(_ text: String, level: LogLevel = .notice) {
    let line = LogLine(time: live.clock.timeSinceEpoch, level: level, source: "explorer", text: text)
    mailbox.post(.log([line], lost: 0))
  }

  /// Takes in what happened, and draws once for all of it.
  private func show(_ messages: [Message]) {
    for message in messages where exitStatus == nil {
      recorder?.note(message, mode: model.mode)
      for effect in update(&model, message) { carryOut(effect) }
      if case .tick = message { tellRecording() }
    }
    guard exitStatus == nil else { return }
    draw()
    tellTime()
  }

  private func draw() {
    guard replay == nil else { return }
    var canvas = Canvas(model.size)
    view(model, on: &canvas)
    recorder?.notePicture(canvas)
    screen.show(canvas)
  }

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .quit: exitStatus = 0
    case .redraw: screen.invalidate()
    case .mouse(let isOn): screen.useMouse(isOn)
    case .theme(let theme): screen.use(theme)
    case .copy(let text): screen.copy(text)
    case .copyValue(let key, let level): Task { await copyValue(key, level) }
    case .find(let text): Task { await find(text) }
    case .suspend: screen.suspend()
    case .interrupt: for task in commands.values { task.cancel() }
    case .refreshUsage: mailbox.post(.usage(live.usage))
    case .refreshEntries: surveySoon()
    case .refreshWhatIf: Task { mailbox.post(.whatIf(await Self.reports(live.whatIf))) }
    case .readValue(let key, let level): Task { await readValue(key, level) }
    case .reload: Task { await reload() }
    case .applyReload: Task { await applyReload() }
    case .perform(let command): start(command, line: command.summary)
    case .listFiles(let word):
      Task {
        let names = await FileNames.beginning(with: word)
        mailbox.post(.files(beginning: word, names))
      }
    case .run(let line):
      do {
        history?.append(line)
        if let command = try Command.parse(line) { start(command, line: line) }
      } catch {
        mailbox.post(.rejected(line: line, reason: error.description, column: error.column))
      }
    }
  }

  private func start(_ command: Command, line: String) {
    switch command {
    case .quit: exitStatus = 0
    case .help(verb: nil): mailbox.post(.help)
    case .log(let name):
      if let level = LogLevel.allCases.first(where: { $0.name == name }) { mailbox.post(.showLog(from: level)) }
    case .mark(let text): announce(text)
    case .filter(let text): mailbox.post(.filter(text))
    case .config: mailbox.post(.showConfig)
    case .export(let file, isView: true): return exportView(to: file, line: line)
    case .sort(let name): mailbox.post(.sort(name))
    case .record, .replay: return startRecording(command, line: line)
    case .export(let file, isView: false) where ExportFormat(file: file) == .cast:
      return startRecording(command, line: line)
    case .whatIf: mailbox.post(.showWhatIf)
    default: break
    }
    lastCommand += 1
    let number = lastCommand
    commands[number] = Task {
      var result = await Self.carryOut(command, by: interpreter)
      // The screen shows the rest.
      if case .whatIf = command { result.note = result.note.map { String($0.prefix { $0 != "\n" }) } }
      commands[number] = nil
      told(command, result)
      mailbox.post(.undoable(interpreter.undoable))
      mailbox.post(.finished(result, line: line))
      mailbox.post(.usage(live.usage))
    }
  }

  /// Elsewhere: on the main actor each step of a command would wait until another batch of events is folded in and drawn.
  @concurrent
  private nonisolated static func carryOut(_ command: Command, by interpreter: Interpreter) async -> CommandResult {
    await interpreter.run(command)
  }

  /// What a command changed that no event tells.
  private func told(_ command: Command, _ result: CommandResult) {
    guard result.outcome == .ok else { return }
    switch command {
    case .fault:
      mailbox.post(.faults(live.faults))
      if let note = result.note { announce("fault \(note)", level: .warning) }
    case .speed(let speed):
      mailbox.post(.speed(speed))
      if let note = result.note { announce(note) }
    case .advance: if let note = result.note { announce(note) }
    case .load, .reload:
      let opened = interpreter.current
      guard let configuration = opened.configuration else { return }
      mailbox.post(.replaced(Replacement(configuration, file: opened.file)))
      if let note = result.note { announce(note) }
      if let workload = configuration.workload { start(.run(workload), line: "") }
    default: break
    }
  }

  private func show(_ steps: [DemoStep]) async {
    await DemoPlayer(steps: steps, clock: live.clock).play { step in
      if let caption = step.caption { mailbox.post(.caption(caption)) }
      guard let command = step.command else { return }
      await MainActor.run {
        announce("the demonstration does: \(step.line ?? "")")
        start(command, line: "")
      }
    }
  }

  private func readInput() async {
    for await event in screen.input {
      if let replay {
        replay.post(event)
        if case .resized = event { mailbox.post(.input(event)) }
        guard case .terminate = event else { continue }
      }
      if case .terminate(let signal) = event {
        exitStatus = 128 + signal
        mailbox.post(.input(event))
        return
      }
      mailbox.post(.input(event))
    }
  }

  /// Hands over what the engine did, one batch for a picture at the most.
  private func readEvents() async {
    while !Task.isCancelled {
      await buffer.waitForEvents()
      let batch = buffer.drain()
      // More lines than the log keeps need not be written.
      let told = batch.events.suffix(LogRing.capacity)
      let lines = LogLine.lines(
        for: Array(told), now: live.clock.now, wall: live.clock.timeSinceEpoch,
        first: eventCount + batch.lost + 1 + batch.events.count - told.count)
      eventCount += batch.lost + batch.events.count
      mailbox.post(tick)
      mailbox.post(.events(batch.events, lost: batch.lost))
      mailbox.post(.log(lines, lost: batch.lost))
      try? await ContinuousClock().sleep(for: batch.events.count > Self.readable ? Self.busyFrame : Self.frame)
    }
  }

  /// Tells the time at the turn of the next second, so that the clock on the screen shows it; never while the picture stands.
  ///
  /// One alarm and no task that sleeps: to wake one thread once a second is all that an idle screen does.
  private func tellTime() {
    guard model.frozen == nil else {
      isAlarmSet = false
      return MainLoop.setAlarm(of: self, after: nil) {}
    }
    guard !isAlarmSet else { return }
    isAlarmSet = true
    let intoSecond = live.clock.timeSinceEpoch.clampedNanoseconds % 1_000_000_000
    MainLoop.setAlarm(of: self, after: .nanoseconds(1_000_000_000 - intoSecond)) { [weak self] in
      guard let self, exitStatus == nil else { return }
      isAlarmSet = false
      // Not by way of the mailbox: who waits there is woken through the shared pool, by a second thread.
      show([tick])
    }
  }

  private var tick: Message { .tick(live.clock.now, wall: live.clock.timeSinceEpoch) }

  /// Lists what the levels hold: what was there before the program, and what events cannot tell.
  private func surveySoon() {
    guard surveyor == nil else { return }
    surveyor = Task {
      var unlisted: [String: Int] = [:]
      for level in live.levels {
        guard let storage = level.storage else { continue }
        guard storage.usage.count <= Self.surveyLimit else {
          unlisted[level.name] = max(0, storage.usage.count - model.live.entries.count(level: index(of: level)))
          continue
        }
        // A level that cannot be listed says so by itself when it is used.
        if let contents = try? await storage.contents() {
          mailbox.post(.snapshot(level: level.name, contents))
        }
      }
      mailbox.post(.unlisted(unlisted))
      try? await ContinuousClock().sleep(for: Self.survey, tolerance: .milliseconds(200))
      surveyor = nil
    }
  }
}

// MARK: Values and configurations

extension Explorer {
  private func index(of level: LiveCache.Level) -> Int { model.live.index(ofLevel: level.name) ?? 0 }

  /// Looks for keys in the levels that have too many to be listed.
  private func find(_ text: String) async {
    let search = TextSearch(text, canInvert: false)
    for level in live.levels {
      guard let storage = level.storage, storage.usage.count > Self.surveyLimit,
        let contents = try? await storage.contents()
      else { continue }
      let found = contents.lazy.filter { search.matches($0.key) }.prefix(Self.mostFound)
      mailbox.post(.found(level: level.name, Array(found)))
    }
  }

  private func copyValue(_ key: String, _ name: String?) async {
    var result = CommandResult(command: "copy", outcome: .ok, microseconds: 0)
    do {
      let text = try await valueAsText(key, name)
      screen.copy(text)
      result.note = "copied \(Format.bytes(text.utf8.count))"
    } catch {
      result.outcome = .error
      result.error = String(describing: error)
    }
    mailbox.post(.finished(result))
  }

  /// A value that can be pasted without harm: text without control characters but line ends and tabs.
  private func valueAsText(_ key: String, _ name: String?) async throws -> String {
    for level in live.levels where level.storage != nil && (name == nil || level.name == name) {
      guard let value = try await level.storage?.get(level.storedKey(key)) else { continue }
      guard value.count <= Terminal.mostCopied else {
        throw CommandFailure(
          message: "the value has \(Format.bytes(value.count)); a clipboard takes \(Format.bytes(Terminal.mostCopied))")
      }
      guard let text = String(validating: value, as: UTF8.self) else {
        throw CommandFailure(message: "the value is not text; v shows its bytes")
      }
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        line.split(separator: "\t", omittingEmptySubsequences: false).map { harmless(String($0)) }.joined(
          separator: "\t")
      }
      return lines.joined(separator: "\n")
    }
    throw CommandFailure(message: "no level holds the value any more")
  }

  private func exportView(to file: String, line: String) {
    let model = model
    Task {
      var result = CommandResult(command: "export", outcome: .ok, microseconds: 0)
      do {
        guard let format = ExportFormat(file: file), let export = ViewExport(model, as: format) else {
          throw CommandFailure(message: "this panel has no rows to write; end the name with .txt for the picture")
        }
        try await Export.write(export.text, to: file)
        result.note = "\(export.summary) written to \(file)"
      } catch {
        result.outcome = .error
        result.error = String(describing: error)
      }
      mailbox.post(.finished(result, line: line))
    }
  }

  /// What was noted is worked through where nobody draws.
  @concurrent
  private static func reports(_ whatIf: HitRatioObserver) async -> [HitRatioReport] { whatIf.reports }

  /// Reads a value where it lies, past counters and observers: to look changes no figure.
  private func readValue(_ key: String, _ name: String?) async {
    var sight = ValueSight(key: key, level: name)
    let levels = live.levels.filter { $0.storage != nil && (name == nil || $0.name == name) }
    sight.content = .absent
    for level in levels {
      do {
        guard let value = try await level.storage?.get(level.storedKey(key)) else { continue }
        sight.level = level.name
        sight.content = .bytes(Array(value.prefix(ValueSight.mostBytes)), of: value.count)
        break
      } catch {
        sight.content = .failed(String(describing: error))
      }
    }
    mailbox.post(.value(sight))
  }

  private func reload() async {
    let opened = interpreter.current
    if let refusal = opened.live.refusal(.reload) { return mailbox.post(.finished(Self.failure(refusal))) }
    guard opened.isFile, let current = opened.configuration else {
      return mailbox.post(.finished(Self.failure("a demonstration has no file to read again")))
    }
    do {
      let configuration = try await BlockingWork.run { try ConfigurationFile.load(opened.file) }
      pending = configuration
      mailbox.post(.planned(.changes(current.changes(to: configuration))))
    } catch let failure as ConfigurationFailure {
      mailbox.post(.planned(.refused(failure.problems)))
    } catch {
      mailbox.post(.finished(Self.failure(String(describing: error))))
    }
  }

  private func applyReload() async {
    guard let next = pending else { return }
    pending = nil
    let result = await interpreter.use(next, file: interpreter.current.file, for: "reload")
    told(.reload, result)
    mailbox.post(.finished(result))
  }

  private static func failure(_ text: String) -> CommandResult {
    var result = CommandResult(command: "reload", outcome: .error, microseconds: 0)
    result.error = text
    return result
  }
}

// MARK: Recordings

extension Explorer {
  /// Records the session from its start, before anything is shown.
  ///
  /// - Throws: ``CommandFailure`` if the file cannot be made.
  func record(to file: String, limit: Int?) throws(CommandFailure) {
    prepare()
    recorder = try Recorder(
      path: file, model: model, isWhole: true, limit: limit ?? RecordingFormat.usualLimit)
    mailbox.post(.recording(recorder?.status))
  }

  /// What is to be said of the recording once the screen is gone.
  var recordingReport: String? {
    guard let recorder else { return nil }
    let status = recorder.status
    let end = status.phase == .full ? " (its limit: what came later is not in it)" : ""
    if let problem = recorder.problem { return "warning: \(recorder.path) could not be written to its end: \(problem)" }
    return "recorded \(Format.bytes(status.bytes))\(end); watch it with cache-explorer --replay \(recorder.path)"
  }

  private func startRecording(_ command: Command, line: String) {
    Task {
      var result = CommandResult(command: command.verb, outcome: .ok, microseconds: 0)
      do {
        switch command {
        case .record(let file?, let limit): result.note = try beginRecording(file, limit: limit)
        case .record(nil, _): result.note = try await endRecording()
        case .replay(let file, let speed): result.note = try await beginReplay(file, speed: speed)
        case .export(let file, _): result.note = try await exportRecording(to: file)
        default: break
        }
      } catch {
        (result.outcome, result.error) = (.error, String(describing: error))
      }
      mailbox.post(.finished(result, line: line))
    }
  }

  /// Records from here on: what is listed, logged and shown comes with it, and counts begin anew.
  private func beginRecording(_ file: String, limit: Int?) throws -> String {
    if let recorder {
      throw CommandFailure(message: "the session is recorded into \(recorder.path); end that with record off")
    }
    let limit = limit ?? RecordingFormat.usualLimit
    let new = try Recorder(path: file, model: model, isWhole: false, limit: limit)
    for message in model.asMessages { new.note(message, mode: .normal) }
    recorder = new
    mailbox.post(.recording(new.status))
    return "at most \(Format.bytes(limit)); “record off” ends it"
  }

  private func endRecording() async throws -> String {
    guard let old = recorder else {
      throw CommandFailure(message: "nothing is recorded; record FILE begins it")
    }
    recorder = nil
    mailbox.post(.recording(nil))
    let status = try await BlockingWork.run { old.finish() }
    if let problem = old.problem { throw CommandFailure(message: "\(old.path) could not be written: \(problem)") }
    return "recorded \(Format.bytes(status.bytes)); see it with replay \(old.path)"
  }

  /// Notes how the recording does, once a second.
  private func tellRecording() {
    guard let recorder else { return }
    let status = recorder.status
    guard status != model.recording else { return }
    mailbox.post(.recording(status))
    guard status.phase != model.recording?.phase else { return }
    switch status.phase {
    case .going: break
    case .full:
      announce(
        "the recording has reached its limit of \(Format.bytes(recorder.limit)) and holds nothing of what follows",
        level: .warning)
    case .broken: announce("the recording has stopped: \(recorder.problem ?? "it cannot be written")", level: .error)
    }
  }

  private func beginReplay(_ file: String, speed: Double?) async throws -> String {
    let recording = try await BlockingWork.run { try Recording(opening: file) }
    guard replay == nil else { throw CommandFailure(message: "a recording is on the screen already") }
    let show = ReplayShow(recording, speed: speed ?? 1, screen: screen)
    replay = show
    _ = await show.run()
    replay = nil
    screen.invalidate()
    return "back; this session went on meanwhile"
  }

  private func exportRecording(to file: String) async throws -> String {
    guard let recorder else {
      throw CommandFailure(message: "nothing is recorded; begin with record FILE, or open a recording with replay FILE")
    }
    let report = try await BlockingWork.run {
      recorder.flush()
      return try Asciicast.write(try Recording(opening: recorder.path), to: file)
    }
    return "\(report.sentence), written to \(file)"
  }
}

extension Model {
  /// What the model knows of the cache as far as messages can tell it: for a recording that begins here.
  fileprivate var asMessages: [Message] {
    var messages: [Message] = [.tick(live.now, wall: wall)]
    messages.append(.log(live.log.numbers.compactMap { live.log[$0] }, lost: live.log.lost))
    messages.append(
      .usage(
        live.levels.reduce(into: [:]) { usages, level in
          if let usage = level.usage { usages[level.name] = usage }
        }))
    for (index, level) in live.levels.enumerated() {
      let entries = live.entries.rows.compactMap { row -> EntrySummary<String>? in
        guard let presence = row.presence[index] else { return nil }
        return EntrySummary(
          key: row.key, cost: row.size ?? 0, created: presence.created ?? row.lastTouch, deadline: presence.deadline)
      }
      if !entries.isEmpty { messages.append(.snapshot(level: level.name, entries)) }
    }
    if !list.filter.text.isEmpty { messages.append(.filter(list.filter.text)) }
    messages.append(.sort(list.sort.word))
    if let caption { messages.append(.caption(caption)) }
    if let content = models.content { messages.append(.models(content)) }
    return messages
  }
}
