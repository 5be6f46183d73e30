import Synchronization

/// Messages on their way to the main loop.
///
/// Many tasks post, one takes; whoever takes gets all that came, so that one drawing can answer many messages.
///
/// Who waits is resumed where it waits. An `AsyncStream` would go by way of the shared pool, and wake two threads for every
/// letter.
final class Mailbox<Letter: Sendable>: Sendable {
  private struct State {
    var letters: [Letter] = []
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func post(_ letter: Letter) {
    let waiting = state.withLock { state in
      state.letters.append(letter)
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Waits until something has come.
  ///
  /// Empty if the task was cancelled.
  func take() async -> [Letter] {
    while true {
      let taken = state.withLock { state in
        defer { state.letters = [] }
        return state.letters
      }
      if !taken.isEmpty || Task.isCancelled { return taken }
      await wait()
    }
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard state.letters.isEmpty, !Task.isCancelled else { return true }
          state.waiting = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      takeWaiting()?.resume()
    }
  }

  private func takeWaiting() -> CheckedContinuation<Void, Never>? {
    state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting
    }
  }
}
