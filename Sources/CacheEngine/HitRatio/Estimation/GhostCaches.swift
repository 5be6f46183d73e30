import CacheMemory
import CacheCore

/// Caches of hashes without values, side by side: one for each question, each as large as the sampled share of a real one.
///
/// A key has one number in all of them, and that is the slot which their policies order: what is asked for is looked up
/// once, and whoever holds it is a bit of its record.
struct GhostCaches: Sendable {
  /// One of the caches.
  struct Question: Sendable {
    let eviction: Eviction
    /// How large the cache is that it stands for.
    let fullCapacity: Int
    /// How large it is itself.
    var capacity: Double
    /// No whole number, for it is the sum of what may be anything.
    var cost = 0.0
    var count = 0
    var policy: ChosenPolicy

    func hasRoom(for newCost: Int) -> Bool { cost + Double(newCost) <= capacity }

    /// How many entries it has room for, if all weigh what those in it do in the mean.
    var places: Double { cost > 0 ? capacity * Double(count) / cost : .infinity }

    /// Whether the policy decides by hashes that differ between processes: it answers the same requests differently each time.
    var dependsOnHashes: Bool { eviction == .adaptive || eviction == .wtinylfu }

    /// Whether the policy does something else in a cache of this size than in that which it stands for.
    func behavesOtherwise(at rate: Double) -> Bool {
      let fewest = Double(AdaptivePolicy.fewest)
      return eviction == .adaptive && places < fewest && places / rate >= fewest
    }
  }

  struct Key: Sendable {
    var cost: Int
    /// A bit for each cache that holds it.
    var holders: UInt32 = 0
    /// How long it lives once it is stored, in milliseconds; 0 for ever.
    var lifetime: UInt32 = 0
    /// The real cache did not have it; what is stored next is what this request brought.
    var isAwaited = false
  }

  static let most = 32
  /// Bytes for each key and each cache: the place in the order, half of a deadline, and what the frequencies and ghosts of
  /// some policies need.
  static let bytesPerPlace = 26
  /// Bytes for each key beside that.
  static let bytesPerKey = 72

  private(set) var questions: [Question]
  /// The misses of each cache since the last restart, by groups of keys, each with the weight of its sample.
  private(set) var misses: [[Double]]
  private var table = SlotTable<UInt64, Key>()
  /// When each key leaves each cache, in milliseconds, which go round every 49 days; never for `.max`, and behind its end.
  private var deadlines: ContiguousArray<UInt32> = []
  /// The key that is being handled keeps its number, though nobody holds it for a moment.
  private var pinned: Int32 = -1
  private let groups: Int

  init(_ questions: [Question], groups: Int) {
    precondition(questions.count <= Self.most, "more than \(Self.most) caches cannot be told apart")
    self.questions = questions
    // Copies of one policy would count uses in one place.
    for index in questions.indices { self.questions[index].policy = questions[index].policy.emptied }
    self.groups = groups
    misses = questions.map { _ in Array(repeating: 0, count: groups) }
  }

  /// How many keys are known.
  var count: Int { table.count }

  /// How many keys fit into so many bytes, if the arrays have grown by doubling just before.
  static func keys(in bytes: Int, caches: Int) -> Int { bytes / (2 * (bytesPerKey + caches * bytesPerPlace)) }

  /// About how many bytes they take.
  var bytes: Int {
    table.index.count * MemoryLayout<UInt64>.stride
      + table.slots.capacity
      * (MemoryLayout<SlotTable<UInt64, Key>.Slot?>.stride + questions.count * Self.bytesPerPlace)
  }

  /// Asks every cache for a key.
  ///
  /// `cost`: What the value weighs, if the real cache had it: then every cache that has not stores it. Otherwise it is stored
  /// when the real cache stores it.
  mutating func request(_ key: UInt64, cost: Int?, lifetime: UInt32, at time: UInt32, group: Int, weight: Double) {
    let hash = Self.hash(key)
    guard let id = table.find(key, hash: hash) else {
      for index in questions.indices { misses[index][group] += weight }
      if let cost { store(key, cost: cost, lifetime: lifetime, at: time) }
      return
    }
    pinned = id
    defer { unpin() }
    if let cost { weigh(id, cost) }
    let holders = self[id].holders
    let expires = self[id].lifetime > 0
    for index in questions.indices {
      if holders & 1 << UInt32(index) != 0 {
        guard expires, hasPassed(deadline(id, index), at: time) else {
          questions[index].policy.touched(id)
          continue
        }
        questions[index].policy.removed(id)
        release(id, index)
      }
      misses[index][group] += weight
      if cost != nil { insert(id, hash, into: index, at: time) }
    }
    self[id].isAwaited = cost == nil
  }

  /// Stores a key in every cache that has it not.
  mutating func store(_ key: UInt64, cost: Int, lifetime: UInt32, at time: UInt32) {
    let hash = Self.hash(key)
    let id: Int32
    var isAsked = true
    if let known = table.find(key, hash: hash) {
      id = known
      isAsked = self[id].isAwaited
    } else {
      id = table.insert(key, hash: hash, payload: Key(cost: cost))
    }
    pinned = id
    defer { unpin() }
    self[id].isAwaited = false
    self[id].lifetime = lifetime
    weigh(id, cost)
    for index in questions.indices {
      if self[id].holders & 1 << UInt32(index) == 0 {
        insert(id, hash, into: index, at: time)
      } else if !isAsked {
        // Somebody wrote it again: it is as young everywhere.
        questions[index].policy.touched(id)
        note(id, index, at: time)
      }
    }
  }

  mutating func remove(_ key: UInt64) {
    guard let id = table.find(key, hash: Self.hash(key)) else { return }
    remove(id)
  }

  mutating func removeAll() {
    for index in questions.indices {
      questions[index].policy = questions[index].policy.emptied
      (questions[index].cost, questions[index].count) = (0, 0)
    }
    table = SlotTable()
    deadlines = []
  }

  /// Keeps one half of the sample, and what was counted.
  mutating func halve(where isKept: (UInt64) -> Bool) {
    for index in questions.indices { questions[index].capacity /= 2 }
    for id in table.slots.indices {
      if let key = table.slots[id]?.key, !isKept(key) { remove(Int32(id)) }
    }
    for index in questions.indices { makeRoom(for: 0, in: index) }
  }

  /// Counts from zero again, and forgets nothing else.
  mutating func restart() { misses = questions.map { _ in Array(repeating: 0, count: groups) } }

  private static func hash(_ key: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: key >> 32) }

  private subscript(id: Int32) -> Key {
    get { table.slots[Int(id)]?.payload ?? Key(cost: 0) }
    set { table.slots[Int(id)]?.payload = newValue }
  }

  private func place(_ id: Int32, _ index: Int) -> Int { Int(id) * questions.count + index }

  private func deadline(_ id: Int32, _ index: Int) -> UInt32 {
    let place = place(id, index)
    return place < deadlines.count ? deadlines[place] : .max
  }

  private func hasPassed(_ deadline: UInt32, at time: UInt32) -> Bool {
    deadline != .max && Int32(bitPattern: deadline &- time) <= 0
  }

  private mutating func insert(_ id: Int32, _ hash: UInt32, into index: Int, at time: UInt32) {
    let cost = self[id].cost
    // What the real cache would refuse is refused here. What is merely too heavy for the sample gets the room of all.
    guard cost <= questions[index].fullCapacity else { return }
    questions[index].policy.arriving(hash)
    makeRoom(for: cost, in: index)
    questions[index].cost += Double(cost)
    questions[index].count += 1
    self[id].holders |= 1 << UInt32(index)
    questions[index].policy.inserted(id, hash: hash)
    note(id, index, at: time)
  }

  private mutating func makeRoom(for cost: Int, in index: Int) {
    while !questions[index].hasRoom(for: cost), questions[index].count > 0,
      let victim = questions[index].policy.evict()
    {
      release(victim, index)
    }
  }

  /// Notes when a key leaves a cache.
  private mutating func note(_ id: Int32, _ index: Int, at time: UInt32) {
    let lifetime = self[id].lifetime
    guard lifetime > 0 || !deadlines.isEmpty else { return }
    let end = (Int(id) + 1) * questions.count
    if deadlines.count < end {
      deadlines.append(
        contentsOf: repeatElement(.max, count: max(end, table.slots.count * questions.count) - deadlines.count))
    }
    // From halfway round on, the future looks like the past, so such lifetimes have no end.
    let isEndless = lifetime == 0 || lifetime > Int32.max
    deadlines[place(id, index)] = isEndless ? .max : min(time &+ lifetime, UInt32.max - 1)
  }

  /// A key that weighs something else now does so wherever it is.
  private mutating func weigh(_ id: Int32, _ cost: Int) {
    let change = cost - self[id].cost
    guard change != 0 else { return }
    self[id].cost = cost
    for index in questions.indices where self[id].holders & 1 << UInt32(index) != 0 {
      questions[index].cost += Double(change)
      guard cost > questions[index].fullCapacity else { continue }
      questions[index].policy.removed(id)
      release(id, index)
    }
    guard change > 0 else { return }
    for index in questions.indices {
      while questions[index].cost > questions[index].capacity, questions[index].count > 1,
        let victim = questions[index].policy.evict()
      {
        release(victim, index)
      }
    }
  }

  private mutating func remove(_ id: Int32) {
    pinned = id
    for index in questions.indices where self[id].holders & 1 << UInt32(index) != 0 {
      questions[index].policy.removed(id)
      release(id, index)
    }
    unpin()
  }

  /// A policy has evicted a key.
  private mutating func release(_ id: Int32, _ index: Int) {
    questions[index].cost -= Double(self[id].cost)
    questions[index].count -= 1
    self[id].holders &= ~(1 << UInt32(index))
    if self[id].holders == 0, id != pinned { forget(id) }
  }

  private mutating func unpin() {
    let id = pinned
    pinned = -1
    if id >= 0, self[id].holders == 0 { forget(id) }
  }

  private mutating func forget(_ id: Int32) {
    guard let key = table.slots[Int(id)]?.key else { return }
    _ = table.remove(id, hash: Self.hash(key))
  }
}
