import CacheEngine
import Testing

@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState

struct EventBufferTests {
  private func event(_ number: Int) -> CacheEvent {
    CacheEvent(time: CacheInstant(nanoseconds: Int64(number)), kind: .lookupBegan)
  }

  private func numbers(_ batch: EventBuffer.Batch) -> [Int] { batch.events.map { Int($0.time.nanoseconds) } }

  @Test("Events come out once, in their order")
  func order() {
    let buffer = EventBuffer(capacity: 4)
    for number in 0..<3 { buffer.record(event(number)) }
    let batch = buffer.drain()
    #expect(numbers(batch) == [0, 1, 2])
    #expect(batch.lost == 0)
    #expect(numbers(buffer.drain()) == [])
  }

  @Test("A full buffer lets the oldest go and counts them", arguments: [4, 5, 7, 8, 9, 100])
  func overflow(count: Int) {
    let buffer = EventBuffer(capacity: 4)
    for number in 0..<count { buffer.record(event(number)) }
    let batch = buffer.drain()
    #expect(numbers(batch) == Array(count - 4..<count))
    #expect(batch.lost == count - 4)
    buffer.record(event(7))
    let next = buffer.drain()
    #expect(numbers(next) == [7])
    #expect(next.lost == 0)
  }

  @Test("Who waits is woken by an event, whether it comes before or after", .timeLimit(.minutes(10)))
  func wakes() async {
    let buffer = EventBuffer(capacity: 4)
    buffer.record(event(1))
    await buffer.waitForEvents()
    #expect(numbers(buffer.drain()) == [1])
    for number in 0..<100 {
      let waiter = Task { await buffer.waitForEvents() }
      await Task.yield()
      buffer.record(event(number))
      await waiter.value
      #expect(numbers(buffer.drain()) == [number])
    }
  }

  @Test("Who waits is released by cancellation, whether it comes before or after", .timeLimit(.minutes(10)))
  func cancelled() async {
    let buffer = EventBuffer(capacity: 4)
    for _ in 0..<100 {
      let waiter = Task { await buffer.waitForEvents() }
      await Task.yield()
      waiter.cancel()
      await waiter.value
    }
    #expect(numbers(buffer.drain()) == [])
  }

  @Test("Events of many tasks are all there or all counted", .timeLimit(.minutes(10)))
  func concurrent() async {
    let buffer = EventBuffer(capacity: 64)
    let drained = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for number in 0..<1_000 { buffer.record(event(number)) }
          let batch = buffer.drain()
          return batch.events.count + batch.lost
        }
      }
      return await group.reduce(0, +)
    }
    let rest = buffer.drain()
    #expect(drained + rest.events.count + rest.lost == 8_000)
  }
}

struct MailboxTests {
  @Test("Who takes gets everything that came, in its order", .timeLimit(.minutes(10)))
  func all() async {
    let mailbox = Mailbox<Int>()
    for letter in 0..<10 { mailbox.post(letter) }
    #expect(await mailbox.take() == Array(0..<10))
    mailbox.post(10)
    #expect(await mailbox.take() == [10])
  }

  @Test("Who waits is woken by a letter, and no letter is lost", .timeLimit(.minutes(10)))
  func wakes() async {
    let mailbox = Mailbox<Int>()
    let taker = Task {
      var taken: [Int] = []
      while taken.count < 1_000 { taken += await mailbox.take() }
      return taken
    }
    for letter in 0..<1_000 {
      mailbox.post(letter)
      if letter % 10 == 0 { await Task.yield() }
    }
    #expect(await taker.value == Array(0..<1_000))
  }

  @Test("Who waits is released by cancellation with nothing", .timeLimit(.minutes(10)))
  func cancelled() async {
    let mailbox = Mailbox<Int>()
    let taker = Task { await mailbox.take() }
    await Task.yield()
    taker.cancel()
    #expect(await taker.value == [])
  }
}
