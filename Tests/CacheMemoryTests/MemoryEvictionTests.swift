import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheCore
@testable import CacheMemory

@Suite struct MemoryEvictionTests {
  @Test(
    "C125 with every policy random operations keep all limits, lose nothing else, and report every removal once",
    arguments: Eviction.all, 0..<4)
  func agreesWithModel(eviction: Eviction, seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let clock = ManualClock()
    let removals = Mutex<[Removal<Int>]>([])
    let level = MemoryCacheLevel<Int, Int>(
      capacity: 60, countLimit: seed % 2 == 0 ? 25 : nil, eviction: eviction, clock: clock,
      removalListener: { removal in removals.withLock { $0.append(removal) } }, cost: { $1 % 7 })
    var model: [Int: Int] = [:]
    for step in 0..<2_000 {
      let key = Int.random(in: 0..<60, using: &generator)
      var allowed: Set<RemovalCause> = []
      var stored: Int?
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<45:
        let found = try await level.lookup(key).entry?.value
        #expect(found == nil || found == model[key])
        allowed = [.expired]
      case 45..<85:
        stored = key
        let expiry: Expiry = step % 5 == 0 ? .after(.seconds(30)) : .never
        try await level.set(step, forKey: key, expiry: expiry)
        allowed = [.replaced, .evicted, .expired]
      case 85..<88:
        stored = key
        try await level.store(step, forKey: key, terms: StoreTerms(cost: 61))
        allowed = [.replaced, .evicted]
      case 88..<93:
        try await level.remove(key)
        allowed = [.removed]
      case 93..<95: try await level.expire(key)
      case 95..<97:
        clock.advance(by: .seconds(10))
        try await level.removeExpired()
        allowed = [.expired]
      case 97:
        try await level.clear()
        allowed = [.cleared]
      case 98:
        await level.onMemoryWarning()
        allowed = [.memoryWarning]
      default: clock.advance(by: .seconds(1))
      }
      let left = removals.withLock { removals in
        defer { removals = [] }
        return removals
      }
      // The value that a store replaced and the value that it brought have one key.
      var gone: [Int: Int] = [:]
      for removal in left {
        #expect(allowed.contains(removal.cause))
        gone[removal.key, default: 0] += 1
      }
      for (goneKey, count) in gone { #expect(count <= (model[goneKey] == nil ? 0 : 1) + (stored == goneKey ? 1 : 0)) }
      let before = (stored.map { model[$0] == nil ? 0 : 1 } ?? 0) + (stored == nil ? 0 : 1)
      for goneKey in gone.keys where goneKey != stored { model[goneKey] = nil }
      if let stored { model[stored] = before - (gone[stored] ?? 0) > 0 ? step : nil }
      #expect(Set(try await level.contents().map(\.key)) == Set(model.keys))
      if let flaw = level.flaw {
        Issue.record("step \(step): \(flaw)")
        return
      }
    }
  }

  private typealias Entries = MemoryEntries<Int, Int>

  /// Entries and their order, with what left them, key by key.
  private struct Held: ~Copyable {
    var order: MemoryOrder
    var entries: Entries
    var left: [Int] = []

    init(_ eviction: Eviction) {
      order = MemoryOrder(capacity: 60, countLimit: 25, eviction: eviction, mostUndivided: .max)
      entries = Entries(uses: order.policy.uses)
    }

    /// Stores a key that is not held, in the place of what leaves for it where that is possible; returns whether it was.
    mutating func store(_ key: Int, cost: Int, hash: UInt32, inPlace: Bool) -> Bool {
      let now = CacheInstant(nanoseconds: 0)
      var entry = MemoryEntry(value: key, cost: cost, created: now)
      var departed = Departed<Int, Int>()
      if inPlace, let key = entries.replace(with: key, &entry, hash: hash, order: &order, departed: &departed) {
        left.append(key)
        return true
      }
      entries.insert(
        Entries.Table.Record(key: key, entry: entry), hash: hash, over: nil, tags: nil, keepsExpired: .zero, now: now,
        order: &order, departed: &departed)
      departed.forEach { record, _ in left.append(record.key) }
      return false
    }
  }

  @Test("the same leaves whether what comes takes its place or is inserted after it", arguments: Eviction.all, 0..<4)
  func inPlace(eviction: Eviction, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let hashing = KeyHashing<Int>()
    var one = Held(eviction)
    var other = Held(eviction)
    var inPlace = 0
    for step in 0..<3_000 {
      let key = Int.random(in: 0..<(step % 500 < 250 ? 40 : 400), using: &generator)
      let cost = seed % 2 == 0 ? 1 : Int.random(in: 0..<9, using: &generator)
      let hash = hashing(key)
      let (slot, otherSlot) = (one.entries.table.find(key, hash: hash), other.entries.table.find(key, hash: hash))
      #expect(slot == otherSlot)
      if let slot {
        one.order.touched(slot)
        other.order.touched(slot)
      } else {
        if one.store(key, cost: cost, hash: hash, inPlace: true) { inPlace += 1 }
        _ = other.store(key, cost: cost, hash: hash, inPlace: false)
      }
      let (flaw, left, otherLeft) = (one.entries.flaw(in: one.order, hashing: hashing), one.left, other.left)
      #expect(flaw == nil)
      #expect(left == otherLeft)
      (one.left, other.left) = ([], [])
    }
    let (counts, otherCounts) = (
      [one.order.cost, one.order.stored, one.order.evictions],
      [other.order.cost, other.order.stored, other.order.evictions]
    )
    #expect(counts == otherCounts)
    #expect(inPlace > 300)
  }

  @Test("what was just stored can be read, with every policy", arguments: Eviction.all)
  func newestIsHeld(eviction: Eviction) async throws {
    let level = MemoryCacheLevel<Int, Int>(countLimit: 10, eviction: eviction)
    for key in 0..<10 { try await level.set(key, forKey: key) }
    for _ in 0..<20 { for key in 0..<10 { _ = level.peek(key) } }
    for key in 10..<500 {
      try await level.set(key, forKey: key)
      #expect(level.peek(key) == key)
    }
  }

  @Test("an overwrite that needs no room keeps an entry's place, and one that needs room evicts others for it")
  func overwriting() async throws {
    let level = MemoryCacheLevel<String, String>(capacity: 6, eviction: .fifo)
    for key in ["a", "b", "c"] { try await level.set("xx", forKey: key) }
    try await level.set("y", forKey: "a")
    try await level.set("xx", forKey: "d")
    #expect(Set(try await level.contents().map(\.key)) == ["b", "c", "d"])
    try await level.set("zzzz", forKey: "b")
    #expect(Set(try await level.contents().map(\.key)) == ["b", "d"])
    #expect(level.usage.cost == 6)
  }

  @Test("a choice is found by its name")
  func names() {
    for eviction in Eviction.all { #expect(Eviction(name: eviction.name) == eviction) }
    #expect(Eviction(name: "random") == nil)
    #expect(Eviction.all.map(\.description) == ["lru", "fifo", "clock", "sieve", "s3fifo", "wtinylfu", "adaptive"])
  }
}
