import CacheEngine
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@Suite struct ConditionalLevelTests {
  let clock = ManualClock()

  private func levels(_ folder: DiskFolder) throws -> [any ConditionalLevel<String, Data>] {
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: 4 << 20, clock: clock)
    let memory = MemoryCacheLevel<String, Data>(clock: clock)
    return [
      MemoryCacheLevel<String, Data>(clock: clock), disk, memory.compose(disk),
      MemoryCacheLevel<String, Data>(clock: clock).pooled(),
    ]
  }

  private func check(_ level: some ConditionalLevel<String, Data>) async throws {
    let (one, two) = (Data("one".utf8), Data("two".utf8))
    try await level.clear()
    #expect(try await level.replace(one, forKey: "a") == false)
    #expect(try await level.get("a") == nil)
    #expect(try await level.setIfAbsent(one, forKey: "a", expiry: .after(.seconds(10))))
    #expect(try await level.setIfAbsent(two, forKey: "a") == false)
    #expect(try await level.get("a") == one)
    #expect(try await level.replace(two, forKey: "a", expiry: .after(.seconds(10))))
    #expect(try await level.get("a") == two)
    clock.advance(by: .seconds(10))
    #expect(try await level.replace(one, forKey: "a") == false)
    #expect(try await level.setIfAbsent(one, forKey: "a"))
    #expect(try await level.get("a") == one)
  }

  @Test("a value is stored only if there is none, or only if there is one; an expired one is none")
  func conditions() async throws {
    let folder = DiskFolder()
    for level in try levels(folder) { try await check(level) }
  }

  private func race(_ level: some ConditionalLevel<String, Data>) async throws {
    try await level.clear()
    let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask { try await level.setIfAbsent(Data("\(number)".utf8), forKey: "a") }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(winners == 1)
  }

  @Test("of many that store at once where there is nothing, one does")
  func oneWins() async throws {
    let folder = DiskFolder()
    for level in try levels(folder) { try await race(level) }
  }
}
