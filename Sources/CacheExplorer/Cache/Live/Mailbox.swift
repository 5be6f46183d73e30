import ExplorerState

/// Messages on their way to the main loop.
///
/// Many tasks post, one takes; whoever takes gets all that came, so that one drawing can answer many messages.
package final class Mailbox<Letter: Sendable>: Sendable {
  private let letters = Awaited<[Letter]>([]) { !$0.isEmpty }

  package init() {}

  package func post(_ letter: Letter) { letters.put { $0.append(letter) } }

  /// What has come, if something has.
  package func takeAtOnce() -> [Letter] { letters.take(leaving: []) }

  /// Waits until something has come.
  ///
  /// Empty if the task was cancelled.
  package func take() async -> [Letter] {
    while true {
      let taken = takeAtOnce()
      if !taken.isEmpty || Task.isCancelled { return taken }
      await letters.wait()
    }
  }
}
