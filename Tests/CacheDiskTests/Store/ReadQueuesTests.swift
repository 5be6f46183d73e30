import Dispatch
import Synchronization
import Testing

@testable import CacheDisk

@Suite struct ReadQueuesTests {
  @Test("what waits while all threads are taken goes on by the first one that is free, whichever that is")
  func hung() {
    let queues = ReadQueues(count: 2)
    let (hangs, works, isDone) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    queues.async { hangs.wait() }
    queues.async { works.wait() }
    for _ in 0..<4 { queues.async { isDone.signal() } }
    works.signal()
    for _ in 0..<4 where isDone.wait(timeout: .now() + 20) == .timedOut { Issue.record("a read waits for another") }
    hangs.signal()
    // Each is free again.
    for _ in 0..<4 { queues.async { isDone.signal() } }
    for _ in 0..<4 where isDone.wait(timeout: .now() + 20) == .timedOut { Issue.record("a thread is not free") }
  }

  @Test("what has waited goes in the order in which it came, and nothing of it stays")
  func gone() {
    final class Read: Sendable {}
    let queues = ReadQueues(count: 1)
    let (begins, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let order = Mutex<[Int]>([])
    queues.async { begins.wait() }
    weak var left: Read?
    do {
      let read = Read()
      left = read
      queues.async { withExtendedLifetime(read) {} }
    }
    withExtendedLifetime(queues) {
      for number in 0..<5 {
        queues.async {
          order.withLock { $0.append(number) }
          if number == 4 { isDone.signal() }
        }
      }
      begins.signal()
      #expect(isDone.wait(timeout: .now() + 20) == .success)
      #expect(left == nil)
    }
    #expect(order.withLock { $0 } == [0, 1, 2, 3, 4])
  }
}
