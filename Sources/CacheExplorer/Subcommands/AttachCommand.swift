#if Explorer
import ArgumentParser
import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `cache-explorer attach SOCKET…|DIRECTORY|redis://HOST`.
struct AttachCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach", abstract: "Shows the cache of a running app, the folder of a disk level, or a Redis server.",
    discussion: """
      An app shows its cache with CacheInspector.serve(cache, at: SOCKET), to which only its own user may attach. Changes \
      are refused unless the app allows them. If an app ends and comes back, the explorer reattaches. In a directory of \
      sockets, it attaches to the one app that listens; if there are several, or several sockets are named, F shows them \
      side by side: which app holds which key, when each was told of a change, and who waits for whose load. The folder of \
      a disk level is read as it is, whether or not its program is running, and nothing in it is changed. For an encrypted \
      folder, sizes, ages, deadlines and health are shown; names and values stay hidden, since this program has no cipher. \
      An app that has the key can show them with CacheInspector.serve. A Redis or Valkey server is asked for its state \
      (INFO) and some of its keys (SCAN, MEMORY USAGE, PTTL); K shows them by prefix. Nothing in it is changed, and only \
      --monitor, or the command monitor, costs it more than that.
      """)

  @Argument(
    help: """
      The socket that the app serves, a directory of such sockets, the directory of a disk level, or the address of a \
      server: redis://user:password@host:6379/0, redis+unix:///path/to/socket.
      """,
    completion: .file())
  var places: [String]
  @Flag(help: "Watch for a moment, print one picture, and exit.") var once = false
  @Flag(help: "Like --once, with the statistics as JSON instead of the picture.") var json = false
  @Option(help: "With --once: text for the picture, json for what --json prints.") var format: ScriptRunner.Format?
  @Option(parsing: .unconditional, help: .taking("n", "For a server: how many keys to look at, from 1 to 100000."))
  var keys = 10_000
  @Option(
    parsing: .unconditional,
    help: .taking(
      "time", "For a server: listen to every command for this long, 60s at most, which slows it down considerably."),
    transform: AttachCommand.monitorLimit)
  var monitor: Duration?
  @Option(
    name: .customLong("for"), parsing: .unconditional, help: .taking("time", "How long --once watches; by default 1s."),
    transform: AttachCommand.duration)
  var moment = Duration.seconds(1)
  @OptionGroup var recording: RecordOptions
  @OptionGroup var appearance: ScreenOptions

  func validate() throws {
    try recording.check(isHeadless: once || json)
    guard (1...100_000).contains(keys) else { throw ValidationError("give --keys from 1 to 100000") }
    guard !places.isEmpty else { throw ValidationError("name a socket, a directory or redis://HOST") }
    if let place = places.first(where: { $0.contains("://") && !AttachedServer.isAddress($0) }) {
      throw ValidationError("\(place) is no address of a Redis server; write it as in redis://localhost:6379")
    }
    guard places.count == 1 || !places.contains(where: AttachedServer.isAddress) else {
      throw ValidationError("a Redis server is looked at by itself; name it alone")
    }
    guard (monitor == nil && keys == 10_000) || AttachedServer.isAddress(places[0]) else {
      throw ValidationError("--monitor and --keys are about a Redis server: name one, as redis://localhost")
    }
    guard (format == nil && moment == .seconds(1)) || once || json else {
      throw ValidationError("--format and --for need --once; add that, or leave them out")
    }
  }

  func run() async throws {
    let json = json || format == .json
    let buffer = EventBuffer(capacity: once || json ? 1 << 18 : 1 << 14)
    let attached: AttachedCache
    do {
      let place = places[0]
      if places.count > 1 || AppPlace(path: place).hasSeveral {
        attached = try await AttachedFleet.open(places, buffer: buffer)
      } else if AttachedServer.isAddress(place) {
        attached = try await AttachedServer.open(place, mostKeys: keys, buffer: buffer)
      } else if FoundFile.kind(of: place) == .directory, !AppPlace.holdsSockets(place) {
        attached = try await AttachedDirectory.open(place, buffer: buffer)
      } else {
        attached = try await AttachedApp.open(AppPlace(path: place), buffer: buffer)
      }
      if let monitor { try await listen(attached, for: monitor) }
    } catch let error as CacheError {
      let status: ProgramFailure.Status = error.code == .unreachable || error.code == .timedOut ? .unreachable : .usage
      throw ProgramFailure(status, "error: \(error.message)")
    }
    if once || json { return try await Session.once(attached, for: moment, isJSON: json, appearance, buffer) }
    try await Session.show(attached, appearance, buffer, record: recording.record, limit: recording.limit)
  }

  private func listen(_ attached: AttachedCache, for duration: Duration) async throws {
    StandardStreams.complain("notice: \(MonitoredTraffic.announcement(duration))")
    let work = Task { try await attached.live.monitor?(duration) }
    let interruption = Interruption { work.cancel() }
    let result = await work.result
    if let status = interruption.status { throw ExitCode(status) }
    if let sentence = try result.get() { StandardStreams.complain("notice: \(sentence)") }
  }

  private static func monitorLimit(_ text: String) throws -> Duration {
    do { return try MonitorVerb.limit(text) } catch { throw ValidationError("\(error.message); \(error.remedy)") }
  }

  private static func duration(_ text: String) throws -> Duration {
    do { return try Quantity.timeLimit(text) } catch { throw ValidationError("\(error.message); \(error.remedy)") }
  }
}
#endif
