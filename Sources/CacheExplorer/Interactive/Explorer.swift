import CacheEngine
import ExplorerCache
import ExplorerModel
import ExplorerText

/// The interactive program: turns keys, engine events and time into messages, draws, and carries out effects.
///
/// When ``run(workload:)`` returns, the tasks that bring keys, events and time and those of commands are cancelled; what was
/// asked of a level for the screen ends by itself, and nobody hears its answer.
@MainActor
final class Explorer {
  /// Between two pictures of a cache that is in use.
  private static let frame = Duration.milliseconds(50)
  /// Between two pictures when more happens than anybody can read: each of them is a whole new log.
  private static let busyFrame = Duration.milliseconds(200)
  /// So many events in a frame can be read.
  private static let readable = 10
  /// Between two looks at everything that the levels hold.
  private static let survey = Duration.seconds(1)
  /// Levels with more entries than this are not listed, but for what is used and looked for.
  static let surveyLimit = 100_000
  /// Looking for keys in such a level ends with so many.
  static let mostFound = 1_000

  let screen: any Screen
  private let buffer: EventBuffer
  let interpreter: Interpreter
  /// What was read anew and waits for a yes.
  var pending: CacheConfiguration?
  private let models: ModelShow?
  private let follow: Follower.Follow?
  /// How many events there were, the lost ones included.
  private var eventCount = 0
  /// What the model was told of the counts of the cache in use.
  private var told: (by: CacheStatistics?, counts: CacheStatistics.Snapshot) = (nil, .init())
  let mailbox = Mailbox<Message>()
  private let history: CommandHistory?
  var model: Model
  private var commands: [UInt64: Task<Void, Never>] = [:]
  private var lastCommand: UInt64 = 0
  private var surveyor: Task<Void, Never>?
  private var exitStatus: Int32?
  private var isPrepared = false
  var recorder: Recorder?
  /// A recorded session is on the screen in place of this one, which goes on.
  var replay: ReplayShow?
  private var isAlarmSet = false

  init(
    screen: any Screen, opened: OpenedCache, buffer: EventBuffer, model: Model, history: CommandHistory? = nil,
    models: ModelShow? = nil, follow: Follower.Follow? = nil
  ) {
    self.screen = screen
    self.models = models
    self.follow = follow
    self.buffer = buffer
    self.model = model
    self.history = history
    if let history { self.model.command.remember(all: history.lines) }
    interpreter = Interpreter(opened, mode: .interactive, isReadOnly: model.isReadOnly) { [mailbox] in
      mailbox.post(.workload($0))
    }
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
    if let follow {
      let follower = Follower(
        post: { [mailbox] in mailbox.post($0) }, use: { [interpreter] in await interpreter.use($0) },
        pause: { try await MainLoop.sleep(for: $0) })
      sources.append(Task { await follow(follower) })
    }
    carryOut(.refreshUsage)
    carryOut(.refreshEntries)
    if let workload { start(.run(workload), line: "") }
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
  func prepare() {
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
  func show(_ messages: [Message]) {
    for message in messages where exitStatus == nil {
      let message = counted(message)
      recorder?.note(message, mode: model.mode)
      for effect in update(&model, message) { carryOut(effect) }
      if case .tick = message { tellRecording() }
    }
    guard exitStatus == nil else { return }
    draw()
    tellTime()
  }

  /// A message that tells events, with what was counted since the last one.
  private func counted(_ message: Message) -> Message {
    switch message {
    // All that is counted of another cache belongs to what is shown from here on.
    case .replaced, .attachedAgain: told.by = nil
    case .events(let events, let lost, counted: nil):
      let statistics = live.statistics
      let counts = statistics.snapshot
      let new = told.by === statistics ? counts.since(told.counts) : counts
      told = (statistics, counts)
      return .events(events, lost: lost, counted: new)
    default: break
    }
    return message
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
    case .refreshWhatIf:
      Task {
        let live = live
        mailbox.post(.whatIf(await Self.reports(live.whatIf), unseen: live.unseen()))
      }
    case .readValue(let key, let level): Task { await readValue(key, level) }
    case .reload: Task { await reload() }
    case .applyReload: Task { await applyReload() }
    case .perform(let asked): start(Command(asked), line: asked.summary)
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

  func start(_ command: Command, line: String) {
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
    let mask = model.isMasked ? model.mask : nil
    commands[number] = Task {
      var result = await Self.carryOut(command, by: interpreter, mask)
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
  private nonisolated static func carryOut(
    _ command: Command, by interpreter: Interpreter, _ mask: KeyMask?
  ) async -> CommandResult {
    await interpreter.run(command, mask: mask)
  }

  /// What a command changed that no event tells.
  func told(_ command: Command, _ result: CommandResult) {
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

  func show(_ steps: [DemoStep]) async {
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
