import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CacheDisk

extension SharedDirectoryTests {
  @Test("whether everything is heard or nothing is told in the order in which it came to be, to each who listens")
  func orderOfHearing() async throws {
    let owner = try open()
    let common = try #require(owner.elsewhere as? CommonStore)
    let told = TellingLog()
    let isFirst = Mutex(true)
    let numbers = (0..<2).map { ear in
      common.hear(as: UInt64(ear)) { news in
        switch news {
        case .everything: told.append(true, ear)
        case .lost:
          told.append(false, ear)
          // While one of them is told that nothing is heard, everything is again.
          if isFirst.withLock({ isFirst in
            defer { isFirst = false }
            return isFirst
          }) {
            common.hears()
          }
        case .change: break
        }
      }
    }
    common.isDeaf()
    #expect((0..<2).map { Array(told[$0].suffix(2)) } == [[false, true], [false, true]])
    for number in numbers { common.stopHearing(number) }
    try await owner.close()
  }

  @Test("whoever has read a value that the disk then refused hears of it", arguments: [false, true])
  func failedSet(isShared: Bool) async throws {
    let isHeld = Mutex(false)
    let isReached = Mutex(false)
    let goesOn = DispatchSemaphore(value: 0)
    var calls = FileCalls()
    calls.sync = { [real = calls.sync] descriptor in
      guard isHeld.withLock({ $0.take() }) else { return real(descriptor) }
      isReached.withLock { $0 = true }
      goesOn.wait()
      errno = EIO
      return -1
    }
    func open() throws -> Level {
      try Level(
        directory: folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
        durability: .synced, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
        removalListener: nil, calls: calls, sharing: isShared ? Self.sharing(apart: false) : .exclusive)
    }
    let (disk, other) = (try open(), try open())
    let cache = MemoryCacheLevel<String, Data>(clock: clock).compose(other, coherence: Coherence(other))
    try await turns { cache.coherence.deafSince == nil }
    try await disk.set(value(1), forKey: "a")
    isHeld.withLock { $0 = true }
    let writer = Task { try await disk.set(value(2), forKey: "a") }
    try await turns { isReached.withLock { $0 } }
    #expect(try await cache.get("a") == value(2))
    goesOn.signal()
    await #expect(throws: CacheError.self) { try await writer.value }
    try await turns { cache.peek("a") == nil }
    #expect(try await cache.get("a") == value(1))
  }

  private final class TellingLog: Sendable {
    private let told = Mutex<[Int: [Bool]]>([:])

    subscript(ear: Int) -> [Bool] { told.withLock { $0[ear] ?? [] } }

    func append(_ hears: Bool, _ ear: Int) { told.withLock { $0[ear, default: []].append(hears) } }
  }
}

extension Bool {
  /// What it was; `false` from now on.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
