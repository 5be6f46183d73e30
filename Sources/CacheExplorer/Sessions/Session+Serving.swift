#if Explorer
import ArgumentParser
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy
import ExplorerCache
import ExplorerModel
import ExplorerText
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
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

    var configuration: CacheConfiguration
    var file: String
    var origin: ServerOrigin
    var terms: ServedCache.Terms
    var manner: Manner
    var grace: Duration
    var expectations: [Expectation]
    var appearance: ScreenOptions
  }

  /// Serves until a signal ends it.
  static func serve(_ serving: Serving) async throws {
    let isPlain = serving.manner == .plain
    let isASCII = serving.appearance.ascii
    let lines = LineWriter { StandardStreams.say(isASCII ? ASCIIGlyphs.text($0) : $0) }
    let mask = serving.appearance.keyMask
    var terms = serving.terms
    // Figures of levels are for who can ask for them.
    terms.isObserved = isPlain || !serving.expectations.isEmpty
    let isJSON = serving.manner == .json
    let isQuiet = serving.manner == .quiet
    let served = try await open(serving, terms, clock: isPlain ? AdjustableClock() : SystemClock()) { request, _ in
      guard !isQuiet else { return }
      var request = request
      if let mask { request.path = mask.name(of: request.path) }
      lines.put(isJSON ? request.jsonLine : request.plainLine)
    }
    tell(served, serving)
    let end = Ending(served.proxy, within: serving.grace)
    let commands = isPlain ? Task { await obey(served, serving, lines, end) } : nil
    let interruption = Interruption { end.begin() }
    let result = await Task { try await served.proxy.serve() }.result
    commands?.cancel()
    await end.wait()
    await lines.flush()
    if lines.lost > 0 {
      StandardStreams.complain("notice: \(Format.counted(lines.lost, "line")) came too fast to be written")
    }
    StandardStreams.complain(served.live.http?.counts.sentence ?? "")
    var failed = 0
    for expectation in serving.expectations {
      let answer = await Interpreter(OpenedCache(live: served.live), mode: .script).run(ExpectVerb(expectation))
      StandardStreams.complain(answer.sentence)
      if answer.outcome == .error { failed += 1 }
    }
    try await close(served.live)
    withExtendedLifetime(interruption) {}
    if case .failure(let error) = result {
      throw ProgramFailure(.unreachable, "error: the proxy ended by itself: \(error)")
    }
    try judge(failed: failed, of: serving.expectations.count)
  }

  static func open(
    _ serving: Serving, _ terms: ServedCache.Terms, clock: any CacheClock, observers: [any CacheObserver] = [],
    observe: @escaping @Sendable (ServedRequest, ServedExchange) -> Void
  ) async throws -> ServedCache {
    let problems = ReportedFailures()
    do {
      return try await ServedCache.open(
        serving.configuration, file: serving.file, origin: serving.origin, terms, clock: clock, observers: observers,
        report: { problems.note($0) }, observe: observe)
    } catch let error as ConfigurationFailure {
      throw ProgramFailure(.configuration, error.description)
    } catch let error as CacheError where error.code == .unreachable {
      throw ProgramFailure(.usage, "error: \(error.message)")
    }
  }

  private static func tell(_ served: ServedCache, _ serving: Serving) {
    let address = ServedAddress(host: serving.terms.settings.host, port: served.proxy.port)
    StandardStreams.complain(
      "listening at http://\(address.text) for http://\(serving.origin.authority); SIGTERM or ^C ends it")
  }

  /// Carries out commands from standard input; `quit` ends the proxy, and the end of the input does not.
  private static func obey(_ served: ServedCache, _ serving: Serving, _ lines: LineWriter, _ end: Ending) async {
    let interpreter = Interpreter(
      OpenedCache(live: served.live), mode: .interactive, isReadOnly: serving.appearance.readOnly)
    let mask = serving.appearance.keyMask
    for await line in InputLines.standardInput() {
      do {
        guard let verb = try Verbs.parse(line) else { continue }
        if verb is QuitVerb { return end.begin() }
        var result = await interpreter.run(verb, mask: mask)
        if mask != nil { result.value = nil }
        lines.put(result.sentence)
      } catch {
        lines.put("error: column \(error.column + 1): \(harmless(error.description))")
      }
    }
  }
}

/// The end of a proxy, begun once: by a signal, or by a command.
private final class Ending: Sendable {
  private let stop: @Sendable (Duration) async -> Void
  private let grace: Duration
  private let task = Mutex<Task<Void, Never>?>(nil)

  init<Store>(_ proxy: HTTPCacheProxy<Store>, within grace: Duration) {
    stop = { await proxy.stop(within: $0) }
    self.grace = grace
  }

  /// Who asks again does not want to wait.
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

/// Tells each kind of failure when it begins, and not with every request.
private final class ReportedFailures: Sendable {
  private let told = Mutex<Set<String>>([])

  func note(_ failure: HTTPCacheFailure) {
    let text = "\(failure.step.rawValue): \(failure.error)"
    let isNew = told.withLock { $0.count < 1_000 && $0.insert(text).inserted }
    guard isNew else { return }
    StandardStreams.complain(
      "warning: \(harmless(failure.uri)) could not be \(failure.step.words): \(harmless("\(failure.error)"))")
  }
}

extension HTTPCacheFailure.Step {
  fileprivate var words: String {
    switch self {
    case .read: "read from the levels"
    case .write: "stored"
    case .remove: "removed"
    case .revalidate: "refreshed in the background"
    }
  }
}
#endif
