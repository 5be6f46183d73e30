#if Explorer
import ArgumentParser
import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheTorture

/// Processes that share a directory, as they are started and killed.
@Suite(.timeLimit(.minutes(10))) struct SharedProcessTests {
  /// A run of the program that was built with the tests.
  private static func start(_ arguments: [String], output: Pipe? = nil) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "CacheTorture")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output ?? FileHandle.nullDevice
    return process
  }

  private static func end(_ process: Process) async throws -> Int32 {
    try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
  }

  private func open(_ path: String, silence: Duration) throws -> DiskCacheLevel<String, Data> {
    try DiskCacheLevel(directory: path, capacity: 4 << 20, sharing: .acrossProcesses(silence: silence))
  }

  @Test(
    "P15 owners and others are killed at random: no call fails, and nothing is seen that was replaced",
    arguments: Tier.sharedTiers)
  func kills(tier: Tier) async throws {
    let output = Pipe()
    let status = try await Self.end(
      Self.start(["shared", "--count", "8", "--operations", "40", "--tier", tier.rawValue], output: output))
    let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    #expect(status == 0, "\(text)")
  }

  @Test("P15 a program that is started ten times at once works ten times")
  func tenStarts() async throws {
    let folder = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(folder) }
    try await withThrowingTaskGroup(of: Int32.self) { group in
      for worker in 0..<10 {
        group.addTask {
          try await Self.end(
            Self.start([
              "work", folder + "/store", "--log", "\(folder)/log\(worker)", "--rounds", "2", "--worker", "\(worker)",
              "--workers", "10", "--seed", "\(worker)",
            ]))
        }
      }
      for try await status in group { #expect(status == 0) }
    }
  }

  @Test("P15 an owner that is stopped makes misses and errors; when it goes on all is well")
  func stopped() async throws {
    let folder = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(folder) }
    let store = folder + "/store"
    let owner = try Child.work(
      store, log: folder + "/log", seed: 1, options: try Options.parse([]), worker: (0, of: 1),
      isSteady: true,
      program: URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "CacheTorture")
        .path())
    try owner.await(50)
    let level = try open(store, silence: .seconds(1))
    #expect(level.owner == .process(owner.process))
    try await level.set(Data([1]), forKey: "hot/x")
    #expect(try await level.get("hot/x") == Data([1]))
    owner.stop()
    #expect(try await level.lookup("hot/x").missReason == .unanswered)
    let error = await #expect(throws: CacheError.self) { try await level.set(Data([2]), forKey: "hot/x") }
    #expect(error?.code == .timedOut)
    #expect(level.owner == .nobody)
    #expect(throws: CacheError.self) { try open(store, silence: .milliseconds(50)) }
    owner.goOn()
    try await turns { level.owner == .process(owner.process) }
    // What was given up is not carried out later.
    #expect(try await level.get("hot/x") == Data([1]))
    try await level.set(Data([3]), forKey: "hot/x")
    try owner.kill(after: 0)
    #expect(try await level.get("hot/x") == Data([3]))
    try await turns { level.owner == .thisProcess }
    try await level.close()
  }
}

extension Tier {
  static var sharedTiers: [Tier] { [.buffered, .synced] }
}
#endif
