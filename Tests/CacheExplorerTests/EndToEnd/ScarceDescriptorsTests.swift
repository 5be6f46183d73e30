#if Explorer && os(Linux)
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
}
#endif
