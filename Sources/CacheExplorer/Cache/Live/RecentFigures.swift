import ExplorerState
package import CacheEngine
import Synchronization

/// What a cache counted in the last seconds, whenever somebody asks.
///
/// Told of events before the statistics are, it looks at these whenever the first event of another second comes: an event
/// costs one atomic load, and what was counted is counted once.
package final class RecentFigures: CacheObserver {
  private struct State {
    var recent = RecentCounts<CacheStatistics.Snapshot>()
    /// What the statistics had counted when the second under way began.
    var counted = CacheStatistics.Snapshot()
    var began: CacheInstant?
  }

  package static let window = Duration.seconds(RecentCounts<CacheStatistics.Snapshot>.window)

  package let statistics = CacheStatistics()
  private let second = Atomic(Int64.min)
  private let state = Mutex(State())

  package init() {}

  package func record(_ event: CacheEvent) { pass(event.time) }

  /// Something is about to be counted.
  package func pass(_ time: CacheInstant) {
    let number = SecondRing.number(of: time)
    guard number > second.load(ordering: .acquiring) else { return }
    state.withLock { state in
      guard number > second.load(ordering: .relaxed) else { return }
      let counts = statistics.snapshot
      if let began = state.began { state.recent.add(counts.since(state.counted), at: began) }
      (state.counted, state.began) = (counts, time)
      // Whoever comes in the new second waits for this, and so counts nothing before the old one was added up.
      second.store(number, ordering: .releasing)
    }
  }

  /// What was counted in the second under way and the five before it.
  package func sum(at now: CacheInstant) -> CacheStatistics.Snapshot {
    state.withLock { state in
      var recent = state.recent
      if let began = state.began { recent.add(statistics.snapshot.since(state.counted), at: began) }
      return recent.sum(at: now)
    }
  }
}
