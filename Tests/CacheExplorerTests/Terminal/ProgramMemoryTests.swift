#if os(Linux) && Explorer
import PseudoTerminal
import Testing
import TestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ProgramMemoryTests {
  /// A figure of a process, in bytes.
  private func bytes(_ name: String, of process: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(name):") })
    return try #require(Int(line.filter(\.isNumber))) << 10
  }

  @Test("A program at rest does not keep in memory what only starting needed of its code")
  func code() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels: [{ memory: { capacity: 1 MiB } }]", to: "c.yaml")
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["open", file], width: 80, height: 24,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])
    try await terminal.wait(forText: "nothing is cached yet")
    // It answers keys once it has given back what it can.
    terminal.send("5")
    try await terminal.wait(forText: "1 MiB")
    let given = try bytes("VmHWM", of: terminal.program) - bytes("VmRSS", of: terminal.program)
    #expect(given > 2 << 20, "\(given) bytes")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }
}
#endif
