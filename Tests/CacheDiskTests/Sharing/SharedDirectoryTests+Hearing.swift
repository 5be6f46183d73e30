import CacheEngine
import Synchronization
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

  private final class TellingLog: Sendable {
    private let told = Mutex<[Int: [Bool]]>([:])

    subscript(ear: Int) -> [Bool] { told.withLock { $0[ear] ?? [] } }

    func append(_ hears: Bool, _ ear: Int) { told.withLock { $0[ear, default: []].append(hears) } }
  }
}
