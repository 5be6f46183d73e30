#if Explorer
import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheTorture

/// The jobs know no lifetimes.
@Suite struct LifetimeTests {
  @Test("an old deadline removes no newer value", arguments: [Expiry.never, .after(.seconds(100))])
  func overwritten(expiry: Expiry) async throws {
    let folder = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(folder) }
    let clock = ManualClock()
    let short = try DiskCacheLevel<String, Data>(
      directory: folder + "/store", capacity: 1 << 20, expiry: .after(.seconds(1)), clock: clock)
    let long = try DiskCacheLevel<String, Data>(
      directory: folder + "/store", capacity: 1 << 20, expiry: expiry, clock: clock)
    try await short.set(Data([1]), forKey: "overwritten")
    try await short.set(Data([2]), forKey: "expired")
    try await long.set(Data([3]), forKey: "overwritten")
    clock.advance(by: .seconds(2))
    #expect(try await short.removeExpired() == 1)
    #expect(try await long.get("overwritten") == Data([3]))
    #expect(try await long.get("expired") == nil)
    try await short.close()
    try await long.close()
  }
}
#endif
