import CacheCore
import Synchronization

/// The answer that one caller waits for.
///
/// It is given once; whoever comes later comes for nothing.
final class HTTPReply: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<TransportResponse, any Error>)
    case given
  }

  private let state = Mutex(State.open)

  /// Whether the caller has its answer, so that further work is for nothing.
  var isGiven: Bool {
    state.withLock { if case .given = $0 { true } else { false } }
  }

  /// Waits for the answer.
  ///
  /// - Returns: Whether there is work to do; `false` if the caller was cancelled before.
  func await(_ continuation: CheckedContinuation<TransportResponse, any Error>) -> Bool {
    let waits = state.withLock { state -> Bool in
      if case .given = state { return false }
      state = .awaited(continuation)
      return true
    }
    if !waits { continuation.resume(throwing: CancellationError()) }
    return waits
  }

  /// Gives the answer, unless one was given before.
  func give(_ result: Result<TransportResponse, any Error>) {
    let waiting = state.withLock { state -> CheckedContinuation<TransportResponse, any Error>? in
      defer { state = .given }
      if case .awaited(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume(with: result)
  }
}
