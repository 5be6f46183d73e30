import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The folders that a demonstration writes into.
@Suite struct ScratchFolderTests {
  @Test("a demonstration that was killed leaves a folder, which the next one removes, and no folder that is in use")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let program = try await demo(in: folder.url)
    let left = try #require(try folders(in: folder.url).first)
    try await pass(in: folder.url)
    #expect(try folders(in: folder.url) == [left])
    program.signal(SIGKILL)
    _ = await program.end()
    #expect(try folders(in: folder.url) == [left])
    try await pass(in: folder.url)
    #expect(try folders(in: folder.url).isEmpty)
  }

  @Test("links, folders of others, and what is called otherwise stay where they are")
  func others() async throws {
    let folder = try TemporaryFolder()
    let held = try folder.write("", to: "held")
    func make(_ name: String) throws -> String {
      let path = folder.url.appending(path: name).path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      try FileManager.default.copyItem(atPath: held, toPath: path + "/held")
      return path
    }
    _ = try make("cache-explorer-demo-0123abcd")
    let target = try make("target")
    let link = folder.url.appending(path: "cx-fleet-0123abcd").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    var stay = [target, link, try make("cache-explorer-demo-of-mine"), try make("cx-fleet-0123abcde")]
    if geteuid() == 0 {
      let foreign = try make("cache-explorer-compare-0123abcd")
      #expect(unsafe chown(foreign, 1, 1) == 0)
      stay.append(foreign)
    }
    try await pass(in: folder.url)
    #expect(stay.allSatisfy { FileManager.default.fileExists(atPath: $0 + "/held") })
    #expect(try folders(in: folder.url) == stay.dropFirst().map { URL(filePath: $0).lastPathComponent }.sorted())
  }

  private func folders(in parent: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: parent.path)
      .filter { $0.hasPrefix("cache-explorer-") || $0.hasPrefix("cx-fleet-") }.sorted()
  }

  /// Starts a demonstration that writes there.
  private func demo(in parent: URL) async throws -> RunningProgram {
    let program = try RunningProgram(
      ["-c", "TMPDIR=\"$1\" exec \"$0\" demo --plain", Program.path, parent.path], executable: "/bin/sh")
    #expect(await program.line { $0.contains("is open") } != nil)
    return program
  }

  /// Starts one, and ends it as it is meant to end.
  private func pass(in parent: URL) async throws {
    let program = try await demo(in: parent)
    program.type("quit")
    #expect(await program.end().status == 0)
  }
}
