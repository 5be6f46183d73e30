package import CacheEngine
package import ExplorerState
import Synchronization

/// What a proxy has done, since the start and lately.
package final class ServedFigures: Sendable {
  private struct State {
    var counts = ServedCounts()
    var recent = RecentCounts<ServedCounts>()
  }

  private let state = Mutex(State())

  /// What is stored for an address, past counters and observers.
  package let variants: @Sendable (String) async -> [ServedVariant]

  package init(variants: @escaping @Sendable (String) async -> [ServedVariant]) { self.variants = variants }

  package var counts: ServedCounts { state.withLock { $0.counts } }

  /// Counts a request; returns its number.
  package func note(
    _ outcome: ServedExchange.Outcome, bytes: Int, isWhole: Bool, at time: CacheInstant
  ) -> Int {
    var one = ServedCounts()
    one.count(outcome, bytes: bytes, isWhole: isWhole)
    return state.withLock { state in
      state.counts += one
      state.recent.add(one, at: time)
      return state.counts.requests
    }
  }

  package func recent(at now: CacheInstant) -> ServedCounts { state.withLock { $0.recent.sum(at: now) } }
}
