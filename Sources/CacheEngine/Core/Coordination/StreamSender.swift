/// Ends a sequence when nobody can send into it any more: when what it tells of is gone.
package final class StreamSender<Element: Sendable>: Sendable {
  package let continuation: AsyncStream<Element>.Continuation

  package init(continuation: AsyncStream<Element>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}
