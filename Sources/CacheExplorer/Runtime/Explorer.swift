import CacheEngine
import Dispatch

/// The interactive program: turns keys, engine events and time into messages, draws, and carries out effects.
///
/// Every task that it starts is ended before ``run(workload:)`` returns.
@MainActor
final class Explorer {
  /// Between two pictures of a busy cache.
  private static let frame = Duration.milliseconds(50)
  /// Between two looks at everything that the levels hold.
  private static let survey = Duration.seconds(1)
  /// Levels with more entries than this are not listed.
  private static let surveyLimit = 100_000

  private let screen: any Screen
  private let buffer: EventBuffer
  private let interpreter: Interpreter
  /// What was read anew and waits for a yes.
  private var pending: CacheConfiguration?
  private let models: ModelShow?
  /// How many events there were, the lost ones included.
  private var eventCount = 0
  private let mailbox = Mailbox<Message>()
  private let history: CommandHistory?
  private var model: Model
  private var commands: [UInt64: Task<Void, Never>] = [:]
  private var lastCommand: UInt64 = 0
  private var surveyor: Task<Void, Never>?
  private var exitStatus: Int32?

  init(
    screen: any Screen, opened: OpenedCache, buffer: EventBuffer, model: Model, history: CommandHistory? = nil,
    models: ModelShow? = nil
  ) {
    self.screen = screen
    self.models = models
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
    model.size = screen.size
    model.wall = live.clock.timeSinceEpoch
    draw()
    let time = tellTime()
    defer { time.cancel() }
    var sources = [Task { await readInput() }, Task { await readEvents() }, Task { await show(steps) }]
    if let models { sources.append(Task { await models.run { mailbox.post(.models($0)) } }) }
    carryOut(.refreshUsage)
    carryOut(.refreshEntries)
    if let workload { carryOut(.perform(.run(workload))) }
    while exitStatus == nil {
      for message in await mailbox.take() where exitStatus == nil {
        for effect in update(&model, message) { carryOut(effect) }
      }
      if exitStatus == nil { draw() }
    }
    for task in sources + commands.values + [surveyor].compactMap(\.self) { task.cancel() }
    screen.close()
    await interpreter.stopWorkload()
    return exitStatus ?? 0
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

  private func draw() {
    var canvas = Canvas(model.size)
    view(model, on: &canvas)
    screen.show(canvas)
  }

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .quit: exitStatus = 0
    case .redraw: screen.invalidate()
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
    case .sort(let name): mailbox.post(.sort(name))
    case .whatIf: mailbox.post(.showWhatIf)
    default: break
    }
    lastCommand += 1
    let number = lastCommand
    commands[number] = Task {
      var result = await interpreter.run(command)
      // The screen shows the rest.
      if case .whatIf = command { result.note = result.note.map { String($0.prefix { $0 != "\n" }) } }
      commands[number] = nil
      told(command, result)
      mailbox.post(.finished(result, line: line))
      mailbox.post(.usage(live.usage))
    }
  }

  /// What a command changed that no event tells.
  private func told(_ command: Command, _ result: CommandResult) {
    guard result.outcome == .ok else { return }
    switch command {
    case .fault:
      mailbox.post(.faults(live.faults))
      if let note = result.note { announce("fault \(note)", level: .warning) }
    case .speed, .advance: if let note = result.note { announce(note) }
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
      let lines = LogLine.lines(
        for: batch.events, now: live.clock.now, wall: live.clock.timeSinceEpoch, first: eventCount + batch.lost + 1)
      eventCount += batch.lost + batch.events.count
      mailbox.post(.tick(live.clock.now, wall: live.clock.timeSinceEpoch))
      mailbox.post(.events(batch.events, lost: batch.lost))
      mailbox.post(.log(lines, lost: batch.lost))
      try? await ContinuousClock().sleep(for: Self.frame)
    }
  }

  /// Tells the time at the turn of every second, so that the clock on the screen shows it.
  ///
  /// A timer of the main queue and not a task that sleeps: that wakes fewer threads, which is all that an idle screen does.
  private func tellTime() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: .main)
    let (clock, mailbox) = (live.clock, mailbox)
    let intoSecond = Int(clock.timeSinceEpoch.clampedNanoseconds % 1_000_000_000)
    timer.setEventHandler { mailbox.post(.tick(clock.now, wall: clock.timeSinceEpoch)) }
    timer.schedule(
      deadline: .now() + .nanoseconds(1_000_000_000 - intoSecond), repeating: .seconds(1), leeway: .nanoseconds(0))
    timer.resume()
    mailbox.post(.tick(clock.now, wall: clock.timeSinceEpoch))
    return timer
  }

  /// Lists what the levels hold: what was there before the program, and what events cannot tell.
  private func surveySoon() {
    guard surveyor == nil else { return }
    surveyor = Task {
      for level in live.levels {
        guard let storage = level.storage, storage.usage.count <= Self.surveyLimit else { continue }
        // A level that cannot be listed says so by itself when it is used.
        if let contents = try? await storage.contents() {
          mailbox.post(.snapshot(level: level.name, contents))
        }
      }
      try? await ContinuousClock().sleep(for: Self.survey, tolerance: .milliseconds(200))
      surveyor = nil
    }
  }
}

// MARK: Values and configurations

extension Explorer {
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
