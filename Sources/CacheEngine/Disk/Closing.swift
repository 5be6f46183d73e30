import Synchronization

/// Whether something is open, and how its one closing ended.
final class Closing: Sendable {
  private enum State {
    case open
    /// Who else waits for the end.
    case underWay([CheckedContinuation<Void, any Error>])
    case ended(Result<Void, any Error>)
  }

  private let state = Mutex(State.open)

  var hasBegun: Bool { state.withLock { if case .open = $0 { false } else { true } } }

  /// Closes if nobody has begun to; otherwise waits for whoever has, and fails as that did.
  func close(_ work: () async throws -> Void) async throws {
    let isFirst = state.withLock { state in
      guard case .open = state else { return false }
      state = .underWay([])
      return true
    }
    guard isFirst else { return try await end() }
    let result: Result<Void, any Error>
    do { result = .success(try await work()) } catch { result = .failure(error) }
    let began = state.withLock { state in
      defer { state = .ended(result) }
      return state
    }
    if case .underWay(let waiting) = began { for waiter in waiting { waiter.resume(with: result) } }
    try result.get()
  }

  private func end() async throws {
    try await withCheckedThrowingContinuation { waiter in
      let result: Result<Void, any Error>? = state.withLock { state in
        switch state {
        case .underWay(let waiting): state = .underWay(waiting + [waiter])
        case .ended(let result): return result
        case .open: preconditionFailure("a closing that nobody has begun is waited for")
        }
        return nil
      }
      if let result { waiter.resume(with: result) }
    }
  }
}
