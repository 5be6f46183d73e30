public import CacheCore

/// Knows which slot's time has come, without looking at the others.
///
/// G. Varghese, T. Lauck, Hashed and hierarchical timing wheels, SOSP 1987, in the form of tokio's timers: eight wheels of
/// 64 buckets, each wheel 64 times as slow as the one before, and a bit for each bucket that is not empty, so that empty
/// time costs nothing. A slot is put where the highest digit (base 64) in which its tick differs from the present says, and
/// moves at most seven times to a quicker wheel. Changed: a bucket is emptied one slot a step, so that a caller with a
/// lock decides how long it goes on; and when the time of a slot comes is not kept, but asked of the caller when a slot moves.
@usableFromInline
struct TimingWheel: Sendable {
  private struct Node: Sendable {
    var next: Int32 = -1
    /// The node before, or for the first one its bucket, counted down from -1; `free` for none.
    var previous = Int32.min
  }

  private static let wheels = 8
  private static let free = Int32.min

  private var nodes: ContiguousArray<Node> = []
  private var buckets: ContiguousArray<Int32> = []
  private var occupied: ContiguousArray<UInt64> = []
  /// Every tick before this one is over.
  private var present: UInt64 = 0
  /// The bucket of a slow wheel that is being emptied into quicker ones.
  private var cascading: Int?
  @usableFromInline private(set) var count = 0

  /// A tick is 2^20 ns, about a millisecond.
  private static func tick(_ instant: CacheInstant) -> UInt64 { UInt64(max(0, instant.nanoseconds)) >> 20 }

  /// Notes when the time of a slot comes, or that it never does.
  @usableFromInline
  mutating func schedule(_ slot: Int32, at deadline: CacheInstant?, now: CacheInstant) {
    if count > 0 { cancel(slot) }
    guard let deadline else { return }
    if buckets.isEmpty {
      buckets = ContiguousArray(repeating: -1, count: Self.wheels * 64)
      occupied = ContiguousArray(repeating: 0, count: Self.wheels)
    }
    if count == 0 {
      present = min(Self.tick(now), Self.tick(deadline))
      // Its slots were forgotten while it was being emptied: what lies in it from now on is of a later turn.
      cascading = nil
    }
    nodes.grow(to: Int(slot) + 1, repeating: Node())
    count += 1
    link(slot, Self.tick(deadline))
  }

  /// Forgets a slot.
  @usableFromInline
  mutating func cancel(_ slot: Int32) {
    guard slot < nodes.count, nodes[Int(slot)].previous != Self.free else { return }
    unlink(slot)
    count -= 1
  }

  /// Whether ``popDue(now:steps:deadline:)`` has something to do.
  @usableFromInline
  func isDue(now: CacheInstant) -> Bool {
    guard count > 0 else { return false }
    return cascading != nil || nextBucket.map { $0.start < Self.tick(now) } ?? false
  }

  /// Takes out a slot whose tick is over; `nil` if there is none, or none was found in so many steps.
  ///
  /// The deadline of a slot is the one that it was scheduled with.
  @usableFromInline
  mutating func popDue(now: CacheInstant, steps: inout Int, deadline: (Int32) -> CacheInstant) -> Int32? {
    let now = Self.tick(now)
    while count > 0, steps > 0 {
      steps -= 1
      if let bucket = cascading {
        let slot = buckets[bucket]
        if slot >= 0 { relink(slot, Self.tick(deadline(slot))) } else { cascading = nil }
        continue
      }
      guard let (bucket, start) = nextBucket, start <= now else {
        present = max(present, now)
        return nil
      }
      present = max(present, start)
      guard bucket < 64 else {
        cascading = bucket
        continue
      }
      guard start < now else { return nil }
      let slot = buckets[bucket]
      cancel(slot)
      return slot
    }
    return nil
  }

  /// The slots whose tick has begun and is not over, after all others whose time has come were taken out.
  func slotsOfTick(_ now: CacheInstant) -> [Int32] {
    guard count > 0, present == Self.tick(now) else { return [] }
    var slots: [Int32] = []
    var slot = buckets[Int(present & 63)]
    while slot >= 0 {
      slots.append(slot)
      slot = nodes[Int(slot)].next
    }
    return slots
  }

  /// The bucket whose time comes first, and the tick at which it does.
  private var nextBucket: (bucket: Int, start: UInt64)? {
    for wheel in 0..<Self.wheels where occupied[wheel] != 0 {
      let shift = UInt64(wheel * 6)
      let position = present >> shift & 63
      let ahead = occupied[wheel] >> position
      // What lies behind is of the next turn, which only the slowest wheel has.
      let distance =
        ahead != 0 ? UInt64(ahead.trailingZeroBitCount) : 64 - position + UInt64(occupied[wheel].trailingZeroBitCount)
      let start = ((present >> shift) + distance) << shift
      return (wheel * 64 + Int((position + distance) & 63), max(start, wheel == 0 ? start : present))
    }
    return nil
  }

  private mutating func relink(_ slot: Int32, _ tick: UInt64) {
    unlink(slot)
    link(slot, tick)
  }

  private mutating func link(_ slot: Int32, _ tick: UInt64) {
    let tick = max(tick, present)
    let wheel = min(Self.wheels - 1, (63 - ((tick ^ present) | 63).leadingZeroBitCount) / 6)
    let bucket = wheel * 64 + Int(tick >> UInt64(wheel * 6) & 63)
    let first = buckets[bucket]
    nodes[Int(slot)].next = first
    nodes[Int(slot)].previous = -1 - Int32(bucket)
    if first >= 0 { nodes[Int(first)].previous = slot }
    buckets[bucket] = slot
    occupied[wheel] |= 1 << UInt64(bucket & 63)
  }

  private mutating func unlink(_ slot: Int32) {
    let node = nodes[Int(slot)]
    if node.next >= 0 { nodes[Int(node.next)].previous = node.previous }
    if node.previous >= 0 {
      nodes[Int(node.previous)].next = node.next
    } else {
      let bucket = Int(-1 - node.previous)
      buckets[bucket] = node.next
      if node.next < 0 { occupied[bucket >> 6] &= ~(1 << UInt64(bucket & 63)) }
    }
    nodes[Int(slot)].previous = Self.free
  }
}
