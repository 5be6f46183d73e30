import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// What others do while a snapshot is restored.
extension MemorySnapshotTests {
  @Test("what is set or removed while a file is read is newer than the file and stays so; all else is restored")
  func writtenMeanwhile() async throws {
    try await withFile { path in
      let old = level()
      for key in 0..<8 { try await old.set(Data([UInt8(key)]), forKey: "\(key)") }
      try await old.snapshot(to: path, keys: .utf8, values: .data)
      let new = level()
      let isFirst = Mutex(true)
      let values = ByteCoding<Data>(
        name: "data", encode: { $0 },
        decode: { bytes in
          let isNow = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
          guard isNow else { return bytes }
          new["1"] = nil
          new["2"] = Data("new".utf8)
          new["3"] = Data("gone".utf8)
          new["3"] = nil
          new.update("4") { _ in nil }
          return bytes
        })
      let report = try await new.restore(from: path, keys: .utf8, values: values)
      #expect(report == SnapshotRestoration(restored: 4, held: 4))
      for key in ["1", "3", "4"] { #expect(new[key] == nil) }
      #expect(new["2"] == Data("new".utf8))
      for key in [0, 5, 6, 7] { #expect(new["\(key)"] == Data([UInt8(key)])) }
      // That was then: the next one restores what is not there.
      #expect(try await new.restore(from: path, keys: .utf8, values: .data)?.restored == 3)
      #expect(new.parts.withLock(of: 0) { entries, _ in entries.updates.isEmpty })
    }
  }

  @Test("what is set while a file is read, and weighs more than the level holds, is newer than the file as well")
  func tooHeavyMeanwhile() async throws {
    try await withFile { path in
      let old = MemoryCacheLevel<String, Data>(capacity: 100)
      for key in ["a", "b"] { try await old.set(Data(repeating: 1, count: 10), forKey: key) }
      try await old.snapshot(to: path, keys: .utf8, values: .data)
      let new = MemoryCacheLevel<String, Data>(capacity: 100)
      let values = ByteCoding<Data>(
        name: "data", encode: { $0 },
        decode: { bytes in
          new["a"] = Data(repeating: 2, count: 1_000)
          return bytes
        })
      #expect(
        try await new.restore(from: path, keys: .utf8, values: values) == SnapshotRestoration(restored: 1, held: 1))
      #expect(new["a"] == nil)
    }
  }

  @Test(
    "what is cleared, removed by tag or declared invalid while a file is read does not come back; a level may divide then",
    arguments: [false, true])
  func removedMeanwhile(isDivided: Bool) async throws {
    try await withFile { path in
      let old = level()
      for key in ["a", "b"] { try await old.set(Data(key.utf8), forKey: key, tags: ["t"]) }
      try await old.snapshot(to: path, keys: .utf8, values: .data)
      let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
      let removals: [@Sendable (Level) async throws -> Void] = [
        { try await $0.clear() }, { await $0.onMemoryWarning() }, { _ = try await $0.removeAll(tagged: "t") },
        { for key in ["a", "b"] { try await $0.expire(key) } }, { for key in ["a", "b"] { try await $0.remove(key) } },
      ]
      for remove in removals {
        let new = Level(
          "memory", 1 << 20, nil, .adaptive, .never, .zero, nil, clock, nil, nil,
          division: LevelDivision(parts: 4, mostUndivided: 8))
        let report = try await new.whileRestoring {
          try await remove(new)
          if isDivided { for key in 0..<32 { try await new.set(Data(), forKey: "\(key)") } }
          return try new.restore(bytes, keys: .utf8, values: .data)
        }
        #expect(report == SnapshotRestoration(held: 2))
        #expect(new.parts.count == (isDivided ? 4 : 1))
        #expect(new["a"] == nil && new["b"] == nil)
        #expect(try new.restore(bytes, keys: .utf8, values: .data).restored == 2)
      }
    }
  }

  @Test("what is restored is nobody's write: of keys that have one hash all are restored")
  func oneHash() async throws {
    struct Key: Hashable, Sendable {
      let name: String
      func hash(into hasher: inout Hasher) {}
    }
    let keys = ByteCoding<Key>(
      name: "key", encode: { Data($0.name.utf8) }, decode: { Key(name: String(decoding: $0, as: UTF8.self)) })
    try await withFile { path in
      let old = MemoryCacheLevel<Key, Data>(clock: clock)
      for name in ["a", "b", "c"] { try await old.set(Data(name.utf8), forKey: Key(name: name)) }
      try await old.snapshot(to: path, keys: keys, values: .data)
      let new = MemoryCacheLevel<Key, Data>(clock: clock)
      #expect(try await new.restore(from: path, keys: keys, values: .data) == SnapshotRestoration(restored: 3))
    }
  }
}
