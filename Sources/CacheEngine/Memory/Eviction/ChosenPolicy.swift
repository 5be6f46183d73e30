public import CacheCore

/// The policy that a level was created with.
///
/// All policies lie side by side and all but one are empty, a few words each. An enumeration of them would be copied
/// out and in to be changed, and a generic parameter would be in the type of every level.
@usableFromInline
package struct ChosenPolicy: Sendable {
  @usableFromInline let kind: Eviction.Kind
  @usableFromInline var lru = LeastRecentlyUsed()
  private var fifo = FirstInFirstOut()
  private var clock = SecondChance()
  private var sieve = Sieve()
  private var s3fifo = S3FIFO()
  private var wtinylfu = WindowTinyLFU()
  private var adaptive = AdaptivePolicy()

  package init(_ eviction: Eviction) { kind = eviction.kind }

  /// A policy of the same kind that orders nothing.
  package var emptied: ChosenPolicy { ChosenPolicy(kind: kind) }

  private init(kind: Eviction.Kind) { self.kind = kind }

  /// The one change on the way of a hit: order of use is linked into the caller, the others are called.
  @inlinable
  package mutating func touched(_ slot: Int32) {
    if kind == .lru { lru.touched(slot) } else { touchedOther(slot) }
  }

  @usableFromInline
  mutating func touchedOther(_ slot: Int32) {
    switch kind {
    case .lru: lru.touched(slot)
    case .fifo: fifo.touched(slot)
    case .clock: clock.touched(slot)
    case .sieve: sieve.touched(slot)
    case .s3fifo: s3fifo.touched(slot)
    case .wtinylfu: wtinylfu.touched(slot)
    case .adaptive: adaptive.touched(slot)
    }
  }

  @usableFromInline
  package mutating func arriving(_ hash: UInt32) {
    switch kind {
    case .s3fifo: s3fifo.arriving(hash)
    case .adaptive: adaptive.arriving(hash)
    default: break
    }
  }

  @usableFromInline
  package mutating func inserted(_ slot: Int32, hash: UInt32) {
    switch kind {
    case .lru: lru.inserted(slot, hash: hash)
    case .fifo: fifo.inserted(slot, hash: hash)
    case .clock: clock.inserted(slot, hash: hash)
    case .sieve: sieve.inserted(slot, hash: hash)
    case .s3fifo: s3fifo.inserted(slot, hash: hash)
    case .wtinylfu: wtinylfu.inserted(slot, hash: hash)
    case .adaptive: adaptive.inserted(slot, hash: hash)
    }
  }

  /// The hash that a slot was inserted with, until the slot is used again.
  // Always inlined: otherwise all policies are copied, 624 bytes, for one number.
  @inline(__always)
  func hash(_ slot: Int32) -> UInt32 {
    switch kind {
    case .lru: lru.hash(slot)
    case .fifo: fifo.hash(slot)
    case .clock: clock.hash(slot)
    case .sieve: sieve.hash(slot)
    case .s3fifo: s3fifo.hash(slot)
    case .wtinylfu: wtinylfu.hash(slot)
    case .adaptive: adaptive.hash(slot)
    }
  }

  @usableFromInline
  package mutating func removed(_ slot: Int32) {
    switch kind {
    case .lru: lru.removed(slot)
    case .fifo: fifo.removed(slot)
    case .clock: clock.removed(slot)
    case .sieve: sieve.removed(slot)
    case .s3fifo: s3fifo.removed(slot)
    case .wtinylfu: wtinylfu.removed(slot)
    case .adaptive: adaptive.removed(slot)
    }
  }

  @usableFromInline
  package mutating func evict() -> Int32? {
    switch kind {
    case .lru: lru.evict()
    case .fifo: fifo.evict()
    case .clock: clock.evict()
    case .sieve: sieve.evict()
    case .s3fifo: s3fifo.evict()
    case .wtinylfu: wtinylfu.evict()
    case .adaptive: adaptive.evict()
    }
  }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? {
    switch kind {
    case .lru: lru.flaw(holding: slots)
    case .fifo: fifo.flaw(holding: slots)
    case .clock: clock.flaw(holding: slots)
    case .sieve: sieve.flaw(holding: slots)
    case .s3fifo: s3fifo.flaw(holding: slots)
    case .wtinylfu: wtinylfu.flaw(holding: slots)
    case .adaptive: adaptive.flaw(holding: slots)
    }
  }
  #endif
}
