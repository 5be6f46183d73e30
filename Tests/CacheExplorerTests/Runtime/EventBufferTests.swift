import CacheEngine
import Testing

@testable import CacheExplorer

@Suite(.timeLimit(.minutes(1))) struct EventBufferTests {
  private func event(_ number: Int64) -> CacheEvent {
    CacheEvent(time: CacheInstant(nanoseconds: number), kind: .lookupBegan)
  }

  @Test("events come out in order, the oldest go when there is no room, and they are counted")
  func keepsNewest() {
    let buffer = EventBuffer(capacity: 3)
    for number in 0..<5 { buffer.record(event(Int64(number))) }
    let batch = buffer.drain()
    #expect(batch.events.map(\.time.nanoseconds) == [2, 3, 4])
    #expect(batch.lost == 2)
    #expect(buffer.drain().events.isEmpty)
  }

  @Test("whoever waits is woken by an event, and by cancellation")
  func wakes() async {
    let buffer = EventBuffer()
    let waiting = Task { await buffer.waitForEvents() }
    buffer.record(event(1))
    await waiting.value
    _ = buffer.drain()
    let cancelled = Task { await buffer.waitForEvents() }
    cancelled.cancel()
    await cancelled.value
  }

  @Test("a mailbox gives everything that came, in order")
  func mailbox() async {
    let mailbox = Mailbox<Int>()
    for number in 0..<5 { mailbox.post(number) }
    #expect(await mailbox.take() == [0, 1, 2, 3, 4])
    async let next = mailbox.take()
    mailbox.post(7)
    #expect(await next == [7])
  }
}
