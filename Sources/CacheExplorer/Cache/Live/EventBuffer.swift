package import CacheEngine
import ExplorerState
import Synchronization

/// Collects the engine's events until the program has time for them.
///
/// It holds so many events and no more: when it is full the oldest go, and are counted. The engine never waits for
/// the screen.
package final class EventBuffer: CacheObserver {
  package struct Batch: Sendable {
    package var events: [CacheEvent]
    /// How many events were dropped before these.
    package var lost: Int
  }

  private struct Ring {
    var events: [CacheEvent] = []
    /// Where the oldest event stands once the buffer has wrapped round.
    var oldest = 0
    var lost = 0
  }

  private let capacity: Int
  private let ring = Awaited(Ring()) { !$0.events.isEmpty }

  package init(capacity: Int = 16_384) {
    precondition(capacity > 0, "a buffer must hold something")
    self.capacity = capacity
  }

  /// Waits until there is an event, or until the task is cancelled.
  ///
  /// One task may wait.
  package func waitForEvents() async { await ring.wait() }

  package func record(_ event: CacheEvent) {
    ring.put { ring in
      if ring.events.count < capacity {
        ring.events.append(event)
      } else {
        ring.events[ring.oldest] = event
        ring.oldest = (ring.oldest + 1) % capacity
        ring.lost += 1
      }
    }
  }

  /// Counts events that were dropped on their way here.
  package func lose(_ count: Int) { ring.put { $0.lost += count } }

  /// Takes everything out, oldest first.
  package func drain() -> Batch {
    let taken = ring.take(leaving: Ring())
    // A copy of so many events takes megabytes.
    guard taken.oldest > 0 else { return Batch(events: taken.events, lost: taken.lost) }
    return Batch(events: Array(taken.events[taken.oldest...] + taken.events[..<taken.oldest]), lost: taken.lost)
  }
}

/// What happened on behalf of one command, so that its answer can say it.
final class Transcript: Sendable {
  /// The transcript of the command that the current task works for.
  @TaskLocal static var current: Transcript?

  private let log = Mutex<[CacheEvent]>([])

  var events: [CacheEvent] { log.withLock { $0 } }

  func append(_ event: CacheEvent) { log.withLock { $0.append(event) } }
}

/// Writes events into the transcript of the command that they belong to.
struct TranscriptObserver: CacheObserver {
  func record(_ event: CacheEvent) { Transcript.current?.append(event) }
}
