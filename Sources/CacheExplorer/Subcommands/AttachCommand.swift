#if Explorer
import ArgumentParser
import CacheEngine
import ExplorerCache
import ExplorerModel
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `cache-explorer attach SOCKET|DIRECTORY`.
struct AttachCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach", abstract: "Shows the cache of a running app, or the folder of a disk level.",
    discussion: """
      An app shows its cache with CacheInspector.serve(cache, at: SOCKET), which only its own user may attach to. Changes \
      are refused unless the app allows them. An app that ends and comes back is attached again. In a directory of \
      sockets the one app that listens is attached to. A folder is read as it is, whether its program runs or not, and \
      nothing in it is changed. Of an encrypted folder sizes, ages, deadlines and health are shown; names and values stay \
      hidden, since this program has no cipher. An app that has the key shows them with CacheInspector.serve.
      """)

  @Argument(
    help: "The socket that the app serves, a directory of such sockets, or the directory of a disk level.",
    completion: .file())
  var place: String
  @Flag(help: "Look for a moment, print one picture, and leave.") var once = false
  @Flag(help: "As --once, with the statistics as JSON in place of the picture.") var json = false
  @Option(name: .customLong("for"), help: "How long --once looks: 1s.", transform: AttachCommand.duration)
  var moment = Duration.seconds(1)
  @OptionGroup var appearance: ScreenOptions

  func run() async throws {
    let buffer = EventBuffer(capacity: once || json ? 1 << 18 : 1 << 14)
    let attached: AttachedCache
    do {
      attached =
        Self.isDirectory(place) && !AppPlace.holdsSockets(place)
        ? try await AttachedDirectory.open(place, buffer: buffer)
        : try await AttachedApp.open(AppPlace(path: place), buffer: buffer)
    } catch let error as CacheError {
      let status: ProgramFailure.Status = error.code == .unreachable || error.code == .timedOut ? .unreachable : .usage
      throw ProgramFailure(status, "error: \(error.message)")
    }
    if once || json { return try await Session.once(attached, for: moment, isJSON: json, appearance, buffer) }
    try await Session.show(attached, appearance, buffer)
  }

  private static func isDirectory(_ path: String) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.type] as? FileAttributeType == .typeDirectory
  }

  private static func duration(_ text: String) throws -> Duration {
    do { return try Quantity.timeLimit(text) } catch { throw ValidationError("\(error.message); \(error.remedy)") }
  }
}
#endif
