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
  @usableFromInline var adaptive = AdaptivePolicy()

  package init(_ eviction: Eviction) { kind = eviction.kind }

  /// Where hits are counted that the policy need not be told of; those that promise an order of use are told of every one.
  @usableFromInline var uses: SlotUses {
    switch kind {
    case .fifo: fifo.uses
    case .clock: clock.uses
    case .sieve: sieve.uses
    case .s3fifo: s3fifo.uses
    case .lru, .wtinylfu: SlotUses()
    case .adaptive: adaptive.uses
    }
  }

  /// A policy of the same kind that orders nothing.
  package var emptied: ChosenPolicy { ChosenPolicy(kind: kind) }

  private init(kind: Eviction.Kind) { self.kind = kind }

  // What an insertion and a hit ask of the default policy is called without a detour, and order of use is linked into the way
  // of a hit.

  @inlinable
  package mutating func touched(_ slot: Int32) {
    switch kind {
    case .lru: lru.touched(slot)
    case .adaptive: adaptive.touched(slot)
    default: touchedOther(slot)
    }
  }

  @usableFromInline
  mutating func touchedOther(_ slot: Int32) { take(Touch(slot: slot)) }

  @inlinable
  package mutating func arriving(_ hash: UInt32) {
    if kind == .adaptive { adaptive.arriving(hash) } else { arrivingOther(hash) }
  }

  @usableFromInline
  mutating func arrivingOther(_ hash: UInt32) { take(Arrive(hash: hash)) }

  @inlinable
  package mutating func inserted(_ slot: Int32, hash: UInt32) {
    if kind == .adaptive { adaptive.inserted(slot, hash: hash) } else { insertedOther(slot, hash) }
  }

  @usableFromInline
  mutating func insertedOther(_ slot: Int32, _ hash: UInt32) { take(Insert(slot: slot, hash: hash)) }

  /// The hash that a slot was inserted with, until the slot is used again.
  // Inlined, as it was asked for with each entry that leaves.
  @inline(__always)
  mutating func hash(_ slot: Int32) -> UInt32 {
    if kind == .adaptive { adaptive.hash(slot) } else { take(Hash(slot: slot)) }
  }

  @usableFromInline
  package mutating func removed(_ slot: Int32) { take(Remove(slot: slot)) }

  @inline(__always)
  package mutating func evict() -> Int32? {
    if kind == .adaptive { adaptive.evict() } else { evictOther() }
  }

  private mutating func evictOther() -> Int32? { take(Evict()) }

  /// Chooses what leaves for a key that arrives, and says with which hash it came: ``arriving(_:)`` and ``evict()`` in one.
  @inlinable
  mutating func evict(for hash: UInt32) -> (slot: Int32, hash: UInt32)? {
    kind == .adaptive ? adaptive.evict(for: hash) : evictOther(for: hash)
  }

  @usableFromInline
  mutating func evictOther(for hash: UInt32) -> (slot: Int32, hash: UInt32)? { take(MakeWay(hash: hash)) }

  #if DEBUG
  package func flaw(holding slots: Set<Int32>) -> String? {
    var copy = self
    return copy.take(Flaw(slots: slots))
  }
  #endif

  /// The one place that knows which policy stands behind which name.
  // Always inlined, as are the steps, so that each operation is a switch over seven calls.
  @inline(__always)
  private mutating func take<Step: PolicyStep>(_ step: Step) -> Step.Answer {
    switch kind {
    case .lru: step(&lru)
    case .fifo: step(&fifo)
    case .clock: step(&clock)
    case .sieve: step(&sieve)
    case .s3fifo: step(&s3fifo)
    case .wtinylfu: step(&wtinylfu)
    case .adaptive: step(&adaptive)
    }
  }
}

/// Something that is asked of a policy, whichever it is: what a closure would be, if closures could be generic.
private protocol PolicyStep {
  associatedtype Answer
  func callAsFunction(_ policy: inout some EvictionPolicy) -> Answer
}

private struct Touch: PolicyStep {
  var slot: Int32
  @inline(__always)
  func callAsFunction(_ policy: inout some EvictionPolicy) { policy.touched(slot) }
}

private struct Arrive: PolicyStep {
  var hash: UInt32
  @inline(__always)
  func callAsFunction(_ policy: inout some EvictionPolicy) { policy.arriving(hash) }
}

private struct Insert: PolicyStep {
  var slot: Int32
  var hash: UInt32
  @inline(__always)
  func callAsFunction(_ policy: inout some EvictionPolicy) { policy.inserted(slot, hash: hash) }
}

private struct Hash: PolicyStep {
  var slot: Int32
  @inline(__always)
  func callAsFunction(_ policy: inout some EvictionPolicy) -> UInt32 { policy.hash(slot) }
}

private struct Remove: PolicyStep {
  var slot: Int32
  @inline(__always)
  func callAsFunction(_ policy: inout some EvictionPolicy) { policy.removed(slot) }
}

private struct Evict: PolicyStep {
  @inline(__always)
  func callAsFunction(_ policy: inout some EvictionPolicy) -> Int32? { policy.evict() }
}

private struct MakeWay: PolicyStep {
  var hash: UInt32
  @inline(__always)
  func callAsFunction(_ policy: inout some EvictionPolicy) -> (slot: Int32, hash: UInt32)? {
    policy.arriving(hash)
    guard let slot = policy.evict() else { return nil }
    return (slot, policy.hash(slot))
  }
}

#if DEBUG
private struct Flaw: PolicyStep {
  var slots: Set<Int32>
  func callAsFunction(_ policy: inout some EvictionPolicy) -> String? { policy.flaw(holding: slots) }
}
#endif
