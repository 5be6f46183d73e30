package import ExplorerState

/// What a person does, in order, for one who waits for it.
///
/// An `AsyncStream` waits in the shared pool: each key would wake a thread there, only to come back from it.
package final class InputQueue: AsyncSequence, Sendable {
  private let events = Awaited<(waiting: [InputEvent], isFinished: Bool)>((waiting: [], isFinished: false)) {
    !$0.waiting.isEmpty || $0.isFinished
  }

  package init() {}

  package func send(_ event: InputEvent) { events.put { $0.waiting.append(event) } }

  /// Nothing comes after what was sent.
  package func finish() { events.put { $0.isFinished = true } }

  package func makeAsyncIterator() -> Iterator { Iterator(queue: self) }

  package struct Iterator: AsyncIteratorProtocol {
    package typealias Element = InputEvent

    fileprivate let queue: InputQueue

    package func next(isolation actor: isolated (any Actor)?) async -> InputEvent? {
      while true {
        let (event, isFinished) = queue.events.change { events in
          (events.waiting.isEmpty ? nil : events.waiting.removeFirst(), events.isFinished)
        }
        if let event { return event }
        if isFinished || Task.isCancelled { return nil }
        await queue.events.wait(isolation: actor)
      }
    }
  }
}
