import Synchronization

/// Messages on their way to the main loop.
///
/// Many tasks post, one takes; whoever takes gets all that came, so that one drawing can answer many messages.
final class Mailbox<Letter: Sendable>: Sendable {
  private let letters = Mutex<[Letter]>([])
  private let signal: AsyncStream<Void>
  private let bell: AsyncStream<Void>.Continuation

  init() {
    (signal, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func post(_ letter: Letter) {
    letters.withLock { $0.append(letter) }
    bell.yield()
  }

  /// Waits until something has come.
  ///
  /// Empty if the task was cancelled.
  func take() async -> [Letter] {
    while true {
      let taken = letters.withLock { letters in
        defer { letters = [] }
        return letters
      }
      if !taken.isEmpty { return taken }
      var iterator = signal.makeAsyncIterator()
      // Where the caller runs: a hop to another thread and back would wake two of them for every letter.
      guard await iterator.next(isolation: #isolation) != nil else { return [] }
    }
  }
}
