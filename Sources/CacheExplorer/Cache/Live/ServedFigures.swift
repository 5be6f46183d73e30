package import CacheEngine
package import ExplorerModel
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

  /// Counts a request, and gives it its number.
  package func note(_ exchange: inout ServedExchange, at time: CacheInstant) {
    state.withLock { state in
      state.counts.count(exchange)
      exchange.number = state.counts.requests
      var one = ServedCounts()
      one.count(exchange)
      state.recent.add(one, at: time)
    }
  }

  package func recent(at now: CacheInstant) -> ServedCounts { state.withLock { $0.recent.sum(at: now) } }
}
