public import CacheCore

public import Synchronization

#if canImport(FoundationEssentials)
private import FoundationEssentials
#else
private import Foundation
#endif

/// The entries of a memory level: whole, and once they are many divided by the hashes of their keys.
///
/// Each part has a table, an order, and a lock of its own, so that threads which write wait for each other seldom. The limits are
/// those of all parts together (``SharedLimits``). A part knows the order of its own entries only: what leaves is what its policy
/// chooses among those.
///
/// A level is divided once and stays so. Who has the locks of several parts took them in the order of their numbers.
@usableFromInline
@safe
struct MemoryParts<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
  // Unchecked: a part is its own lock; those behind the first are made under the lock of the first, before `shift` tells of them.
  @usableFromInline typealias Entries = MemoryEntries<Key, Value>
  @usableFromInline typealias Part = ReadMostlyLock<Entries, MemoryOrder>

  @usableFromInline let first: UnsafeMutablePointer<Part>
  /// How many parts there may be: a power of two.
  @usableFromInline let most: Int
  /// The upper bits of a hash, moved so far to the right, are the number of its part.
  @usableFromInline let shift = Atomic(32)
  /// What the parts of a divided level share.
  @usableFromInline let limits = SharedLimits()

  init(_ entries: consuming Entries, _ order: MemoryOrder, most: Int) {
    self.most = most
    unsafe first = .allocate(capacity: most)
    unsafe first.initialize(to: Part(entries, order: order))
  }

  deinit {
    unsafe first.deinitialize(count: count)
    unsafe first.deallocate()
    limits.free()
  }

  @usableFromInline var count: Int { 1 << (32 - shift.load(ordering: .acquiring)) }

  /// The part that has a hash; the number may be out of date until something of the part is locked.
  @inlinable
  @inline(__always)
  borrowing func number(of hash: UInt32) -> Int { Self.number(of: hash, shift.load(ordering: .acquiring)) }

  /// In 64 bits, where a shift by 32 leaves 0.
  @inlinable
  @inline(__always)
  static func number(of hash: UInt32, _ shift: Int) -> Int {
    Int(truncatingIfNeeded: UInt64(hash) &>> UInt64(truncatingIfNeeded: shift))
  }

  @inlinable
  @inline(__always)
  subscript(number: Int) -> UnsafeMutablePointer<Part> { unsafe first + number }

  /// Changes the part that has a hash, alone.
  @inlinable
  @inline(__always)
  borrowing func withLock<Answer: ~Copyable>(
    of hash: UInt32, _ body: (inout Entries, inout MemoryOrder) -> sending Answer
  ) -> sending Answer {
    while true {
      let number = number(of: hash)
      let answer: Answer? = unsafe self[number].pointee.withLock { entries, order in
        // The level was divided meanwhile, which happens once.
        guard number == self.number(of: hash) else { return nil }
        defer { order.settle(count: entries.table.count) }
        return body(&entries, &order)
      }
      if let answer { return answer }
    }
  }

  /// Looks something up in the part that has a hash.
  @inlinable
  borrowing func read<Answer: Sendable>(of hash: UInt32, _ body: (borrowing Entries) -> Answer) -> Answer {
    while true {
      let number = number(of: hash)
      let (answer, isRight) = unsafe self[number].pointee.read(countedAs: .none) { entries, _ in
        (body(entries), number == self.number(of: hash))
      }.answer
      if isRight { return answer }
    }
  }

  /// Changes every part, and releases the first only when all were changed: what it sees is of one moment.
  borrowing func withAll(_ body: (inout Entries, inout MemoryOrder) -> Void) { withAll(from: 0, body) }

  private borrowing func withAll(from number: Int, _ body: (inout Entries, inout MemoryOrder) -> Void) {
    unsafe self[number].pointee.withLock { entries, order in
      body(&entries, &order)
      order.settle(count: entries.table.count)
      if number + 1 < count { withAll(from: number + 1, body) }
    }
  }

  /// Changes one part after another, those behind a number first, until the body has had enough.
  @usableFromInline
  borrowing func withEach(after number: Int = -1, _ body: (inout Entries, inout MemoryOrder) -> Bool) {
    let count = count
    for step in 1...count {
      let isEnough = unsafe self[(number + step) & (count - 1)].pointee.withLock { entries, order in
        defer { order.settle(count: entries.table.count) }
        return body(&entries, &order)
      }
      if isEnough { return }
    }
  }

  /// How many reads there were.
  borrowing func reads() -> ReadCounts {
    var reads = ReadCounts()
    for number in 0..<count { unsafe reads += self[number].pointee.reads() }
    return reads
  }

  /// Divides what there is, unless that was done; the order in which entries would have left stays that of each part.
  // Linked into the caller, since others wait.
  @inlinable
  @inline(never)
  borrowing func divide(keepsExpired: Duration, now: CacheInstant) {
    guard most > 1 else { return }
    unsafe self[0].pointee.withLock { entries, order in
      guard shift.load(ordering: .relaxed) == 32 else { return }
      limits.resize(capacity: order.capacity, countLimit: order.countLimit)
      for number in 1..<most {
        let empty = MemoryOrder(partOf: order, sharing: limits)
        unsafe self[number].initialize(
          to: Part(Entries(uses: empty.policy.uses, idle: entries.idle?.emptied), order: empty))
      }
      var old = order
      order = MemoryOrder(partOf: old, sharing: limits)
      var held = Entries(uses: order.policy.uses, idle: entries.idle?.emptied)
      swap(&entries, &held)
      let newShift = 32 - most.trailingZeroBitCount
      while let (slot, hash) = old.takeNext() {
        let move = Move(
          record: held.table.remove(slot, hash: hash), hash: hash, used: held.idle?.lastUse(of: slot),
          isPinned: old.pins.contains(slot))
        let tags = held.tags.tags(of: move.record.key)
        let number = Self.number(of: hash, newShift)
        if number == 0 {
          entries.take(move, tags: tags, keepsExpired: keepsExpired, now: now, order: &order)
        } else {
          unsafe self[number].pointee.withLock {
            $0.take(move, tags: tags, keepsExpired: keepsExpired, now: now, order: &$1)
          }
        }
      }
      entries.updates = held.updates.moved { Self.number(of: $0, newShift) == 0 }
      for number in 1..<most {
        unsafe self[number].pointee.withLock { entries, order in
          entries.updates = held.updates.moved { Self.number(of: $0, newShift) == number }
          order.stored = 0
        }
      }
      (order.stored, order.evictions, order.expirations) = (old.stored, old.evictions, old.expirations)
      shift.store(newShift, ordering: .releasing)
    }
  }

  /// An entry on its way into its part.
  @usableFromInline
  struct Move {
    @usableFromInline let record: Entries.Table.Record
    @usableFromInline let hash: UInt32
    /// When it was used last, where that ends it.
    @usableFromInline let used: CacheInstant?
    @usableFromInline let isPinned: Bool

    @inlinable
    init(record: Entries.Table.Record, hash: UInt32, used: CacheInstant?, isPinned: Bool) {
      self.record = record
      self.hash = hash
      self.used = used
      self.isPinned = isPinned
    }
  }
}

/// Into how many parts a memory level is divided, and when.
struct LevelDivision {
  /// The entries of a part at that moment: fewer say little about what is worth keeping.
  private static let fewest = 1_024

  /// A power of two; 1 for a level that stays whole.
  var parts: Int
  var mostUndivided: Int

  init(parts: Int, mostUndivided: Int) {
    self.parts = parts
    self.mostUndivided = mostUndivided
  }

  /// Four parts for each processor, so that threads meet seldom, and none of them small.
  ///
  /// An exact order of use is that of the whole.
  init(_ capacity: Int, _ countLimit: Int?, _ eviction: Eviction, isWeighted: Bool) {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let limit = min(isWeighted ? .max : capacity, countLimit ?? .max)
    let most = eviction == .lru || processors == 1 ? 1 : max(1, min(processors * 4, 64, limit / Self.fewest))
    let parts = 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    self.init(parts: parts, mostUndivided: parts > 1 ? parts * Self.fewest : .max)
  }
}

extension MemoryEntries {
  /// Takes in an entry of a level that is divided, for which there is room.
  @inlinable
  mutating func take(
    _ move: MemoryParts<Key, Value>.Move, tags newTags: Set<String>, keepsExpired: Duration, now: CacheInstant,
    order: inout MemoryOrder
  ) {
    let entry = move.record.entry
    _ = order.isFull(for: entry.cost, count: table.count)
    if !newTags.isEmpty { tags.insert(newTags, for: move.record.key) }
    let slot = table.insert(move.record, hash: move.hash)
    if let used = move.used { idle?.begin(slot, now: used) }
    order.inserted(
      slot, hash: move.hash, cost: entry.cost,
      due: entry.deadline == nil ? nil : due(slot, keepsExpired: keepsExpired), now: now)
    if move.isPinned { order.pin(slot, cost: entry.cost) }
  }
}

#if DEBUG
extension MemoryCacheLevel {
  /// What contradicts itself or a limit; `nil` if nothing does.
  var flaw: String? {
    var flaws: [String] = []
    var (cost, count, limits) = (0, 0, SharedLimits?.none)
    parts.withAll { entries, order in
      if let flaw = entries.flaw(in: order, hashing: hashing) { flaws.append(flaw) }
      cost += order.cost
      count += entries.table.count
      limits = order.shared
    }
    if let limits {
      let (spare, limit) = (limits.spare, limits.limits)
      if limit.capacity - spare.cost != cost { flaws.append("shares out \(limit.capacity - spare.cost) for \(cost)") }
      if limit.countLimit - spare.count != count {
        flaws.append("shares out \(limit.countLimit - spare.count) for \(count) entries")
      }
    }
    return flaws.first
  }

  /// Lets reads open the stripes of their threads after so few without a write.
  func openStripes(after reads: UInt32) {
    for number in 0..<parts.count { unsafe parts[number].pointee.writers.withLock { $0.quiet = reads } }
  }
}
#endif
