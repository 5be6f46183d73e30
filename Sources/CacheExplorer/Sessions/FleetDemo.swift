#if Explorer
import ArgumentParser
import CacheEngine
import ExplorerCache
import ExplorerText

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

/// The demonstration `fleet`: three processes over one redis-server, all of them children of this one.
enum FleetDemo {
  static let name = "fleet"
  static let caption = "three processes over one redis-server: what one writes the others forget, and one loads for all"
  /// For so long the processes may take to begin.
  private static let patience = Duration.seconds(15)

  /// Starts the processes, shows them, and ends them.
  static func run(_ appearance: ScreenOptions, record: String?, limit: Int?) async throws {
    guard let server else {
      throw ProgramFailure(
        .unreachable,
        "error: demo fleet needs a redis-server, and none is in PATH; install it: apt-get install redis-server on "
          + "Debian and Ubuntu, dnf install valkey on Fedora, brew install redis on macOS")
    }
    let folder = try ScratchFolder.fleet.make().path
    var children: [ChildProcess] = []
    defer {
      for child in children.reversed() { child.end() }
      remove(folder)
    }
    let own = ChildProcess.ownProgram
    let sockets = ["one", "two", "three"].map { "\(folder)/\($0).sock" }
    do {
      children.append(try ChildProcess(own, ["cache-explorer", "fleet-part", server, folder]))
      for (number, socket) in sockets.enumerated() {
        children.append(
          try ChildProcess(
            own,
            [
              "cache-explorer", "fleet-part", "--name", ["one", "two", "three"][number], "--seed", "\(number + 1)",
              "--serve", socket, "\(folder)/\(socketOfServer)",
            ]))
      }
    } catch { throw ProgramFailure(.usage, "error: \(error)") }
    try await wait(for: sockets + ["\(folder)/\(socketOfServer)"], of: children)
    let buffer = EventBuffer()
    var attached: AttachedCache
    do { attached = try await AttachedFleet.open(sockets, buffer: buffer) } catch let error as CacheError {
      throw ProgramFailure(.unreachable, "error: \(error.message)")
    }
    attached.notes.append(
      "a set in one app makes the others forget: type :set item:1 hello, and look who was told when; 1 shows one app alone"
    )
    try await Session.show(attached, appearance, buffer, record: record, limit: limit)
  }

  static let socketOfServer = "redis.sock"

  private static func wait(for sockets: [String], of children: [ChildProcess]) async throws {
    let end = ContinuousClock.now + patience
    while !sockets.allSatisfy({ FileManager.default.fileExists(atPath: $0) }) {
      guard ContinuousClock.now < end, !children.contains(where: \.hasEnded) else {
        throw ProgramFailure(
          .unreachable, "error: the processes of the demonstration have not begun; start redis-server to see why")
      }
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
  }

  /// A server in `PATH`; that of Debian's redis-tools is one when it is called so.
  private static var server: String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    for name in ["redis-server", "valkey-server", "redis-check-rdb"] {
      for folder in path.split(separator: ":") where unsafe access("\(folder)/\(name)", X_OK) == 0 {
        return "\(folder)/\(name)"
      }
    }
    return nil
  }

  /// Runs the server until standard input ends, and takes its folder away.
  ///
  /// - Throws: ``ChildProcess/Failure``.
  static func runServer(_ server: String, in folder: String) throws {
    let child = try ChildProcess(
      server,
      [
        "redis-server", "--port", "0", "--unixsocket", "\(folder)/\(socketOfServer)", "--unixsocketperm", "700",
        "--dir",
        folder, "--save", "", "--appendonly", "no", "--maxmemory", "32mb", "--maxmemory-policy", "allkeys-lru",
      ])
    // The server knows nothing of its input.
    let interruption = Interruption {
      child.end(politely: false)
      remove(folder)
      StandardStreams.exit(0)
    }
    var byte: UInt8 = 0
    while unsafe read(STDIN_FILENO, &byte, 1) > 0 {}
    withExtendedLifetime(interruption) { child.end(politely: false) }
    remove(folder)
  }

  /// Nothing but a folder that was made here.
  private static func remove(_ folder: String) {
    guard let name = folder.split(separator: "/").last, ScratchFolder.isOurs(String(name)) else { return }
    try? FileManager.default.removeItem(atPath: folder)
  }
}
#endif
