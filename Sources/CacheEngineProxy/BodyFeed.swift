#if Proxy
import CacheEngineHTTP
import Synchronization

/// Hands the parts of a request's content from the one who reads the connection to the one who forwards them, one at a time.
final class BodyFeed: Sendable {
  private struct State {
    var part: HTTPBody.Part?
    var end: Result<Void, any Error>?
    var reader: CheckedContinuation<HTTPBody.Part?, any Error>?
    var writer: CheckedContinuation<Void, Never>?
    var isAbandoned = false
    var isPut = false
  }

  private let state = Mutex(State())

  /// Gives a part, and waits until it was taken.
  ///
  /// - Returns: Whether anybody still reads.
  func put(_ part: HTTPBody.Part) async -> Bool {
    await withCheckedContinuation { continuation in
      let (reader, waits) = state.withLock { state -> (CheckedContinuation<HTTPBody.Part?, any Error>?, Bool) in
        if state.isAbandoned { return (nil, false) }
        if let reader = state.reader {
          state.reader = nil
          return (reader, false)
        }
        state.part = part
        state.writer = continuation
        return (nil, true)
      }
      reader?.resume(returning: part)
      if !waits { continuation.resume() }
    }
    return state.withLock { !$0.isAbandoned }
  }

  /// Ends the content, or breaks it off; to be called by the one who reads the connection.
  func put(end: Result<Void, any Error>) {
    state.withLock { $0.isPut = true }
    finish(end)
  }

  private func finish(_ end: Result<Void, any Error>) {
    let reader = state.withLock { state in
      if state.end == nil { state.end = end }
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(with: end.map { nil })
  }

  /// Whether the one who reads the connection has put everything, or puts no more.
  var isPut: Bool { state.withLock { $0.isPut } }

  /// Reads no more.
  func abandon() {
    let writer = state.withLock { state in
      state.isAbandoned = true
      state.part = nil
      defer { state.writer = nil }
      return state.writer
    }
    writer?.resume()
  }

  /// The next part; `nil` at the end.
  func next() async throws -> HTTPBody.Part? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (answer, writer) = state.withLock {
          state -> (Result<HTTPBody.Part?, any Error>?, CheckedContinuation<Void, Never>?) in
          if let part = state.part {
            state.part = nil
            defer { state.writer = nil }
            return (.success(part), state.writer)
          }
          if let end = state.end { return (end.map { nil }, nil) }
          if Task.isCancelled { return (.failure(CancellationError()), nil) }
          state.reader = continuation
          return (nil, nil)
        }
        writer?.resume()
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      finish(.failure(CancellationError()))
    }
  }
}
#endif
