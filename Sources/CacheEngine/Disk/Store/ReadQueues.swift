import CacheCore
import Dispatch
import Synchronization

/// Threads for reads that wait for the disk.
///
/// Each queue is serial, because only to such a queue does Dispatch give a thread whenever there is work. The threads of
/// a concurrent one come from the pool that Swift's tasks run on: where callers block all of these, a read would wait for
/// a second until Dispatch notices, or for ever.
///
/// What finds no queue free waits for whichever is free first: a read that the disk does not answer holds up no other.
final class ReadQueues: Sendable {
  private struct State {
    var free: [DispatchQueue]
    /// In the order in which they came.
    var waiting: [@Sendable () -> Void] = []
    /// Those that came before these, the first one last.
    var leaving: [@Sendable () -> Void] = []

    /// What has waited longest; nothing of it stays here.
    mutating func next() -> (@Sendable () -> Void)? {
      if leaving.isEmpty { (waiting, leaving) = ([], waiting.reversed()) }
      return leaving.popLast()
    }
  }

  private let state: Mutex<State>

  init(count: Int = 8) {
    state = Mutex(State(free: (0..<count).map { DispatchQueue(label: "CacheEngine.store.reads.\($0)") }))
  }

  /// Runs a read on a queue that has nothing else to do, as soon as there is one.
  func async(_ read: @escaping @Sendable () -> Void) {
    let queue = state.withLock { state -> DispatchQueue? in
      if let queue = state.free.popLast() { return queue }
      state.waiting.append(read)
      return nil
    }
    if let queue { run(read, on: queue) }
  }

  private func run(_ read: @escaping @Sendable () -> Void, on queue: DispatchQueue) {
    queue.async { [self] in
      read()
      if let next = next(or: queue) { run(next, on: queue) }
    }
  }

  /// What is to be read next; if nothing is, the queue is free.
  private func next(or queue: DispatchQueue) -> (@Sendable () -> Void)? {
    state.withLock { state in
      let next = state.next()
      if next == nil { state.free.append(queue) }
      return next
    }
  }
}
