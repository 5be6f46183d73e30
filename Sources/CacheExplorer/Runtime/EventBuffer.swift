import CacheEngine
import Synchronization

/// Collects the engine's events until the program has time for them.
///
/// It holds so many events and no more: when it is full the oldest go, and are counted. The engine never waits for
/// the screen.
final class EventBuffer: CacheObserver {
  struct Batch: Sendable {
    var events: [CacheEvent]
    /// How many events were dropped before these.
    var lost: Int
  }

  private struct State {
    var events: [CacheEvent] = []
    /// Where the oldest event stands once the buffer has wrapped round.
    var oldest = 0
    var lost = 0
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int = 16_384) {
    precondition(capacity > 0, "a buffer must hold something")
    self.capacity = capacity
  }

  /// Waits until there is an event, or until the task is cancelled.
  ///
  /// One task may wait.
  func waitForEvents() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard state.events.isEmpty, !Task.isCancelled else { return true }
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

  func record(_ event: CacheEvent) {
    let waiting = state.withLock { state in
      if state.events.count < capacity {
        state.events.append(event)
      } else {
        state.events[state.oldest] = event
        state.oldest = (state.oldest + 1) % capacity
        state.lost += 1
      }
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Counts events that were dropped on their way here.
  func lose(_ count: Int) { state.withLock { $0.lost += count } }

  /// Takes everything out, oldest first.
  func drain() -> Batch {
    let (events, oldest, lost) = state.withLock { state in
      defer { (state.events, state.oldest, state.lost) = ([], 0, 0) }
      return (state.events, state.oldest, state.lost)
    }
    return Batch(events: Array(events[oldest...] + events[..<oldest]), lost: lost)
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
