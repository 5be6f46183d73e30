public import CacheCore

/// Divides the entries between what came lately and what comes often, in the way that would have had most hits.
///
/// No division is the best for all requests: a window of a fiftieth wins on stable popularity and on loops, all of
/// the entries by recency where requests come in phases. So each ``Division`` is tried all the time, by a
/// ``Miniature``: a cache of some hundred hashes that sees a sample of the keys, chosen by their hashes. The
/// division whose miniature had most hits lately is the one that the entries are kept by.
///
/// What is taken from where:
/// - The window, the duel of frequencies and the segmented main part: G. Einziger, R. Friedman, B. Manes, TinyLFU: a
///   highly efficient cache admission policy, ACM Transactions on Storage 13(4), 2017.
/// - Ghosts of the window that enter the main part at once: T. Johnson, D. Shasha, 2Q, VLDB 1994; J. Yang et al.,
///   FIFO queues are all you need for cache eviction, SOSP 2023.
/// - A list for what was used once and one for what was used again: N. Megiddo, D. S. Modha, ARC: a self-tuning, low overhead
///   replacement cache, FAST 2003. The trial does what its ghosts do there.
/// - Miniatures that see keys by a threshold on their hashes: C. Waldspurger, T. Saemundsson, I. Ahmad, N. Park,
///   Cache modeling and optimization using miniature simulations, USENIX ATC 2017; the sample is that of SHARDS, FAST 2015.
///
/// Changed: the miniatures choose between divisions of one structure, so that a change of mind moves a boundary and
/// evicts nothing; they share the frequencies of the whole; only what leaves the window becomes a ghost; and the sketch
/// ages after twenty counts for each entry in place of ten, since a change of popularity is answered by a change of
/// the division.
///
/// With less than four entries always, what was not used for the longest time leaves: few entries say nothing about
/// frequencies. Nothing is counted until room is needed for the first time.
///
/// Most hits are counted in ``SlotUses`` and change nothing else: a slot is moved by the first one in each era, and counted in
/// the sketch before it is judged. So the order is that of use to within an eighth of what came in; and what is used again at
/// once is not taken for what is used often.
@usableFromInline
package struct AdaptivePolicy: EvictionPolicy {
  package static let fewest = 4

  private var order = WindowedOrder(Trial.first)
  private var sketch = FrequencySketch(period: 20)
  private var trial = Trial()
  private var isReturning = false
  /// The number of entries for which sketch and trial are large enough.
  private var fitted = -1
  let uses = SlotUses()

  @usableFromInline
  package init() {}

  @usableFromInline
  @inline(never)
  package mutating func arriving(_ hash: UInt32) { arrive(hash) }

  @inline(__always)
  private mutating func arrive(_ hash: UInt32) {
    guard order.isFull else { return }
    let mixed = FrequencySketch.mix(hash)
    isReturning = order.forgetGhost(mixed)
    note(hash, mixed)
  }

  @usableFromInline
  @inline(never)
  package mutating func inserted(_ slot: Int32, hash: UInt32) {
    order.inserted(slot, hash: hash, isReturning: isReturning)
    isReturning = false
    uses.insert(slot, count: order.count, fewest: Self.fewest)
  }

  @usableFromInline
  @inline(never)
  package mutating func touched(_ slot: Int32) {
    let hash = order.hash(slot)
    guard uses.isNews(slot, hash) else { return }
    if uses.isOld(slot) {
      order.touched(slot)
      uses.renew(slot)
    }
    guard order.isFull else { return }
    note(hash, FrequencySketch.mix(hash), uses: uses.take(slot))
  }

  /// Counts the uses that the sketch was not told of.
  @inline(__always)
  private mutating func settle(_ slot: Int32) {
    let count = uses.take(slot)
    if count > 0 { sketch.increment(order.hash(slot), by: count) }
  }

  @usableFromInline
  package mutating func removed(_ slot: Int32) { order.removed(slot) }

  @usableFromInline
  @inline(__always)
  package func hash(_ slot: Int32) -> UInt32 { order.hash(slot) }

  @usableFromInline
  package mutating func evict() -> Int32? { evict(for: nil)?.slot }

  /// ``evict()``, which also says with which hash the entry came; and before it ``arriving(_:)``, if that is still to be done.
  @usableFromInline
  @inline(never)
  mutating func evict(for newcomer: UInt32?) -> (slot: Int32, hash: UInt32)? {
    if let newcomer { arrive(newcomer) }
    if !order.isFull, order.count >= Self.fewest { begin() }
    let rivals = order.rivals
    if order.isFull {
      if order.count != fitted { fit() }
      if let newcomer = rivals.newcomer { settle(newcomer) }
      if let resident = rivals.resident { settle(resident) }
    }
    return order.evict(of: rivals, sketch)
  }

  /// Makes sketch and trial as large as the number of entries asks for.
  private mutating func fit() {
    fitted = order.count
    sketch.reserve(fitted)
    trial.fit(fitted)
    unsafe uses.header.pointee.sampled = trial.sampled
  }

  /// Takes over what was seen while there was room for everything.
  private mutating func begin() {
    order.fill(adding: uses)
    fit()
    let begun = order
    begun.forEach { hash, uses in
      for _ in 0...uses { sketch.increment(hash) }
      trial.admit(hash, uses: uses)
    }
  }

  /// Counts a request, and uses of its key that the sketch was not told of.
  @inline(__always)
  private mutating func note(_ hash: UInt32, _ mixed: UInt64, uses: Int = 0) {
    sketch.increment(mixed: mixed, after: uses)
    if trial.isSampled(hash), let best = trial.request(hash, mixed, sketch) { order.division = best }
  }

  #if DEBUG
  @usableFromInline
  package func flaw(holding slots: Set<Int32>) -> String? { order.flaw(holding: slots) ?? trial.flaw }
  #endif
}
