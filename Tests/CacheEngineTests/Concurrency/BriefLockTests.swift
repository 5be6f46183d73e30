import CacheCore
import Foundation
import TestSupport
import Testing

/// The lock that memory levels, gates and stores take for a moment.
@Suite(.timeLimit(.minutes(10))) struct BriefLockTests {
  private struct Refusal: Error {}

  private final class Counter: Sendable {
    /// Two counts that are equal whenever nobody has the lock.
    let lock = BriefLock((first: 0, second: 0))
  }

  @Test("one thread at a time has the value, and nobody sleeps for ever", arguments: [2, 8])
  func exclusion(threads: Int) async {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<threads {
        group.addTask {
          await withCheckedContinuation { done in
            Thread.detachNewThread {
              for round in 0..<20_000 {
                counter.lock.withLock { counts in
                  counts.first += 1
                  // Now and then for so long that the others go to sleep.
                  if (round + thread) % 500 == 0 { for _ in 0..<20 { sched_yield() } }
                  counts.second += 1
                }
                if round % 7 == 0 { _ = counter.lock.withLockIfAvailable { ($0.first += 1, $0.second += 1) } }
              }
              done.resume()
            }
          }
        }
      }
    }
    let counts = counter.lock.withLock { $0 }
    #expect(counts.first == counts.second)
    #expect(counts.first >= threads * 20_000)
  }

  @Test("who does not want to wait is told that it is taken")
  func ifAvailable() {
    let counter = Counter()
    counter.lock.withLock { _ in
      #expect(counter.lock.withLockIfAvailable { $0.first } == nil)
    }
    #expect(counter.lock.withLockIfAvailable { $0.first } == 0)
  }

  @Test("it is given back when the closure throws")
  func throwing() {
    let counter = Counter()
    #expect(throws: Refusal.self) { try counter.lock.withLock { _ in throw Refusal() } }
    #expect(throws: Refusal.self) { try counter.lock.withLockIfAvailable { _ in throw Refusal() } }
    #expect(counter.lock.withLock { $0.first } == 0)
  }

  @Test("what it holds dies with it")
  func end() {
    final class Held: Sendable {}
    weak var held: Held?
    do {
      let value = Held()
      held = value
      let lock = BriefLock(value)
      #expect(lock.withLock { $0 === value })
    }
    #expect(held == nil)
  }
}
