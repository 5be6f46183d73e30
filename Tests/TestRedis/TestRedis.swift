#if Redis
import CacheEngine
package import CacheEngineRedis
import CacheEngineTesting
import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

#if canImport(Darwin)
private let sendSignal = Darwin.kill
#else
private let sendSignal = Glibc.kill
#endif

/// Whether nobody listens at a port of this machine.
private func isFree(_ port: Int) -> Bool {
  let stream = SOCK_STREAM
  #if canImport(Darwin)
  let type = stream
  #else
  let type = Int32(stream.rawValue)
  #endif
  let descriptor = socket(AF_INET, type, 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = UInt16(port).bigEndian
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  let size = socklen_t(MemoryLayout<sockaddr_in>.size)
  return unsafe withUnsafePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) } == 0
  }
}

/// A redis-server of a test's own, at a socket in a temporary folder, with whatever else its options say; it goes with the test, and with the process.
package final class TestRedis: Sendable {
  /// A server, or the binary of Debian's redis-tools, which is one when it is called so.
  private static let program: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
    for name in ["redis-server", "valkey-server", "redis-check-rdb"] {
      for folder in folders {
        let path = "\(folder)/\(name)"
        if FileManager.default.isExecutableFile(atPath: path) { return path }
      }
    }
    return nil
  }()

  package static var isInstalled: Bool { program != nil }
  package static let whyNot = "there is no redis-server here: on Debian, apt-get install redis-tools"

  /// A port of this machine at which nobody listens now, nor at the one that a cluster has above it.
  package static func freePort() throws -> Int {
    for _ in 0..<200 {
      let port = Int.random(in: 20_000..<30_000)
      if isFree(port), isFree(port + 10_000) { return port }
    }
    throw CacheError(.simulated, "no port is free")
  }

  package let folder: String
  private let options: [String]
  /// Where its network is, if not here.
  private let link: CuttableLink?
  private struct Running {
    var shell: Process
    var pipe: Pipe
    var pid: pid_t
  }
  private let running = Mutex<Running?>(nil)

  package var socket: String { folder + "/s" }

  package init(_ options: [String], at link: CuttableLink? = nil) async throws {
    folder = try makeShortFolder("redis")
    self.options = options + (link?.serverOptions ?? [])
    self.link = link
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/redis-server", withDestinationPath: Self.program ?? "")
    try await start()
  }

  package convenience init(_ options: String...) async throws { try await self.init(options) }

  deinit {
    kill()
    do { try FileManager.default.removeItem(atPath: folder) } catch {}
  }

  /// Starts the server, empty, and waits until it answers.
  package func start() async throws {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    // The shell waits on a pipe, which ends with this process however that ends.
    let command =
      "\(link?.command ?? "") \"$0/redis-server\" --port 0 --unixsocket \"$0/s\" --dir \"$0\" --save '' --loglevel warning \"$@\" >\"$0/log\" 2>&1 & echo $!; read end; kill -9 $!"
    shell.arguments = ["-c", command, folder] + options
    let (input, output) = (Pipe(), Pipe())
    shell.standardInput = input
    shell.standardOutput = output
    try shell.run()
    guard
      let pid = pid_t(
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).trimmingCharacters(in: .newlines))
    else { throw CacheError(.simulated, "no redis-server") }
    running.withLock { $0 = Running(shell: shell, pipe: input, pid: pid) }
    let store = store()
    try await turns {
      do { _ = try await store.timeSinceEpoch() } catch let error as CacheError {
        // It needs a password, or is of a cluster that is not there yet.
        return error.code == .refusedByServer || error.message.contains("it has slot")
      }
      return true
    }
  }

  private func signal(_ number: Int32) {
    let pid = running.withLock { $0?.pid }
    if let pid { _ = sendSignal(pid, number) }
  }

  package func stop() { signal(SIGSTOP) }
  package func resume() { signal(SIGCONT) }

  /// Ends the server at once, with all that it holds.
  package func kill() {
    signal(SIGCONT)
    signal(SIGKILL)
    guard let gone = running.withLock({ $0.take() }) else { return }
    // Not waited for: others may have inherited the pipe, and this thread is one of few.
    _ = sendSignal(gone.shell.processIdentifier, SIGKILL)
    do { try gone.pipe.fileHandleForWriting.close() } catch {}
  }

  /// A process's store: a connection of its own.
  package func store(_ change: (inout RedisSettings) -> Void = { _ in }) -> RedisStore {
    var settings = RedisSettings(.socket(socket))
    settings.commandLimit = .seconds(30)
    settings.connectLimit = .seconds(30)
    change(&settings)
    return RedisStore(settings)
  }
}
#endif
