import CacheEngine
import Synchronization

/// Counts how reads of the whole cache ended, and how long they took: what the statistics of the levels do not tell.
///
/// A read that joined another's load is neither a hit nor a miss of its own, as on the screen.
final class CallCounter: CacheObserver {
  struct Count: Sendable, Equatable {
    /// Calls of every kind: reads, writes, removals.
    var calls = 0
    /// Reads that ended.
    var reads = 0
    /// Reads that each level answered, without those that joined.
    var served: [String: Int] = [:]
    var joined = 0
    var missed = 0
    var failed = 0
    var cancelled = 0
    /// How long reads took that were not cancelled.
    var latency = LatencyHistogram()

    /// Reads that were answered for themselves.
    var answered: Int { served.values.reduce(0, +) + missed + failed }
  }

  fileprivate struct State {
    var count = Count()
    var joining: Set<RequestID> = []
  }

  private let state = Mutex(State())

  var count: Count { state.withLock { $0.count } }

  func record(_ event: CacheEvent) {
    switch event.kind {
    case .requestBegan: state.withLock { $0.count.calls += 1 }
    case .flightJoined: if let request = event.request { state.withLock { _ = $0.joining.insert(request) } }
    case .requestEnded(.get, let outcome, let duration):
      state.withLock { $0.ended(event.request, outcome, duration) }
    default: break
    }
  }
}

extension CallCounter.State {
  fileprivate mutating func ended(_ request: RequestID?, _ outcome: CacheEvent.Outcome, _ duration: Duration) {
    let hasJoined = request.map { joining.remove($0) != nil } ?? false
    count.reads += 1
    switch outcome {
    case .hit(let level): if hasJoined { count.joined += 1 } else { count.served[level ?? "", default: 0] += 1 }
    case .miss: count.missed += 1
    case .failed: count.failed += 1
    case .cancelled: return count.cancelled += 1
    case .done: break
    }
    count.latency.record(duration)
  }
}
