import CacheEngine
import CacheEngineTesting
import Testing
@testable import CacheMemory

@Suite struct AdaptivePolicyTests {
  @Test("the adaptive policy orders what is in use while entries are many and few, in its miniatures as well")
  func adaptiveOrders() {
    var generator = SeededGenerator(seed: 9)
    var policy = AdaptivePolicy()
    var held: Set<Int32> = []
    for step in 0..<60_000 {
      // The capacity swings, as it does where entries have weights, and so does what is asked for.
      let capacity = 20 + step / 20_000 * 300 + step / 500 % 2 * 200
      let hash = step / 8_000 % 2 == 0 ? UInt32.random(in: 0..<900, using: &generator) : UInt32(step % 1_100)
      let slot = Int32(hash)
      if held.contains(slot) {
        policy.touched(slot)
      } else {
        policy.arriving(hash)
        while held.count >= capacity, let victim = policy.evict() { held.remove(victim) }
        policy.inserted(slot, hash: hash)
        held.insert(slot)
      }
      if step % 997 == 0, let gone = held.randomElement(using: &generator) {
        policy.removed(gone)
        held.remove(gone)
      }
      guard step % 499 == 0, let flaw = policy.flaw(holding: held) else { continue }
      Issue.record("step \(step): \(flaw)")
      return
    }
    while let victim = policy.evict() { expect(held.remove(victim) != nil) }
    #expect(held.isEmpty)
  }

  @Test("with fewer than four entries the adaptive policy evicts by order of use")
  func adaptiveOfFew() {
    var adaptive = AdaptivePolicy()
    var lru = LeastRecentlyUsed()
    for slot in 0..<3 as Range<Int32> {
      adaptive.inserted(slot, hash: UInt32(slot))
      lru.inserted(slot, hash: UInt32(slot))
    }
    for new in 100..<400 as Range<UInt32> {
      for slot in [2, 0] as [Int32] where new % 3 == 0 {
        adaptive.touched(slot)
        lru.touched(slot)
      }
      adaptive.arriving(new)
      let victim = adaptive.evict()
      #expect(victim == lru.evict())
      guard let victim else { return }
      adaptive.inserted(victim, hash: new)
      lru.inserted(victim, hash: new)
    }
  }

  @Test("once it is full, the adaptive policy lets a scan take a fifth of what was used before")
  func adaptiveBeginsBalanced() {
    var policy = AdaptivePolicy()
    for slot in 0..<100 as Range<Int32> { policy.inserted(slot, hash: UInt32(slot)) }
    for slot in 0..<100 as Range<Int32> { policy.touched(slot) }
    var held = Set(0..<100 as Range<UInt32>)
    for new in 1_000..<1_100 as Range<UInt32> {
      policy.arriving(new)
      guard let victim = policy.evict() else { return }
      held.remove(policy.hash(victim))
      policy.inserted(victim, hash: new)
    }
    #expect(held.count == 80, "order of use would have kept none")
  }

  @Test("a miniature whose sample was small when the cache was full has no larger window afterwards")
  func smallSample() {
    /// Hits in a loop of 150 with room for 100, once it has gone round ten times.
    func hits(begunWith count: UInt32) -> Int {
      let sketch = FrequencySketch()
      var miniature = Miniature(.frequency)
      for hash in 0..<count { miniature.admit(hash, uses: 0) }
      return (0..<4_500 as Range<UInt32>).count { step in
        let hash = step % 150
        return miniature.request(hash, FrequencySketch.mix(hash), size: 100, sketch) && step >= 1_500
      }
    }
    #expect(hits(begunWith: 100) > 1_900)
    #expect(hits(begunWith: 84) == hits(begunWith: 100))
  }

  @Test("what was popular long ago keeps nothing out that is more popular than the rest")
  func formerlyPopular() throws {
    var (order, sketch) = (WindowedOrder(.frequency), FrequencySketch(period: 1_000))
    sketch.reserve(100)
    for slot in 0..<100 as Range<Int32> { order.inserted(slot, hash: UInt32(slot), isReturning: false) }
    order.fill()
    sketch.increment(0, by: 15)
    for hash in 1..<100 as Range<UInt32> { sketch.increment(hash) }
    var held = Set(0..<100 as Range<UInt32>)
    for hash in 100..<200 as Range<UInt32> {
      sketch.increment(hash, by: 3)
      let next = order.evict(of: order.rivals, sketch)
      let left = try #require(next)
      held.remove(left.hash)
      held.insert(hash)
      order.inserted(left.slot, hash: hash, isReturning: false)
    }
    expect(held.contains(0))
    #expect(held.count { $0 >= 100 } > 90)
  }

  @Test("what is kept by frequency gives way to what came twice more, and to nothing that was only counted sooner")
  func lead() throws {
    func kept(_ division: Division, counted count: Int) throws -> Int {
      var (order, sketch) = (WindowedOrder(division), FrequencySketch(period: 1_000))
      sketch.reserve(100)
      for slot in 0..<100 as Range<Int32> { order.inserted(slot, hash: UInt32(slot), isReturning: false) }
      order.fill()
      for hash in 0..<100 as Range<UInt32> { sketch.increment(hash, by: 3) }
      var held = Set(0..<100 as Range<UInt32>)
      for hash in 100..<150 as Range<UInt32> {
        sketch.increment(hash, by: count)
        let next = order.evict(of: order.rivals, sketch)
        let left = try #require(next)
        held.remove(left.hash)
        order.inserted(left.slot, hash: hash, isReturning: false)
      }
      return held.count
    }
    #expect(try kept(.frequency, counted: 4) > 95)
    #expect(try kept(.frequency, counted: 5) < 55)
    #expect(try kept(.balanced, counted: 4) < 55)
  }

  @Test("of a loop, as much is found as there is room for, whatever the hashes of the keys")
  func loop() {
    let requests = (0..<200_000).map { $0 % 4_000 }
    let ratios = (0..<3).map { ratio(requests, keys: 4_000, capacity: 2_000, seed: $0) }
    #expect(ratios.allSatisfy { $0 > 47.5 }, "\(ratios)")
  }

  @Test("what the adaptive policy reaches on recorded requests depends little on the hashes of the keys")
  func luck() throws {
    let requests = try TestTrace.web.requests
    let keys = (requests.max() ?? 0) + 1
    let ratios = (0..<8).map { ratio(requests, keys: keys, capacity: 400, seed: $0) }
    let (least, most) = (ratios.min() ?? 0, ratios.max() ?? 0)
    #expect(least > 57 && most - least < 1, "\(ratios)")
  }

  /// In percent, with one of several sets of hashes.
  private func ratio(_ requests: [Int], keys: Int, capacity: Int, seed: Int) -> Double {
    var policy = AdaptivePolicy()
    var (slots, held) = ([Int32?](repeating: nil, count: keys), [Int]())
    let hits = requests.count { key in
      if let slot = slots[key] {
        policy.touched(slot)
        return true
      }
      let hash = UInt32(truncatingIfNeeded: FrequencySketch.mix(UInt32(key)) >> (seed * 4))
      policy.arriving(hash)
      var slot = Int32(held.count)
      if held.count == capacity, let victim = policy.evict() {
        slots[held[Int(victim)]] = nil
        slot = victim
        held[Int(slot)] = key
      } else {
        held.append(key)
      }
      slots[key] = slot
      policy.inserted(slot, hash: hash)
      return false
    }
    return 100 * Double(hits) / Double(requests.count)
  }
}
