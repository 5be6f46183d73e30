import CacheEngine
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

struct PagedStorageTests {
  /// Has as many entries as one likes, gives them one by one, and refuses to list them.
  private final class Endless: StorageDecorator, PagedStorage {
    let base = MemoryCacheLevel<String, Data>()
    let given = Mutex(0)
    var usage: LevelUsage { LevelUsage(count: .max, cost: .max) }

    func forEachEntry(_ body: (EntrySummary<String>) -> Bool) async throws {
      for number in 0... {
        given.withLock { $0 += 1 }
        let entry = EntrySummary(key: "key:\(number)", cost: 1, created: Scene.start, deadline: nil)
        guard body(entry) else { return }
      }
    }

    func contents() async throws -> [EntrySummary<String>] { throw CommandFailure(message: "too many to be listed") }
  }

  @Test("A search ends when enough was found, and never asks a level with pages for a list")
  func stops() async throws {
    let level = Endless()
    let found = try await level.entries(atMost: 20) { $0.hasSuffix("7") }
    #expect(found.map(\.key) == (0..<20).map { "key:\($0 * 10 + 7)" })
    #expect(level.given.withLock { $0 } == 198)
  }

  @Test("A disk level of many pages, and a level without pages, are searched to their ends")
  func finds() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "disk").path()
    let disk = try DiskCacheLevel<String, Data>(directory: path, capacity: 64 << 20)
    let memory = MemoryCacheLevel<String, Data>(capacity: 64 << 20)
    for number in 0..<3_000 {
      try await disk.set(Data("v".utf8), forKey: "key:\(number)")
      try await memory.set(Data("v".utf8), forKey: "key:\(number)")
    }
    for level in [disk, memory] as [any StorageLevel<String, Data>] {
      let found = try await level.entries(atMost: 1_000) { $0.hasSuffix("99") }
      #expect(Set(found.map { $0.key }) == Set((0..<30).map { "key:\($0 * 100 + 99)" }))
      #expect(found.allSatisfy { $0.cost > 0 })
      #expect(try await level.entries(atMost: 7) { _ in true }.count == 7)
    }
    try await disk.close()
  }
}
