import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

@testable import CacheEngineShared

/// What a success says of a failure depends on which of the two came first.
@Suite struct UnsettledWritesTests {
  /// A store that keeps nothing, and lets a test act while it is written to.
  private final class Store: SharedStore {
    let name = "store"
    let onCommit = Mutex<@Sendable () -> Void>({})

    func timeSinceEpoch() async throws -> Duration { .zero }

    func read(_ names: [[UInt8]]) async throws -> [[UInt8]?] { names.map { _ in nil } }

    func commit(
      _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
    ) async throws -> [[UInt8]?]? {
      let act = onCommit.withLock { $0 }
      act()
      return names.map { _ in nil }
    }
  }

  private let store = Store()
  private let id: [UInt8] = [1]

  private func unsettled() throws -> UnsettledWrites {
    UnsettledWrites(
      store, try SharedNamespace("test", level: "shared"), limit: 10, tagLife: .seconds(60), clock: ManualClock())
  }

  @Test("a write that began before another one failed does not settle that; one that began afterwards does")
  func successes() throws {
    let unsettled = try unsettled()
    let before = unsettled.moment
    unsettled.add(records: [id])
    unsettled.settle([id], asOf: before)
    #expect(unsettled.concerns(id))
    unsettled.settle([id], asOf: unsettled.moment)
    #expect(!unsettled.concerns(id))
    unsettled.stop()
  }

  @Test("what fails while the store is asked again stays in doubt")
  func failsMeanwhile() async throws {
    let unsettled = try unsettled()
    unsettled.add(records: [id])
    store.onCommit.withLock { $0 = { [id] in unsettled.add(records: [id]) } }
    #expect(try await !unsettled.settleSome())
    #expect(unsettled.concerns(id))
    store.onCommit.withLock { $0 = {} }
    unsettled.stop()
    #expect(try await unsettled.settleSome())
    #expect(!unsettled.concerns(id))
  }
}
