import CTerminalGuard
import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerTerminal
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
  /// Up to this many events in a frame are few.
  private static let few = 10
  /// Levels with more entries than this are not listed, except for entries that are used or looked for.
  static let surveyLimit = 100_000
  /// Looking for keys in such a level ends with so many.
  static let mostFound = 1_000

  let screen: any Screen
  private let buffer: EventBuffer
  let interpreter: Interpreter
  /// What was read again and waits for a yes.
  var pending: CacheConfiguration?
  private let models: ModelShow?
  private let follow: Follower.Follow?
  let choose: (@Sendable (Int) -> Void)?
  /// How many events there were, the lost ones included.
  private var eventCount = 0
  /// What the model was told of the counts of the cache in use.
  private var told: (by: CacheStatistics?, counts: CacheStatistics.Snapshot) = (nil, .init())
  let mailbox = Mailbox<Message>()
  let history: CommandHistory?
  let panels: PanelMemory?
  var model: Model
  /// Commands that run; ^C ends them.
  let commands = Errands()
  /// What keys and commands ask of the screen, and the screen of the cache.
  let errands = Errands()
  var (isSurveying, isSurveyDue) = (false, false)
  /// Between two looks at everything that the levels hold.
  var surveyPause = Duration.seconds(1)
  var exitStatus: Int32?
  /// What came too late for a picture.
  private(set) var unseen: [Message] = []
  private var isPrepared = false
  var recorder: Recorder?
  /// A recorded session is on the screen in place of this one, which goes on.
  var replay: ReplayShow?
  private var isAlarmSet = false
  private var pace = PicturePace()
  /// Hold the alarms of the next picture, and of the next one that differs although nothing happened.
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
    interpreter = Interpreter(
      opened, mode: .interactive, isReadOnly: model.isReadOnly,
      onProblem: { [mailbox] in mailbox.post(.finished($0, line: "")) }
    ) { [mailbox] workload in
      mailbox.post(.workload(workload))
      // What the requests took on their way lies free between what stays.
      if workload == nil { ctg_give_memory_back() }
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
    unseen += mailbox.takeAtOnce()
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
    guard exitStatus == nil else { return unseen += messages }
    drawInTime(isAsked: !messages.allSatisfy(\.isNews))
    tellTime()
    // Whatever else is drawn meanwhile is such a step as well.
    MainLoop.setAlarm(of: nextStep, after: model.nextStep) { [weak self] in
      if let self, exitStatus == nil { show([tick]) }
    }
  }

  /// Draws what somebody asked for at once, and no more pictures than can be read of what happens by itself.
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
    guard !model.isFrozen else {
      isAlarmSet = false
      return MainLoop.setAlarm(of: self, after: nil) {}
    }
    guard !isAlarmSet else { return }
    isAlarmSet = true
    // A clock of another speed has no turn to wait for.
    let intoSecond = model.speed == 1 ? live.clock.timeSinceEpoch.clampedNanoseconds % 1_000_000_000 : 0
    MainLoop.setAlarm(of: self, after: .nanoseconds(1_000_000_000 - intoSecond)) { [weak self] in
      guard let self, exitStatus == nil else { return }
      isAlarmSet = false
      // Not through the mailbox: whoever waits there is woken through the shared pool, by a second thread.
      show([tick])
    }
  }

  private var tick: Message { .tick(live.clock.now, wall: live.clock.timeSinceEpoch) }
}
