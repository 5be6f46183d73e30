import CacheEngine
import Testing
@testable import CacheCore
@testable import CacheMemory

@Suite struct SlotUsesTests {
  private let uses = SlotUses()

  /// A slot came in, and the order knows it.
  private func insert(_ slots: Range<Int32>, of count: Int) {
    for slot in slots { uses.insert(slot, count: count, fewest: 32) }
  }

  @Test("the order is told of a slot once in an era, which lasts until an eighth as many came in as there are")
  func eras() {
    insert(0..<80, of: 80)
    let old: Int32 = 3
    #expect(uses.isNews(old, 99) && uses.isNews(old, 99), "who is told has yet to move it")
    uses.renew(old)
    #expect(!uses.isNews(old, 99) && !uses.isNews(old, 99))
    insert(80..<90, of: 80)
    #expect(uses.isNews(old, 99))
  }

  @Test("uses that the order is not told of are counted, up to fifteen, and handed over once")
  func counts() {
    insert(0..<80, of: 80)
    uses.renew(3)
    for _ in 0..<4 { #expect(!uses.isNews(3, 99)) }
    #expect(uses.take(3) == 4)
    #expect(uses.take(3) == 0)
    for _ in 0..<40 { #expect(!uses.isNews(3, 99)) }
    #expect(uses.take(3) == 15)
    #expect(uses.take(4) == 0)
  }

  @Test("the order is told of every use while entries are few, and of every use of a key in the sample")
  func always() {
    insert(0..<31, of: 31)
    uses.renew(3)
    #expect(uses.isNews(3, 99) && uses.isOld(3))
    insert(31..<80, of: 80)
    uses.renew(3)
    unsafe uses.header.pointee.sampled = SlotUses.sample(99)
    #expect(uses.isNews(3, 99) && !uses.isOld(3))
    #expect(SlotUses.sample(98) <= SlotUses.sample(99) || !uses.isNews(3, 98))
  }

  @Test("a slot that is used again by another entry has no uses")
  func reused() {
    insert(0..<80, of: 80)
    uses.renew(3)
    for _ in 0..<4 { _ = uses.isNews(3, 99) }
    insert(3..<4, of: 80)
    #expect(uses.take(3) == 0)
  }

  @Test("policies that promise an exact order are told of every hit", arguments: ["lru", "wtinylfu"])
  func exact(name: String) async throws {
    let eviction = try #require(Eviction(name: name))
    let level = MemoryCacheLevel<Int, Int>(countLimit: 100, eviction: eviction)
    for key in 0..<100 { try await level.set(key, forKey: key) }
    let told = level.parts.withLock(of: 0) { entries, _ in
      (0..<100 as Range<Int32>).count { entries.uses.isNews($0, 1) }
    }
    #expect(told == 100)
  }

  @Test("a hit that is counted and not told still wins the duel for room")
  func counted() {
    // Many keys come twice and never again; one is used all the time, in bursts within an era.
    var policy = AdaptivePolicy()
    for slot in 0..<100 as Range<Int32> { policy.inserted(slot, hash: UInt32(slot) &* 2_654_435_761) }
    let loved: Int32 = 7
    for new in 1_000..<6_000 as Range<UInt32> {
      for _ in 0..<3 { policy.touched(loved) }
      policy.arriving(new &* 2_654_435_761)
      guard let victim = policy.evict() else { return }
      if victim == loved {
        Issue.record("what was used three times since the last eviction left")
        return
      }
      policy.inserted(victim, hash: new &* 2_654_435_761)
    }
  }
}
