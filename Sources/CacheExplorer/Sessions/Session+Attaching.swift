#if Explorer
import ArgumentParser
import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Session {
  /// Shows a cache that belongs to another program, and stays until the person leaves.
  @MainActor
  static func show(
    _ attached: AttachedCache, _ appearance: ScreenOptions, _ buffer: EventBuffer, record: String? = nil,
    limit: Int? = nil
  ) async throws {
    let environment = ProcessInfo.processInfo.environment
    let reason = appearance.plain ? nil : Terminal.whyPlain(environment)
    guard !appearance.plain, reason == nil || appearance.screen else {
      guard record == nil else {
        throw ProgramFailure.nothingToRecord(because: reason)
      }
      return try await tell(attached, appearance, buffer, because: reason)
    }
    let screen = try terminal(appearance, environment)
    var model = attached.model
    appearance.apply(to: &model)
    model.utcOffsetInSeconds = Int64(TimeZone.current.secondsFromGMT())
    model.size = screen.size
    let paths = ProgramPaths(environment: environment)
    let history = paths.history.map(CommandHistory.init(path:))
    let explorer = Explorer(
      screen: screen, opened: OpenedCache(live: attached.live), buffer: buffer, model: model, history: history,
      panels: paths.panels.map(PanelMemory.init(path:)), follow: attached.follow, choose: attached.choose)
    if let record {
      do { try explorer.record(to: record, limit: limit) } catch {
        screen.close()
        try await close(explorer.live)
        throw ProgramFailure(.usage, "error: \(error)")
      }
    }
    if let page = attached.page {
      for message in await attached.refresh() { explorer.mailbox.post(message) }
      explorer.mailbox.post(.input(.key(.character(page.key))))
    }
    for note in attached.notes + attached.warnings + [screen.warning].compactMap(\.self) { explorer.announce(note) }
    var status = await explorer.run(workload: nil)
    screen.close()
    status = explorer.concludeFiles(status)
    try await close(explorer.live)
    if status != 0 { throw ExitCode(status) }
  }

  /// Tells everything in sentences.
  private static func tell(
    _ attached: AttachedCache, _ appearance: ScreenOptions, _ buffer: EventBuffer, because reason: String?
  ) async throws {
    let isASCII = appearance.ascii
    let say: @Sendable (String) -> Void = { StandardStreams.say(isASCII ? ASCIIGlyphs.text($0) : $0) }
    let interpreter = Interpreter(
      OpenedCache(live: attached.live), mode: .interactive, isReadOnly: appearance.readOnly,
      onProblem: { say($0.sentence) })
    let session = PlainSession(interpreter: interpreter, buffer: buffer, mask: appearance.keyMask, say: say)
    let follower = Follower { message in
      guard case .log(let lines, _) = message else { return }
      for line in lines { say("notice: \(harmless(line.text))") }
    } use: { live in
      await interpreter.use(live)
    } pause: { pause in
      try await MainLoop.sleep(for: pause)
    }
    let status = await Interruption.during {
      if let reason { StandardStreams.complain("notice: \(reason); everything is told in sentences") }
      for note in attached.notes + attached.warnings { say(harmless(note)) }
      let levels = attached.live.levels.map(\.name).joined(separator: ", ")
      say("its levels are \(harmless(levels)); “help” tells the commands")
      let follow = Task { await attached.follow(follower) }
      await session.run(InputLines.standardInput(), workload: nil)
      follow.cancel()
      await follow.value
    }
    try await close(interpreter.current.live)
    if let status { throw ExitCode(status) }
  }

  /// Looks for a moment, prints one picture or the statistics, and leaves.
  static func once(
    _ attached: AttachedCache, for moment: Duration, isJSON: Bool, _ appearance: ScreenOptions, _ buffer: EventBuffer
  ) async throws {
    for warning in attached.warnings { StandardStreams.complain("warning: \(warning)") }
    let wait = Task { try? await ContinuousClock().sleep(for: moment) }
    let interruption = Interruption { wait.cancel() }
    await wait.value
    let news = await attached.refresh()
    if isJSON {
      StandardStreams.say(attached.report?(appearance.keyMask).line ?? attached.live.statisticsJSON)
    } else {
      let size = ScreenOptions.size(ProcessInfo.processInfo.environment)
      var model = attached.model
      if let page = attached.page {
        for message in news { _ = update(&model, message) }
        _ = update(&model, .input(.key(.character(page.key))))
      }
      StandardStreams.say(
        try await OneFrame.text(model, attached.live, buffer, size: size, appearance))
    }
    try await close(attached.live)
    if let status = interruption.status { throw ExitCode(status) }
  }
}
#endif
