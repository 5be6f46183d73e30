#if Proxy
import NIOCore

/// The connections of an event loop whose answers are written and not yet sent.
///
/// They are sent once all that have asked by now have their answers, by one task of the loop: each is sent quickly then, and a client
/// that reads is not woken for each.
final class DueFlushes {
  /// One for each event loop of a group.
  struct OfLoops: Sendable {
    private let all: [ObjectIdentifier: NIOLoopBoundBox<DueFlushes>]

    init(_ group: any EventLoopGroup) {
      var all: [ObjectIdentifier: NIOLoopBoundBox<DueFlushes>] = [:]
      for loop in group.makeIterator() {
        all[ObjectIdentifier(loop)] = .makeBoxSendingValue(DueFlushes(), eventLoop: loop)
      }
      self.all = all
    }

    /// That of the event loop that this is called on.
    subscript(loop: any EventLoop) -> DueFlushes { all[ObjectIdentifier(loop)]?.value ?? DueFlushes() }
  }

  private var waiting: [ChannelHandlerContext] = []
  private var isScheduled = false

  /// Flushes what a handler has written, soon.
  func add(_ context: ChannelHandlerContext) {
    // Of several requests that came together, one flush sends all the answers.
    if waiting.last !== context { waiting.append(context) }
    guard !isScheduled else { return }
    isScheduled = true
    context.eventLoop.assumeIsolated().execute {
      self.isScheduled = false
      self.flush()
    }
  }

  private func flush() {
    let due = waiting
    waiting = []
    for context in due { context.flush() }
  }
}
#endif
