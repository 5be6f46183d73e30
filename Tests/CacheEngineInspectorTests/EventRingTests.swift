import CacheEngine
import Synchronization
import Testing

@testable import CacheEngineInspector

@Suite struct EventRingTests {
  private func event(_ number: Int) -> CacheEvent {
    CacheEvent(time: CacheInstant(nanoseconds: Int64(number)), kind: .lookupBegan)
  }

  @Test("each reader has its own place, and what it missed is counted")
  func places() {
    let ring = EventRing(capacity: 4)
    var (quick, slow): (UInt64, UInt64) = (0, 0)
    for number in 0..<3 { ring.append(event(number)) }
    #expect(ring.read(from: &quick, atMost: 10).events.map(\.time.nanoseconds) == [0, 1, 2])
    for number in 3..<10 { ring.append(event(number)) }
    let batch = ring.read(from: &slow, atMost: 3)
    #expect(batch.lost == 6)
    #expect(batch.events.map(\.time.nanoseconds) == [6, 7, 8])
    #expect(batch.hasMore)
    #expect(ring.read(from: &quick, atMost: 10).lost == 3)
    #expect(ring.read(from: &slow, atMost: 10).events.map(\.time.nanoseconds) == [9])
  }

  @Test("an emptied ring gives back nothing that was in it")
  func emptied() {
    let ring = EventRing(capacity: 4)
    for number in 0..<6 { ring.append(event(number)) }
    ring.empty()
    var place = ring.end
    #expect(place == 6)
    ring.append(event(6))
    #expect(ring.read(from: &place, atMost: 10).events.map(\.time.nanoseconds) == [6])
    for number in 7..<12 { ring.append(event(number)) }
    let batch = ring.read(from: &place, atMost: 10)
    #expect(batch.events.map(\.time.nanoseconds) == [8, 9, 10, 11])
    #expect(batch.lost == 1)
  }

  @Test("who waits is woken once, by the next event, and not if there is one already")
  func waking() {
    let ring = EventRing(capacity: 4)
    let count = Mutex(0)
    ring.addWaker(1) { count.withLock { $0 += 1 } }
    #expect(ring.await(from: 0))
    ring.append(event(0))
    ring.append(event(1))
    #expect(count.withLock { $0 } == 1)
    #expect(!ring.await(from: 0))
    ring.removeWaker(1)
    #expect(ring.await(from: 2))
    ring.append(event(2))
    #expect(count.withLock { $0 } == 1)
  }
}
