#if Redis
import CacheEngine
package import CacheEngineRedis
import Foundation
import Synchronization

/// A machine of its own for a server, as a network namespace, with a cable between that and here, which can be cut.
///
/// What is sent over a cut cable is lost without a word: it goes to the address of a card that is not there. It needs Linux
/// and root; it goes with the test, and its number is from the range for tests of networks (RFC 2544).
package final class CuttableLink: Sendable {
  /// Why there can be none here; `nil` if there can.
  package static let whyNot: String? = {
    #if os(Linux)
    if getuid() != 0 { return "only root may make network namespaces" }
    let name = "ce\(getpid())p"
    defer { _ = run("ip netns del \(name)") }
    return run("ip netns add \(name) && ip link add \(name)h type veth peer name \(name)s netns \(name)")
      ? nil : "no network namespace can be made here: iproute2 is not installed, or a container forbids it"
    #else
    return "network namespaces are Linux's"
    #endif
  }()

  private static let count = Mutex(0)

  private let name: String
  private let (here, there): (String, String)
  /// A shell that waits on a pipe, which ends with this process however that ends, and takes the machine away.
  private let guardian = Process()
  private let pipe = Pipe()

  /// The address of the server.
  package var settings: RedisSettings { RedisSettings(.host(there, port: 6_379)) }
  var command: String { "ip netns exec \(name)" }
  var serverOptions: [String] { ["--port", "6379", "--bind", there, "--protected-mode", "no"] }

  package init() throws {
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    name = "ce\(getpid())x\(number)"
    let net = "198.18.\(getpid() % 256).\(number % 64 * 4)"
    let stem = net.split(separator: ".").prefix(3).joined(separator: ".")
    (here, there) = ("\(stem).\(number % 64 * 4 + 1)", "\(stem).\(number % 64 * 4 + 2)")
    let steps = [
      "ip netns add \(name)", "ip link add \(name)h type veth peer name \(name)s netns \(name)",
      "ip addr add \(here)/30 dev \(name)h", "ip link set \(name)h up",
      "ip -n \(name) addr add \(there)/30 dev \(name)s", "ip -n \(name) link set \(name)s up",
    ]
    guardian.executableURL = URL(fileURLWithPath: "/bin/sh")
    guardian.arguments = ["-c", "trap '' INT HUP TERM; read end; ip netns del \(name)"]
    guardian.standardInput = pipe
    (guardian.standardOutput, guardian.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try guardian.run()
    guard Self.run(steps.joined(separator: " && ")) else { throw CacheError(.simulated, "no network namespace") }
  }

  deinit {
    // It may be there for a moment yet: others may have inherited the pipe.
    do { try pipe.fileHandleForWriting.close() } catch {}
    _ = Self.run("ip netns del \(name)")
  }

  /// Which way nothing comes through any more.
  package enum Cut: CaseIterable, Sendable { case both, toServer, toClient }

  package func cut(_ cut: Cut) throws {
    let nobody = "lladdr 02:00:00:00:00:99 nud permanent"
    if cut != .toClient { try change("ip neigh replace \(there) dev \(name)h \(nobody)") }
    if cut != .toServer { try change("ip -n \(name) neigh replace \(here) dev \(name)s \(nobody)") }
  }

  package func mend() throws {
    // Whichever was cut; the other one is not there.
    try change(
      "ip neigh flush dev \(name)h nud permanent; ip -n \(name) neigh flush dev \(name)s nud permanent; true")
  }

  private func change(_ command: String) throws {
    guard Self.run(command) else { throw CacheError(.simulated, "the cable was not changed: \(command)") }
  }

  private static func run(_ command: String) -> Bool {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", command]
    (shell.standardOutput, shell.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    do { try shell.run() } catch { return false }
    shell.waitUntilExit()
    return shell.terminationStatus == 0
  }
}
#endif
