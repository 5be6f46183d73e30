import CacheEngine
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@Suite struct EndingTwiceTests {
  let clock = ManualClock()

  @Test("A11 to end the lifetime of what has expired already makes it live, or stay to be served as stale, no longer")
  func endsOnce() async throws {
    let folder = DiskFolder()
    let memory = MemoryCacheLevel<String, Data>(expiry: .after(.seconds(10)), keepsExpired: .seconds(300), clock: clock)
    let disk = try DiskCacheLevel<String, Data>(
      directory: folder.path, capacity: 1 << 20, expiry: .after(.seconds(10)), keepsExpired: .seconds(300), clock: clock
    )
    try await endTwice(in: memory)
    try await endTwice(in: disk)
    try await disk.close()
  }

  private func endTwice(in level: some StorageLevel<String, Data>) async throws {
    try await level.set(Data([1]), forKey: "a")
    let deadline = try #require(try await level.lookup("a").entry?.deadline)
    clock.advance(by: .seconds(200))
    try await level.expire("a")
    #expect(try await level.lookup("a").missReason == .expired, "\(level.name)")
    #expect(try await level.lookupIncludingExpired("a").entry?.deadline == deadline, "\(level.name)")
    clock.advance(by: .seconds(111))
    #expect(try await level.lookupIncludingExpired("a").entry == nil, "\(level.name)")
  }
}
