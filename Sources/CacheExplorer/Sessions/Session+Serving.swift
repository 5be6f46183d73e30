#if Explorer
import ArgumentParser
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Session {
  /// A proxy over the cache of a configuration, and how it tells what it does.
  struct Serving: Sendable {
    enum Manner: Sendable {
      /// A line for every request, and commands.
      case plain
      case json
      case quiet
    }

    /// Who asks the cache, and whom it asks.
    enum Traffic: Sendable {
      /// Clients at a socket, and a server.
      case proxy(ServerOrigin, ServedCache.Terms)
      /// A demonstration, and its moments.
      case demo([DemoStep])
    }

    var configuration: CacheConfiguration
    var file: String
    var traffic: Traffic
    var manner = Manner.plain
    var grace = Duration.zero
    var expectations: [Expectation] = []
    var appearance: ScreenOptions
    /// What to tell first.
    var caption: String?
    /// The file that the session is recorded into, and how far it may grow.
    var record: String?
    var recordLimit: Int?

    var steps: [DemoStep] {
      if case .demo(let steps) = traffic { steps } else { [] }
    }
  }

  /// A cache that is asked over HTTP.
  struct Served: Sendable {
    let live: LiveCache
    let title: String
    let greeting: String
    /// Lets it be asked, until it is stopped.
    let run: @Sendable () async throws -> Void
    let stop: @Sendable (_ grace: Duration) async -> Void
  }

  /// Serves until a signal ends it, or the person on the screen does.
  @MainActor
  static func serve(_ serving: Serving) async throws {
    let reason = serving.appearance.plain ? nil : Terminal.whyPlain(ProcessInfo.processInfo.environment)
    let isShown = serving.manner == .plain && !serving.appearance.plain
    guard isShown, reason == nil || serving.appearance.screen else {
      guard serving.record == nil else {
        throw ProgramFailure.nothingToRecord(because: reason)
      }
      return try await serveWithoutScreen(serving)
    }
    try await show(serving)
  }

  /// Serves, with the explorer's screens on it.
  @MainActor
  private static func show(_ serving: Serving) async throws {
    let screen = try terminal(serving.appearance, ProcessInfo.processInfo.environment)
    let buffer = EventBuffer()
    let inbox = ServedInbox()
    let served: Served
    do {
      // What is written to standard error would stand across the screen.
      served = try await open(
        serving, isObserved: true, clock: AdjustableClock(), observers: [buffer], report: { inbox.put($0) }
      ) { _, exchange in
        inbox.put(exchange())
      }
    } catch {
      screen.close()
      throw error
    }
    var model = Model(
      serving.configuration, title: served.title, file: serving.file, isFile: false, now: SystemClock().now)
    serving.appearance.apply(to: &model)
    model.size = screen.size
    let paths = ProgramPaths(environment: ProcessInfo.processInfo.environment)
    let history = paths.history.map(CommandHistory.init(path:))
    let explorer = Explorer(
      screen: screen, opened: OpenedCache(configuration: serving.configuration, file: serving.file, live: served.live),
      buffer: buffer, model: model, history: history,
      panels: paths.panels.map(PanelMemory.init(path:))
    ) { follower in
      await inbox.follow(served.live.http) { follower.post($0) }
    }
    let work = Task { try await served.run() }
    if let file = serving.record {
      do { try explorer.record(to: file, limit: serving.recordLimit) } catch {
        screen.close()
        await served.stop(.zero)
        _ = await work.result
        try await close(served.live)
        throw ProgramFailure(.usage, "error: \(error)")
      }
    }
    // As if somebody had pressed it, so that a recording begins there too.
    explorer.mailbox.post(.served([], ServedCounts(), lost: 0))
    explorer.mailbox.post(.input(.key(.character(Page.http.key))))
    explorer.announce(served.greeting)
    if let warning = screen.warning { explorer.announce(warning) }
    let watch = Task {
      _ = await work.result
      explorer.end()
    }
    var status = await explorer.run(workload: nil, steps: serving.steps)
    screen.close()
    // Signals are the way to end it; a terminal that is gone is not.
    if [SIGTERM, SIGINT].contains(status - 128) { status = 0 }
    status = explorer.concludeFiles(status)
    await served.stop(serving.grace)
    let result = await work.result
    await watch.value
    // What failed while it ended has no screen any more.
    let mask = explorer.model.isMasked ? explorer.model.mask : nil
    for failure in inbox.take().failures { StandardStreams.complain(failure.complaint(mask)) }
    try await finish(served, serving, result)
    if status != 0 { throw ExitCode(status) }
  }

  private static func serveWithoutScreen(_ serving: Serving) async throws {
    let isPlain = serving.manner == .plain
    let isASCII = serving.appearance.ascii
    let lines = LineWriter { StandardStreams.say(isASCII ? ASCIIGlyphs.text($0) : $0) }
    let mask = serving.appearance.keyMask
    // Figures of levels are for those who can ask for them.
    let isObserved = isPlain || !serving.expectations.isEmpty
    let isJSON = serving.manner == .json
    let isQuiet = serving.manner == .quiet
    let clock: any CacheClock = isPlain ? AdjustableClock() : SystemClock()
    // What signals need is opened first: a proxy that has taken the last descriptors would not hear of them.
    let interruption = Interruption(patience: serving.grace + .seconds(1), outlivesOutput: true, nil)
    let served = try await open(
      serving, isObserved: isObserved, clock: clock, report: { StandardStreams.complain($0.complaint(mask)) }
    ) { request, _ in
      guard !isQuiet else { return }
      var request = request
      if let mask { request.path = mask.name(of: request.path) }
      lines.put(isJSON ? request.jsonLine : request.plainLine)
    }
    let end = Ending(served, within: serving.grace)
    interruption.handle { end.begin() }
    StandardStreams.complain("\(served.greeting); SIGTERM or ^C ends it")
    let commands = isPlain ? Task { await obey(served, serving, mask, lines, end) } : nil
    let result = await Task { try await served.run() }.result
    commands?.cancel()
    await end.wait()
    await lines.flush()
    if lines.lost > 0 {
      StandardStreams.complain("notice: \(Format.counted(lines.lost, "line")) came too fast to be written")
    }
    withExtendedLifetime(interruption) {}
    try await finish(served, serving, result)
  }

  /// Tells what was done, judges it, and closes the levels.
  private static func finish(_ served: Served, _ serving: Serving, _ result: Result<Void, any Error>) async throws {
    StandardStreams.complain(served.live.http?.counts.sentence ?? "")
    var failed = 0
    for expectation in serving.expectations {
      let answer = await Interpreter(OpenedCache(live: served.live), mode: .script).run(ExpectVerb(expectation))
      StandardStreams.complain(answer.sentence)
      if answer.outcome == .error { failed += 1 }
    }
    try await close(served.live)
    if case .failure(let error) = result {
      throw ProgramFailure(.unreachable, "error: the proxy ended by itself: \(error)")
    }
    try judge(failed: failed, of: serving.expectations.count)
  }

  private static func open(
    _ serving: Serving, isObserved: Bool, clock: any CacheClock, observers: [any CacheObserver] = [],
    report: @escaping @Sendable (LogLine) -> Void,
    observe: @escaping @Sendable (ServedRequest, () -> ServedExchange) -> Void
  ) async throws -> Served {
    let problems = ReportedFailures(clock: clock, report: report)
    do {
      switch serving.traffic {
      case .proxy(let origin, var terms):
        terms.isObserved = isObserved
        let served = try await ServedCache.open(
          serving.configuration, file: serving.file, origin: origin, terms, clock: clock, observers: observers,
          report: { problems.note($0) }, observe: observe)
        let address = ServedAddress(host: terms.settings.host, port: served.proxy.port)
        return Served(
          live: served.live, title: address.title(before: origin.authority),
          greeting: "listening at http://\(address.text) for \(origin.scheme)://\(origin.authority)",
          run: { try await served.proxy.serve() }, stop: { await served.proxy.stop(within: $0) })
      case .demo:
        let demo = try await ServedDemo.open(
          serving.configuration, file: serving.file, clock: clock, observers: observers, observe: observe)
        let visit = Visit(demo)
        return Served(
          live: demo.live, title: serving.configuration.name, greeting: serving.caption ?? serving.file,
          run: { await visit.run() }, stop: { _ in visit.end() })
      }
    } catch let error as ConfigurationFailure {
      throw ProgramFailure(.configuration, error.description)
    } catch let error as CacheError where error.code == .unreachable {
      throw ProgramFailure(.usage, "error: \(error.message)")
    }
  }

  /// Carries out commands from standard input; `quit` ends the proxy, and the end of the input does not, but for a demonstration.
  private static func obey(
    _ served: Served, _ serving: Serving, _ mask: KeyMask?, _ lines: LineWriter, _ end: Ending
  ) async {
    let interpreter = Interpreter(
      OpenedCache(file: serving.file, live: served.live), mode: .interactive, isReadOnly: serving.appearance.readOnly,
      onProblem: { lines.put($0.sentence) })
    let answer: @Sendable (any Verb) async -> Void = { verb in
      var result = await interpreter.run(verb, mask: mask)
      if mask != nil { result.value = nil }
      lines.put(result.sentence)
    }
    let play = Task {
      await DemoPlayer(steps: serving.steps, clock: served.live.clock).play { step in
        if let caption = step.caption { lines.put("demo: \(caption)") }
        if let verb = step.verb { await answer(verb) }
      }
    }
    for await line in InputLines.standardInput() {
      do {
        guard let verb = try Verbs.parse(line) else { continue }
        if verb is QuitVerb {
          play.cancel()
          return end.begin()
        }
        await answer(verb)
      } catch {
        lines.put("error: column \(error.column + 1): \(harmless(error.description))")
      }
    }
    if Task.isCancelled { play.cancel() }
    await play.value
    if case .demo = serving.traffic { end.begin() }
  }
}

/// The visitors of a demonstration, until somebody has seen enough.
private final class Visit: Sendable {
  private let demo: ServedDemo
  private let work: Task<Void, Never>

  init(_ demo: ServedDemo) {
    self.demo = demo
    work = Task { await demo.run() }
  }

  func run() async { await work.value }

  func end() {
    work.cancel()
    demo.breakOff()
  }
}

/// The end of a proxy, begun once: by a signal, or by a command.
private final class Ending: Sendable {
  private let stop: @Sendable (Duration) async -> Void
  private let grace: Duration
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ served: Session.Served, within grace: Duration) {
    stop = served.stop
    self.grace = grace
  }

  /// Asking again means not wanting to wait.
  func begin() {
    task.withLock { task in
      let isSecond = task != nil
      let before = task
      task = Task { [stop, grace] in
        await stop(isSecond ? .zero : grace)
        await before?.value
      }
    }
  }

  func wait() async { await task.withLock { $0 }?.value }
}

extension LogLine {
  /// For standard error.
  ///
  /// `mask`: Gives keys other names.
  fileprivate func complaint(_ mask: KeyMask?) -> String {
    "warning: \(harmless(mask?.hide(keys, in: text) ?? text))"
  }
}
#endif
