import CacheEngine
import Synchronization

/// Counts what operators do, by name.
final class OperatorStatistics: CacheObserver {
  private let counts = Mutex<[String: OperatorTraffic]>([:])

  subscript(name: String) -> OperatorTraffic { counts.withLock { $0[name] } ?? OperatorTraffic() }

  func record(_ event: CacheEvent) {
    guard let name = event.level else { return }
    switch event.kind {
    // A level tells that its entry was stale; it is no operator.
    case .operated(.servedStale): break
    case .operated, .flightBegan, .flightJoined:
      counts.withLock { $0[name, default: OperatorTraffic()].fold(event.kind, at: event.time) }
    default: break
    }
  }
}
