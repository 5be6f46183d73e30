import CacheEngine
import Dispatch
import Synchronization
import Testing
@testable import CacheCore
@testable import CacheMemory

@Suite(.timeLimit(.minutes(5))) struct ReadStripeTests {
  @Test("a stripe is one reader's at a time, and nobody's while it is closed")
  func taking() {
    let stripes = ReadStripes()
    let stripe = stripes[0]
    expect(!stripe.take(), "a stripe begins closed")
    stripe.release()
    expect(stripe.take())
    expect(!stripe.take(), "another one has it")
    stripe.release()
    expect(stripe.take())
    stripe.release()
    stripe.close()
    expect(!stripe.take())
  }

  @Test("who closes a stripe waits for its reader")
  func closing() {
    /// Whether the reader had ended when the stripe was closed.
    final class Meeting: Sendable {
      let stripes = ReadStripes()
      let isClosing = Atomic(false)
      let hasRead = Atomic(false)
      let hadRead = Atomic(false)
    }
    for _ in 0..<50 {
      let meeting = Meeting()
      let stripe = meeting.stripes[0]
      stripe.release()
      expect(stripe.take())
      let closed = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        meeting.isClosing.store(true, ordering: .sequentiallyConsistent)
        meeting.stripes[0].close()
        meeting.hadRead.store(
          meeting.hasRead.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
        closed.signal()
      }
      while !meeting.isClosing.load(ordering: .sequentiallyConsistent) { Backoff.wait(128) }
      for _ in 0..<20 { Backoff.wait(128) }
      meeting.hasRead.store(true, ordering: .sequentiallyConsistent)
      stripe.release()
      closed.wait()
      expect(meeting.hadRead.load(ordering: .sequentiallyConsistent))
    }
  }

  private func expect(_ holds: Bool, _ comment: Comment? = nil) { #expect(holds, comment) }
}
