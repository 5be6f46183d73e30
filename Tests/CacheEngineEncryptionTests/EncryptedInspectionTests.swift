#if Encryption
import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheEngineEncryption

/// What is seen of an encrypted directory by who has its key, and by who has not.
@Suite(.timeLimit(.minutes(10))) struct EncryptedInspectionTests {
  let folder = EncryptedFolder()
  let clock = ManualClock()

  @Test("P13 P15 an encrypted store is listed and looked into with its own keys, types and tags, and by no other key")
  func looks() async throws {
    let level = try folder.open(clock: clock)
    // Many at once, so that they are appended together.
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask { try? await level.set(marked("v\(number)"), forKey: "key \(number)", tags: ["red"]) }
      }
    }
    try await level.set(marked("long", 400_000), forKey: "long")
    var listed: [String: Int] = [:]
    for try await entry in level.entries() {
      listed[entry.key] = entry.size
      #expect(entry.type == "data" && entry.tags == (entry.key == "long" ? [] : ["red"]))
    }
    #expect(listed.count == 65 && listed["key 7"] == 300 && listed["long"] == 400_000)
    #expect(try await level.get("key 7") == marked("v7"))
    let look = try await DiskCacheInspection.open(
      folder.path, cipher: StoreEncryption(key: Keys.first), clock: clock)
    var seen: Set<String> = []
    for try await entry in look.entries() {
      let text = try #require(entry.text)
      seen.insert(text)
      #expect(try await look.value(for: entry.key)?.count == listed[text])
    }
    #expect(seen == Set(listed.keys))
    #expect(try await look.verify().isSound)
    let error = await #expect(throws: CacheError.self) {
      try await DiskCacheInspection.open(folder.path, cipher: StoreEncryption(key: Keys.second), clock: clock)
    }
    #expect(error?.code == .wrongKey)
    let none = await #expect(throws: CacheError.self) { try await DiskCacheInspection.open(folder.path, clock: clock) }
    #expect(none != nil)
    try await level.close()
  }

  @Test("P13 P15 without its key an encrypted store tells sizes and times, and neither a key nor a value")
  func sealed() async throws {
    let level = try folder.open(clock: clock)
    try await level.set(marked("v", 700), forKey: "a", tags: ["red"], expiry: .after(.seconds(60)))
    try await level.set(marked("w", 400_000), forKey: "b")
    let look = try await DiskCacheInspection.openSealed(folder.path, clock: clock)
    #expect(look.isSealed)
    #expect(try await look.health().entries == 2)
    #expect(try await look.verify().isSound)
    var costs: [Int: CacheInstant?] = [:]
    for try await entry in look.entries() {
      costs[entry.cost] = entry.deadline
      #expect(entry.text != "a" && entry.text != "b" && !entry.tags.contains("red") && entry.type.isEmpty)
      let error = await #expect(throws: CacheError.self) { try await look.value(for: entry.key) }
      #expect(error?.code == .wrongKey)
    }
    #expect(costs == [700: clock.now.advanced(by: .seconds(60)), 400_000: nil])
    await #expect(throws: CacheError.self) { try await look.value(forKey: "a") }
    try await level.set(marked("x", 50), forKey: "c")
    try await look.refresh()
    #expect(try await look.health().entries == 3)
    try await level.close()
  }
}
#endif
