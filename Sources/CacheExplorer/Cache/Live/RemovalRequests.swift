import CacheEngine
import Synchronization

/// Knows which call removes a key, for a level that tells of its removals on a thread of its own.
///
/// Keys that another name is made of on their way to the level are not known again.
final class RemovalRequests: CacheObserver {
  private let underWay = Mutex<[String: RequestID]>([:])

  func record(_ event: CacheEvent) {
    guard let key = event.key, let request = event.request else { return }
    switch event.kind {
    case .requestBegan(.remove): underWay.withLock { $0[key] = request }
    case .requestEnded(.remove, _, _): underWay.withLock { if $0[key] == request { $0[key] = nil } }
    default: break
    }
  }

  /// Hands on to another observer, with the call that did it where the event names none.
  func attributing(to observer: some CacheObserver) -> some CacheObserver {
    Attributing(requests: self, observer: observer)
  }

  fileprivate func request(removing key: String) -> RequestID? { underWay.withLock { $0[key] } }
}

private struct Attributing<Observer: CacheObserver>: CacheObserver {
  let requests: RemovalRequests
  let observer: Observer

  func record(_ event: CacheEvent) {
    var event = event
    if event.request == nil, case .removed(.removed, _) = event.kind {
      event.request = event.key.flatMap { requests.request(removing: $0) }
    }
    observer.record(event)
  }
}
