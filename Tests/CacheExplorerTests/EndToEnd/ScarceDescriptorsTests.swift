#if Explorer && os(Linux)
import CacheEngineTesting
import Foundation
import LoopbackServer
import Testing

/// A proxy whose process may open next to nothing.
@Suite("The program short of descriptors", .timeLimit(.minutes(2)), .enabled(if: Curl.path != nil, "no curl"))
struct ScarceDescriptorsTests {
  @Test("whatever listens ends at a signal, and says that it is itself what lacks descriptors")
  func serves() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    var faults: Set<String> = []
    // SwiftNIO itself ends a program that has fewer than it starts with.
    for limit in 12...24 {
      let program = try RunningProgram(
        [
          "-c", "ulimit -n \(limit); export SWIFT_BACKTRACE=enable=no; exec \"$0\" \"$@\"", Program.path, "serve", file,
          "--http", "127.0.0.1:0", "--origin", server.address, "--plain",
        ], executable: "/bin/sh")
      guard let line = await program.complaint(where: { $0.hasPrefix("listening at ") }) else { continue }
      let address = line.dropFirst("listening at ".count).prefix { $0 != " " }
      _ = try await Curl.run(["--max-time", "2", "\(address)/"])
      program.signal(SIGTERM)
      for line in await program.end().lines {
        faults.formUnion(line.split(separator: " proxy_internal_error: ").dropFirst().map(String.init))
      }
    }
    let place = server.address.dropFirst("http://".count)
    #expect(faults == ["\(place) cannot be reached; connect: Too many open files; see to that first"])
  }

  /// A proxy with a limit, what it has stored, and clients that say nothing.
  private func crowd(
    _ limit: String, clients: Int, before server: LoopbackServer, in folder: borrowing TemporaryFolder
  ) async throws -> (program: RunningProgram, stored: String, clients: [Int32]) {
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB }\n", to: "c.yaml")
    let program = try RunningProgram(
      [
        "-c", "ulimit \(limit); exec \"$0\" \"$@\"", Program.path, "serve", file, "--http", "127.0.0.1:0", "--origin",
        server.address, "--quiet",
      ], executable: "/bin/sh")
    let line = try #require(await program.complaint { $0.hasPrefix("listening at ") })
    let address = String(line.dropFirst("listening at ".count).prefix { $0 != " " })
    let stored = "\(address)/-/with?Cache-Control:max-age=100000"
    #expect(try await Curl.run([stored]).status == 0)
    let port = try #require(UInt16(address.split(separator: ":").last ?? ""))
    return (program, stored, (0..<clients).map { _ in connection(to: port) })
  }

  @Test("while clients have all descriptors, who waits for one costs next to nothing, and gets one that is free")
  func crowded() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, stored, clients) = try await crowd("-n 40", clients: 60, before: server, in: folder)
    let open = "/proc/\(program.processIdentifier)/fd"
    try await turns { try FileManager.default.contentsOfDirectory(atPath: open).count >= 40 }
    let before = try processorTicks(of: program.processIdentifier)
    #expect(try await Curl.run(["--max-time", "2", stored]).status == 28)
    #expect(try processorTicks(of: program.processIdentifier) - before < 10)
    for client in clients { close(client) }
    #expect(try await Curl.run([stored]).status == 0)
    program.signal(SIGTERM)
    #expect(await program.end().status == 0)
  }

  @Test("a limit that may be raised is")
  func raised() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (program, stored, clients) = try await crowd("-Sn 40", clients: 60, before: server, in: folder)
    #expect(try await Curl.run(["--max-time", "10", stored]).status == 0)
    for client in clients { close(client) }
    program.signal(SIGTERM)
    #expect(await program.end().status == 0)
  }

  /// A connection over which nothing is sent.
  private func connection(to port: UInt16) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, length) }
    }
    #expect(result == 0)
    return descriptor
  }
}
#endif
