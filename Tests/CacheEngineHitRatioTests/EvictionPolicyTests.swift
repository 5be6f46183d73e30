import CacheEngine
@testable import CacheEngineHitRatio
import CacheEngineTesting
import Testing
@testable import CacheMemory

@Suite struct EvictionPolicyTests {
  @Test(
    "every policy orders exactly the slots in use after every operation, and gives up each of them",
    arguments: 0..<6)
  func ordersWhatIsHeld(seed: UInt64) {
    check(LeastRecentlyUsed(), seed)
    check(FirstInFirstOut(), seed)
    check(SecondChance(), seed)
    check(Sieve(), seed)
    check(S3FIFO(), seed)
    check(WindowTinyLFU(), seed)
    check(AdaptivePolicy(), seed)
    check(TwoQueue(), seed)
    check(AdaptiveReplacement(), seed)
  }

  @Test("small caches that are asked side by side count no uses of each other")
  func apart() {
    let question = GhostCaches.Question(
      eviction: .adaptive, fullCapacity: 300, capacity: 300, policy: ChosenPolicy(.adaptive))
    func misses(beside others: Int) -> [[Double]] {
      var caches = (0...others).map { _ in GhostCaches([question], groups: 1) }
      for key in TestTrace.popular(20_000, keys: 2_000) {
        for index in caches.indices {
          let hash = HitRatioEstimator.hash("\(key + index)")
          caches[index].request(hash, cost: 1, lifetime: 0, at: 0, group: 0, weight: 1)
        }
      }
      return caches[0].misses
    }
    #expect(misses(beside: 1) == misses(beside: 0))
  }

  @Test("a hash is remembered for as many later ones as the limit says, and once")
  func recentHashes() {
    var recent = RecentHashes()
    for hash in 0..<1_000 as Range<UInt32> { recent.insert(hash, limit: 100) }
    expect(!(0..<900 as Range<UInt32>).contains { recent.remove($0) })
    let found = (900..<1_000 as Range<UInt32>).count { recent.remove($0) }
    #expect(found > 75, "few buckets overflow")
    expect(!recent.remove(999))
    recent.insert(5, limit: 1)
    expect(recent.remove(5))
    // So many that ages are kept in steps, and that turns begin again several times.
    for hash in 0..<2_000_000 as Range<UInt32> { recent.insert(hash, limit: 100_000) }
    expect((1_700_000..<1_898_000 as Range<UInt32>).count { recent.remove($0) } < 20)
    expect((1_902_000..<2_000_000 as Range<UInt32>).count { recent.remove($0) } > 83_000)
  }

  private func check(_ empty: some EvictionPolicy, _ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var policy = empty
    var held: Set<Int32> = []
    // Like a table, with the lowest free slot.
    func insert() {
      guard let slot = (0..<40).first(where: { !held.contains($0) }) else { return }
      let hash = UInt32.random(in: 0..<60, using: &generator)
      policy.arriving(hash)
      policy.inserted(slot, hash: hash)
      held.insert(slot)
    }
    for _ in 0..<1_500 {
      let slot = Int32.random(in: 0..<40, using: &generator)
      switch (Int.random(in: 0..<10, using: &generator), held.contains(slot)) {
      case (0..<6, true): policy.touched(slot)
      case (6, true):
        policy.removed(slot)
        held.remove(slot)
      case (9, _):
        let victim = policy.evict()
        #expect(victim.map { held.contains($0) } ?? held.isEmpty)
        if let victim { held.remove(victim) }
      case (_, false): insert()
      default: break
      }
      guard let flaw = policy.flaw(holding: held) else { continue }
      Issue.record("\(type(of: policy)): \(flaw)")
      return
    }
    while let victim = policy.evict() { expect(held.remove(victim) != nil) }
    #expect(held.isEmpty)
  }

  @Test("S3-FIFO keeps what is used through a scan that LRU is washed out by")
  func scanResistance() {
    let popular = (0..<50).flatMap { _ in 0..<20 }
    let trace = RequestTrace(popular + Array(1_000..<2_000) + Array(0..<20))
    let scanned = popular.count - 20
    #expect(HitRatio.simulate(policy: .lru, capacity: 100, trace: trace).hits == scanned)
    for policy in [SimulatedPolicy.s3fifo, .wtinylfu, .arc, .sieve] {
      #expect(HitRatio.simulate(policy: policy, capacity: 100, trace: trace).hits == scanned + 20, "\(policy)")
    }
  }

  @Test("the sketch never says less than what was counted since it last aged, and forgets by half")
  func sketch() {
    var sketch = FrequencySketch()
    sketch.reserve(1_024)
    for hash in 0..<100 as Range<UInt32> { for _ in 0..<hash % 10 { sketch.increment(hash) } }
    for hash in 0..<100 as Range<UInt32> { #expect(sketch.frequency(hash) >= Int(hash % 10)) }
    #expect((0..<100 as Range<UInt32>).count { sketch.frequency($0) == Int($0 % 10) } > 90)
    for _ in 0..<20 { sketch.increment(7) }
    #expect(sketch.frequency(7) == 15)
    for hash in 1_000..<12_000 as Range<UInt32> { sketch.increment(hash) }
    #expect(sketch.frequency(7) < 15)
  }

  @Test("what is counted in one step leaves the sketch as several steps would, also where it ages in between")
  func sketchInOneStep() {
    var generator = SeededGenerator(seed: 5)
    var (once, apart) = (FrequencySketch(), FrequencySketch())
    once.reserve(20)
    apart.reserve(20)
    for _ in 0..<20_000 {
      let (hash, uses) = (UInt32.random(in: 0..<40, using: &generator), Int.random(in: 0..<16, using: &generator))
      once.increment(mixed: FrequencySketch.mix(hash), after: uses)
      if uses > 0 { apart.increment(hash, by: uses) }
      apart.increment(hash)
      let isSame = (0..<40 as Range<UInt32>).allSatisfy { once.frequency($0) == apart.frequency($0) }
      guard isSame else {
        Issue.record("they differ after \(hash) was counted \(uses) + 1 times")
        return
      }
    }
  }

  @Test("a sketch that grows keeps what it has counted")
  func sketchGrows() {
    var sketch = FrequencySketch()
    sketch.reserve(1)
    for _ in 0..<5 { sketch.increment(3) }
    sketch.reserve(10_000)
    #expect(sketch.frequency(3) == 5)
  }

  @Test("a sketch that grows step by step counts nothing less often than it came, and little of it more often")
  func sketchGrowsInSteps() {
    var sketch = FrequencySketch()
    sketch.reserve(600)
    for hash in 0..<600 as Range<UInt32> { for _ in 0..<hash % 7 { sketch.increment(hash) } }
    for entries in stride(from: 700, through: 3_000, by: 100) {
      sketch.reserve(entries)
      #expect((0..<600 as Range<UInt32>).allSatisfy { sketch.frequency($0) >= Int($0 % 7) }, "with \(entries) entries")
    }
    #expect((0..<600 as Range<UInt32>).count { sketch.frequency($0) == Int($0 % 7) } > 500)
    #expect((1_000..<2_000 as Range<UInt32>).count { sketch.frequency($0) == 0 } > 500)
  }

  @Test("ghosts are forgotten oldest first, and one that came again is young")
  func ghosts() {
    var ghosts = GhostQueue()
    for hash in 0..<5 as Range<UInt32> { ghosts.append(hash) }
    expect(ghosts.remove(0))
    ghosts.append(0)
    ghosts.trim(to: 2)
    #expect(ghosts.contains(0) && ghosts.contains(4) && ghosts.count == 2)
    expect(!ghosts.remove(1))
  }
}
