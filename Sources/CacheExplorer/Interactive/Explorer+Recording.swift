import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

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

  /// Says what became of the recording, and which files could not be written, once the screen is gone.
  ///
  /// - Returns: The exit status, which tells that something is not whole if there is nothing else to tell.
  func concludeFiles(_ exitStatus: Int32) -> Int32 {
    for problem in lastProblems { StandardStreams.complain("error: \(problem)") }
    let exitStatus = exitStatus == 0 && !lastProblems.isEmpty ? ProgramFailure.Status.usage.rawValue : exitStatus
    guard let recorder else { return exitStatus }
    let status = recorder.status
    if let problem = recorder.problem {
      StandardStreams.complain(
        "error: \(recorder.path) could not be written to its end (\(problem)); what is in it can be replayed")
      return exitStatus == 0 ? ProgramFailure.Status.usage.rawValue : exitStatus
    }
    let end = status.phase == .full ? " (its limit: what came later is not in it)" : ""
    StandardStreams.complain(
      "recorded \(Format.bytes(status.bytes))\(end); watch it with cache-explorer --replay \(recorder.path)")
    return exitStatus
  }

  /// Records from here on: what is listed, logged and shown comes with it, and counts start from zero.
  func beginRecording(_ file: String, limit: Int?) throws -> String {
    if let recorder {
      throw CommandFailure(message: "the session is being recorded into \(recorder.path); end that with record off")
    }
    let limit = limit ?? RecordingFormat.usualLimit
    let new = try Recorder(path: file, model: model, isWhole: false, limit: limit)
    for message in model.asMessages { new.note(message, from: InputState(model), to: model.mode) }
    recorder = new
    mailbox.post(.recording(new.status))
    return "at most \(Format.bytes(limit)); “record off” ends it"
  }

  func endRecording() async throws -> String {
    guard let old = recorder else {
      throw CommandFailure(message: "nothing is being recorded; record FILE starts a recording")
    }
    recorder = nil
    mailbox.post(.recording(nil))
    let status = try await BlockingWork.run { old.finish() }
    if let problem = old.problem { throw CommandFailure(message: "\(old.path) could not be written: \(problem)") }
    return "recorded \(Format.bytes(status.bytes)); see it with replay \(old.path)"
  }

  /// What no picture tells any more of files that were being written.
  var lastProblems: [String] {
    unseen.compactMap { message in
      switch message {
      case .finished(let result, let line)
      where result.outcome == .error && ["export", "record"].contains(result.command):
        "\(line ?? result.command): \(result.error ?? "")"
      default: nil
      }
    }
  }

  /// Notes how the recording does, once a second.
  func tellRecording() {
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

  func beginReplay(_ file: String, speed: Double?) async throws -> String {
    let recording = try await BlockingWork.run { try Recording(opening: file) }
    guard replay == nil else { throw CommandFailure(message: "a recording is on the screen already") }
    let show = ReplayShow(
      recording, speed: speed ?? 1, screen: screen, errands: errands,
      tell: { [self] in
        guard !$0.isGood else { return announce($0.text, level: .notice) }
        mailbox.post(
          .finished(CommandResult(command: "export", outcome: .error, microseconds: 0, error: $0.text), line: nil))
      }, refusal: { [self] in refusal(toWrite: $0) })
    replay = show
    _ = await show.run()
    replay = nil
    screen.invalidate()
    return "back; this session went on in the meantime"
  }

  func exportRecording(to file: String) async throws -> String {
    guard let recorder else {
      throw CommandFailure(message: "nothing is being recorded; use record FILE, or open a recording with replay FILE")
    }
    let target = NamedFile.target(file)
    let report = try await BlockingWork.run {
      recorder.flush()
      return try Asciicast.write(try Recording(opening: recorder.path), to: file)
    }
    return "\(report.sentence), written to \(target)"
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
    let shared = live.levels.reduce(into: [:]) { $0[$1.name] = $1.shared }
    if !shared.isEmpty { messages.append(.shared(shared)) }
    let owners = live.levels.reduce(into: [:]) { $0[$1.name] = $1.owner }
    if !owners.isEmpty { messages.append(.owners(owners)) }
    for (index, level) in live.levels.enumerated() {
      let entries = live.entries.rows.compactMap { row -> ListedEntry? in
        guard let presence = row.presence[index] else { return nil }
        return ListedEntry(
          key: row.key, cost: row.size ?? 0, created: presence.created, deadline: presence.deadline, used: row.used)
      }
      if !entries.isEmpty { messages.append(.snapshot(level: level.name, entries)) }
    }
    if !list.filter.text.isEmpty { messages.append(.filter(list.filter.text)) }
    messages.append(.sort(list.sort.word))
    if let caption { messages.append(.caption(caption)) }
    if let workload { messages.append(.workload(workload)) }
    if let content = models.content { messages.append(.models(content)) }
    if let served = self[ServedPanel.self].message { messages.append(served) }
    return messages
  }
}
