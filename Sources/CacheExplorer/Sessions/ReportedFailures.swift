#if Explorer
import CacheEngine
import CacheEngineHTTP
import ExplorerState
import Synchronization

/// Tells each kind of failure when it begins, and not with every request.
final class ReportedFailures: Sendable {
  private let told = Mutex<Set<String>>([])
  private let clock: any CacheClock
  private let report: @Sendable (LogLine) -> Void

  init(clock: any CacheClock, report: @escaping @Sendable (LogLine) -> Void) {
    self.clock = clock
    self.report = report
  }

  func note(_ failure: HTTPCacheFailure) {
    let text = "\(failure.step.rawValue): \(failure.error)"
    let isNew = told.withLock { $0.count < 1_000 && $0.insert(text).inserted }
    guard isNew else { return }
    report(
      LogLine(
        time: clock.timeSinceEpoch, level: .warning, source: "http",
        text: "\(failure.uri) could not be \(failure.step.words): \(failure.error)", keys: [failure.uri]))
  }
}

extension HTTPCacheFailure.Step {
  fileprivate var words: String {
    switch self {
    case .read: "read from the levels"
    case .write: "stored"
    case .remove: "removed"
    case .revalidate: "refreshed in the background"
    }
  }
}
#endif
