import CacheEngine
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

/// A segment that was made, and whose head was not written before the crash.
@Suite(.timeLimit(.minutes(10))) struct HeadlessSegmentTests {
  @Test("P3 P4 P2 a newest segment without a whole head takes no records, and is reclaimed", arguments: [0, 1, 39, 40])
  func headless(length: Int) async throws {
    let (folder, clock) = (DiskFolder(), ManualClock())
    func open(_ folder: DiskFolder) throws -> DiskCacheLevel<String, Data> {
      try DiskCacheLevel(directory: folder.path, capacity: 1 << 20, clock: clock)
    }
    let level = try open(folder)
    try await level.set(Data("old".utf8), forKey: "old")
    let crashed = try folder.copy()
    try await level.close()
    try crashed.write(Data(repeating: 0, count: length), to: "log-0000000000000002")
    let first = try open(crashed)
    try await first.set(Data("new".utf8), forKey: "new")
    let again = try crashed.copy()
    let second = try open(again)
    #expect(try await second.get("old") == Data("old".utf8))
    #expect(try await second.get("new") == Data("new".utf8))
    // Until every segment that was there has been reclaimed.
    for number in 0..<300 { try await second.set(Data(repeating: 1, count: 5_000), forKey: "\(number % 50)") }
    #expect(try await second.get("49")?.count == 5_000)
    #expect(!again.names.contains("log-0000000000000002"))
    try await second.close()
    try await first.close()
  }
}
