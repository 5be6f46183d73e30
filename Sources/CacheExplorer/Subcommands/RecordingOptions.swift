#if Explorer
import ArgumentParser
import ExplorerCache
import ExplorerCommands
import ExplorerState
import ExplorerText

/// Where a session is recorded.
struct RecordOptions: ParsableArguments, Sendable {
  @Option(
    help: .taking(
      "file",
      """
      Record the session into this file, from its start: everything that happens, every key, and the values that were \
      looked at; with --mask, neither keys nor values. `cache-explorer --replay FILE` shows it again.
      """), completion: .file())
  var record: String?
  @Option(
    parsing: .unconditional,
    help: .taking("size", "The size at which the recording ends, and says so, such as 1GiB; by default 256 MiB."))
  var recordLimit: String?

  var limit: Int? { recordLimit.flatMap { try? RecordVerb.limit($0) } }

  /// `others`: The options that leave the screen out.
  func check(isHeadless: Bool, by others: String = "--once and --json") throws {
    if let recordLimit {
      guard record != nil else { throw ValidationError("--record-limit needs --record FILE") }
      do { _ = try RecordVerb.limit(recordLimit) } catch {
        throw ValidationError("--record-limit: \(error.message); \(error.remedy)")
      }
    }
    if record != nil, isHeadless { throw ValidationError("--record needs the screen; leave out \(others)") }
  }
}

/// What is recorded, or replayed in place of a cache.
struct RecordingOptions: ParsableArguments, Sendable {
  @OptionGroup var target: RecordOptions
  @Option(help: .taking("file", "Show a recorded session again, picture by picture."), completion: .file())
  var replay: String?
  @Option(parsing: .unconditional, help: .taking("factor", "The speed of the replay, from 0.001 to 1000."))
  var speed = 1.0
  @Option(
    help: .taking(
      "file",
      """
      With --replay: write the session as FILE.cast for asciinema, or its last picture as FILE.svg, and exit. With a \
      demonstration: write its picture as FILE.svg.
      """), completion: .file(extensions: ["cast", "svg"]))
  var export: String?

  /// Nothing is recorded, replayed or written.
  var isEmpty: Bool { record == nil && replay == nil && export == nil }

  var record: String? { target.record }
  var limit: Int? { target.limit }

  /// `hasSession`: A configuration is given; `nil` for a demonstration, which needs none.
  func check(hasSession: Bool?, isHeadless: Bool) throws {
    try target.check(isHeadless: isHeadless)
    guard Quantity.speeds.contains(speed) else { throw ValidationError("give --speed from 0.001 to 1000") }
    if let export {
      let format = ExportFormat(file: export)
      guard format == .cast || format == .svg else {
        throw ValidationError("end the name behind --export with .cast, or with .svg for one picture")
      }
      // A demonstration has a picture without a recording.
      guard replay != nil || (hasSession == nil && format == .svg && record == nil) else {
        throw ValidationError("--export needs --replay FILE")
      }
    }
    if let export, let replay, FoundFile.areSame(export, replay) {
      throw ValidationError("--export would overwrite \(export), which is read; name another file")
    }
    if replay == nil, speed != 1 { throw ValidationError("--speed needs --replay FILE") }
    if replay != nil, record != nil { throw ValidationError("--record and --replay exclude each other; leave one out") }
    if replay != nil, hasSession == true { throw ValidationError("--replay needs no configuration; leave one out") }
    if replay == nil, hasSession == false {
      throw ValidationError("name a configuration, or a recording with --replay FILE")
    }
  }

  /// Replays, if that is asked for; whether it was.
  func replayed(_ appearance: ScreenOptions) async throws -> Bool {
    guard let replay else { return false }
    try await Session.replay(recording: replay, speed: speed, export: export, appearance: appearance)
    return true
  }
}
#endif
