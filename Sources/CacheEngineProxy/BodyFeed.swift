#if Proxy
import CacheEngineHTTP
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Hands the parts of a request's content from the one who reads the connection to the one who forwards them, one at a time.
final class BodyFeed: Sendable {
  private struct State {
    var part: HTTPBody.Part?
    var end: Result<Void, any Error>?
    var reader: CheckedContinuation<HTTPBody.Part?, any Error>?
    var writer: CheckedContinuation<Void, Never>?
    var isAbandoned = false
    var isPut = false
    /// The bytes that are still to be put, if that is known.
    var left: Int?
  }

  private let state: Mutex<State>

  /// `length`: How many bytes there will be, if that is known.
  init(length: Int?) { state = Mutex(State(left: length)) }

  /// Gives bytes, and waits until they were taken.
  ///
  /// - Returns: Whether to go on: somebody still reads, or there is nothing left but the end.
  func put(_ bytes: Data) async -> Bool {
    state.withLock { state in
      state.left? -= bytes.count
      if state.left == 0 { state.isPut = true }
    }
    await withCheckedContinuation { continuation in
      let (reader, waits) = state.withLock { state -> (CheckedContinuation<HTTPBody.Part?, any Error>?, Bool) in
        if state.isAbandoned { return (nil, false) }
        if let reader = state.reader {
          state.reader = nil
          return (reader, false)
        }
        state.part = .bytes(bytes)
        state.writer = continuation
        return (nil, true)
      }
      reader?.resume(returning: .bytes(bytes))
      if !waits { continuation.resume() }
    }
    return state.withLock { !$0.isAbandoned || $0.isPut }
  }

  /// Ends the content, or breaks it off; to be called by the one who reads the connection.
  func put(end: Result<Void, any Error>) {
    if case .success = end { state.withLock { $0.isPut = true } }
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

  /// Whether the one who reads the connection has put everything.
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
