import CacheCore
import Dispatch
import Synchronization

/// Threads for reads that wait for the disk.
///
/// Each queue is serial, because only to such a queue does Dispatch give a thread whenever there is work. The threads of
/// a concurrent one come from the pool that Swift's tasks run on: where callers block all of these, a read would wait for
/// a second until Dispatch notices, or for ever.
final class ReadQueues: Sendable {
  private let queues: [DispatchQueue]
  /// How many reads each queue has.
  private let loads: Mutex<[Int]>

  init(count: Int = 8) {
    queues = (0..<count).map { DispatchQueue(label: "CacheEngine.store.reads.\($0)") }
    loads = Mutex(Array(repeating: 0, count: count))
  }

  /// Runs a read on the queue that has the least to do.
  func async(_ read: @escaping @Sendable () -> Void) {
    let place = loads.withLock { loads in
      let place = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[place] += 1
      return place
    }
    queues[place].async { [self] in
      read()
      loads.withLock { $0[place] -= 1 }
    }
  }
}
