import CTerminalGuard
import CacheEngine
import ExplorerCache
import ExplorerModel
import ExplorerState
import ExplorerText

/// The interactive program: turns keys, engine events and time into messages, draws, and carries out effects.
///
/// When ``run(workload:steps:)`` returns, no task runs that was started here: what brings keys, events and time, commands, and
/// what was asked of levels for the screen is cancelled and waited for.
@MainActor
final class Explorer {
  /// Between two looks at what happened in a cache that is in use.
  private static let frame = Duration.milliseconds(50)
  /// The same when much happens.
  private static let busyFrame = Duration.milliseconds(200)
  /// Between two pictures of what travels from level to level.
  private static let step = Duration.milliseconds(125)
  /// So many events in a frame are few.
  private static let few = 10
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
  private let choose: (@Sendable (Int) -> Void)?
  /// How many events there were, the lost ones included.
  private var eventCount = 0
  /// What the model was told of the counts of the cache in use.
  private var told: (by: CacheStatistics?, counts: CacheStatistics.Snapshot) = (nil, .init())
  let mailbox = Mailbox<Message>()
  private let history: CommandHistory?
  private let panels: PanelMemory?
  var model: Model
  /// Commands that run; ^C ends them.
  private let commands = Errands()
  /// What keys and commands ask of the screen, and the screen of the cache.
  let errands = Errands()
  var (isSurveying, isSurveyDue) = (false, false)
  /// Between two looks at everything that the levels hold.
  var surveyPause = Duration.seconds(1)
  private var exitStatus: Int32?
  private var isPrepared = false
  var recorder: Recorder?
  /// A recorded session is on the screen in place of this one, which goes on.
  var replay: ReplayShow?
  private var isAlarmSet = false
  private var pace = PicturePace()
  /// Hold the alarms of the next picture, and of the next one on which something has travelled on.
  private let (nextPicture, nextStep) = (Errands(), Errands())

  init(
    screen: any Screen, opened: OpenedCache, buffer: EventBuffer, model: Model, history: CommandHistory? = nil,
    panels: PanelMemory? = nil, models: ModelShow? = nil, follow: Follower.Follow? = nil,
    choose: (@Sendable (Int) -> Void)? = nil
  ) {
    self.screen = screen
    self.models = models
    self.follow = follow
    self.choose = choose
    self.buffer = buffer
    self.model = model
    self.history = history
    self.panels = panels
    if let kept = panels?.arrangement {
      self.model.arrangement = kept
      self.model.focus = self.model.firstFocus
    }
    self.model.command.grammar = .commandLine
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
    if let problem = panels?.problem { announce(problem, level: .warning) }
    draw(isAsked: true)
    ctg_give_memory_back()
    defer {
      MainLoop.setAlarm(of: self, after: nil) {}
      MainLoop.setAlarm(of: nextPicture, after: nil) {}
      MainLoop.setAlarm(of: nextStep, after: nil) {}
    }
    mailbox.post(tick)
    var sources = [Task { await readInput() }, Task { await readEvents() }, Task { await show(steps) }]
    if let models { sources.append(Task { await models.run { mailbox.post(.models($0)) } }) }
    if let follow {
      let follower = Follower(
        post: { [mailbox] in mailbox.post($0) }, use: { await self.use($0) },
        pause: { try await MainLoop.sleep(for: $0) })
      sources.append(Task { await follow(follower) })
    }
    carryOut(.refreshUsage)
    carryOut(.refreshEntries)
    if let workload { start(RunVerb(workload), line: "") }
    while exitStatus == nil {
      show(await mailbox.take())
    }
    for task in sources { task.cancel() }
    commands.cancel()
    errands.cancel()
    screen.close()
    for task in sources { await task.value }
    await commands.end()
    await errands.end()
    recorder?.finish()
    await interpreter.stopWorkload()
    return exitStatus ?? 0
  }

  /// Shows another app, or one that is there again: what was counted before belongs to no picture.
  func use(_ live: LiveCache) async {
    await interpreter.use(live)
    told = (live.statistics, live.statistics.snapshot.withoutStates)
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
      for effect in update(&model, message, notedBy: recorder) { carryOut(effect) }
      if case .tick = message { tellRecording() }
    }
    guard exitStatus == nil else { return }
    drawInTime(isAsked: !messages.allSatisfy(\.isNews))
    tellTime()
    // A step of what travels; whatever else is drawn meanwhile is one as well.
    MainLoop.setAlarm(of: nextStep, after: model.isMoving ? Self.step : nil) { [weak self] in
      if let self, exitStatus == nil { show([tick]) }
    }
  }

  /// Draws at once what somebody asked for, and of what happens by itself no more pictures than can be read.
  private func drawInTime(isAsked: Bool) {
    guard let wait = pace.wait(isAsked: isAsked, at: .now) else { return draw(isAsked: isAsked) }
    MainLoop.setAlarm(of: nextPicture, after: wait) { [weak self] in
      if let self, exitStatus == nil { draw(isAsked: false) }
    }
  }

  /// A message that tells events, with what was counted since the last one.
  private func counted(_ message: Message) -> Message {
    switch message {
    // All that is counted of another cache belongs to what is shown from here on.
    case .replaced: told.by = nil
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

  private func draw(isAsked: Bool) {
    guard replay == nil else { return }
    MainLoop.setAlarm(of: nextPicture, after: nil) {}
    var canvas = Canvas(model.size)
    view(model, on: &canvas)
    recorder?.notePicture(canvas)
    let before = screen.bytesWritten
    screen.show(canvas)
    pace.drew(screen.bytesWritten - before, isAsked: isAsked, at: .now)
  }

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .quit: exitStatus = 0
    case .redraw: screen.invalidate()
    case .keepArrangement(let arrangement):
      if let problem = panels?.keep(arrangement) { announce(problem, level: .warning) }
    case .mouse(let isOn): screen.useMouse(isOn)
    case .theme(let theme): screen.use(theme)
    case .copy(let text): screen.copy(text)
    case .copyValue(let key, let level): answer("copy") { try await self.copyValue(key, level) }
    case .find(let text): errands.begin { await self.find(text) }
    case .suspend: screen.suspend()
    case .interrupt: commands.cancel()
    case .refreshUsage: tellUsage()
    case .refreshEntries: surveySoon()
    case .refreshWhatIf:
      errands.begin {
        let live = self.live
        self.mailbox.post(.whatIf(await Self.reports(live.whatIf), unseen: live.unseen()))
      }
    case .readValue(let key, let level): errands.begin { await self.readValue(key, level) }
    case .readVariants(let key):
      errands.begin { self.mailbox.post(.variants(key: key, await self.live.http?.variants(key) ?? [])) }
    case .chooseApp(let app): choose?(app)
    case .reload: errands.begin { await self.reload() }
    case .applyReload: errands.begin { await self.applyReload() }
    case .perform(let asked): start(Verbs.verb(for: asked), line: asked.summary)
    case .listFiles(let word):
      errands.begin { self.mailbox.post(.files(beginning: word, await FileNames.beginning(with: word))) }
    case .run(let line):
      do {
        history?.append(line)
        if let verb = try Verbs.parse(line) { start(verb, line: line) }
      } catch {
        mailbox.post(.rejected(line: line, reason: error.description, column: error.column))
      }
    }
  }

  func start(_ verb: any Verb, line: String) {
    if let request = verb.request, carryOut(request, line: line) == .whole { return }
    let mask = model.isMasked ? model.mask : nil
    commands.begin {
      var result = await Self.carryOut(verb, by: self.interpreter, mask)
      // The screen shows the rest.
      if verb.isShownOnScreen { result.note = result.note.map { String($0.prefix { $0 != "\n" }) } }
      self.told(verb, result)
      self.mailbox.post(.undoable(self.interpreter.undoable))
      self.mailbox.post(.finished(result, line: line))
      self.tellUsage()
    }
  }

  private func tellUsage() {
    mailbox.post(.usage(live.usage))
    let shared = live.shared
    if !shared.isEmpty { mailbox.post(.shared(shared)) }
    let owners = live.owners
    if !owners.isEmpty { mailbox.post(.owners(owners)) }
  }

  /// Elsewhere: on the main actor each step of a command would wait until another batch of events is folded in and drawn.
  @concurrent
  private nonisolated static func carryOut(
    _ verb: any Verb, by interpreter: Interpreter, _ mask: KeyMask?
  ) async -> CommandResult {
    await interpreter.run(verb, mask: mask)
  }

  /// How much of a command the screen has done.
  private enum Share { case part, whole }

  /// Does what a command asks of the screen.
  @discardableResult
  private func carryOut(_ request: ScreenRequest, line: String) -> Share {
    switch request {
    case .show(let message): mailbox.post(message)
    case .tell(let message):
      mailbox.post(message)
      let verb = String(line.drop { $0 == " " }.prefix { $0 != " " })
      mailbox.post(.finished(CommandResult(command: verb, outcome: .ok, microseconds: 0), line: line))
      return .whole
    case .announce(let text, let level): announce(text, level: level)
    case .start(let workload): start(RunVerb(workload), line: "")
    case .leave: exitStatus = 0
    case .record(let file?, let limit):
      answer("record", line: line) { try self.beginRecording(file, limit: limit) }
      return .whole
    case .record(nil, _):
      answer("record", line: line) { try await self.endRecording() }
      return .whole
    case .replay(let file, let speed):
      answer("replay", line: line) { try await self.beginReplay(file, speed: speed) }
      return .whole
    case .exportRecording(let file):
      answer("export", line: line) { try await self.exportRecording(to: file) }
      return .whole
    case .exportView(let file):
      let model = model
      answer("export", line: line) { try await Self.export(model, to: file) }
      return .whole
    }
    return .part
  }

  /// Does what only the screen can, and answers as a command does.
  ///
  /// `line`: As it was typed; `nil` if nobody did.
  func answer(_ verb: String, line: String? = nil, _ work: @escaping @MainActor () async throws -> String) {
    errands.begin {
      var result = CommandResult(command: verb, outcome: .ok, microseconds: 0)
      do { result.note = try await work() } catch {
        (result.outcome, result.error) = (.error, String(describing: error))
      }
      self.mailbox.post(.finished(result, line: line))
    }
  }

  /// What a command changed that no event tells.
  func told(_ verb: any Verb, _ result: CommandResult) {
    guard result.outcome == .ok || result.hasStartedOver else { return }
    for news in verb.news(of: result, in: interpreter) { carryOut(news, line: "") }
  }

  func show(_ steps: [DemoStep]) async {
    await DemoPlayer(steps: steps, clock: live.clock).play { step in
      if let caption = step.caption {
        mailbox.post(.caption(caption))
        // Where the window is too narrow for it, the log has it whole.
        await MainActor.run { announce(caption) }
      }
      guard let verb = step.verb else { return }
      await MainActor.run {
        announce("the demonstration does: \(step.line ?? "")")
        start(verb, line: "")
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

  /// Hands over what the engine did, in batches.
  private func readEvents() async {
    var last = ContinuousClock.now
    while !Task.isCancelled {
      await buffer.waitForEvents()
      let batch = buffer.drain()
      let passed = last.duration(to: .now)
      last = .now
      pace.note(batch.events.count + batch.lost, in: max(passed, Self.frame))
      // More lines than the log keeps need not be written.
      let told = batch.events.suffix(LogRing.capacity)
      let lines = LogLine.lines(
        for: Array(told), now: live.clock.now, wall: live.clock.timeSinceEpoch,
        first: eventCount + batch.lost + 1 + batch.events.count - told.count, levels: live.levels)
      eventCount += batch.lost + batch.events.count
      mailbox.post(tick)
      mailbox.post(.events(batch.events, lost: batch.lost))
      mailbox.post(.log(lines, lost: batch.lost))
      try? await ContinuousClock().sleep(for: batch.events.count > Self.few ? Self.busyFrame : Self.frame)
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
}
