/// Ends a sequence when nobody can send into it any more: when what it tells of is gone.
final class StreamSender<Element: Sendable>: Sendable {
  let continuation: AsyncStream<Element>.Continuation

  init(continuation: AsyncStream<Element>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}
