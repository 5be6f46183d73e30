public import CacheCore

public import Synchronization

/// What a ``ReadMostlyLock`` keeps in order: told which slots were read.
@usableFromInline
protocol ReadOrder: Sendable {
  mutating func touched(_ slot: Int32)
  /// Whether something may become overdue.
  var hasDeadlines: Bool { get }
}

/// A lock under which threads read at once, as long as nobody writes, and an order of use that learns of reads later.
///
/// After a number of reads without a write, a thread's *stripe* is opened: reads of that thread take the small lock of
/// the stripe, which no other thread needs, look at the shared state, and note what they read. Who writes takes the one lock
/// of writers, closes the open stripes, whose notes it first carries into the order, and is alone. So a program with one
/// thread has an exact order; where several threads read at once, the last ``ReadStripe/room`` reads of each may be
/// carried over in another order, or be lost while a writer holds the lock.
///
/// The biased locks of D. Dice, A. Kogan, BRAVO: biased locking for reader-writer locks, USENIX ATC 2019, with the read
/// buffers of Caffeine. Changed: the visible readers are mutexes, so that nobody spins, a writer that waits for a reader
/// lends it its priority where the system can, and the notes need no atomics; and only stripes in use are closed.
@usableFromInline
@safe
struct ReadMostlyLock<Shared: ~Copyable, Order: ReadOrder>: ~Copyable, @unchecked Sendable {
  // Unchecked: `shared` is written under the lock of writers and with all stripes closed, and read under either.
  @usableFromInline let shared: UnsafeMutablePointer<Shared>
  @usableFromInline let stripes: UnsafeMutablePointer<ReadStripe>
  @usableFromInline let writers: Mutex<LockedOrder<Order>>

  @inlinable
  init(_ initial: consuming Shared, order: Order) {
    unsafe shared = .allocate(capacity: 1)
    unsafe shared.initialize(to: initial)
    unsafe stripes = .allocate(capacity: ThreadStripe.count)
    for stripe in 0..<ThreadStripe.count { unsafe (stripes + stripe).initialize(to: ReadStripe()) }
    writers = Mutex(LockedOrder(order: order))
  }

  @inlinable
  deinit {
    unsafe stripes.deinitialize(count: ThreadStripe.count)
    unsafe stripes.deallocate()
    unsafe shared.deinitialize(count: 1)
    unsafe shared.deallocate()
  }

  /// Changes what is guarded, alone.
  @inlinable
  borrowing func withLock<Answer: ~Copyable>(
    _ body: (inout Shared, inout Order) -> sending Answer
  ) -> sending Answer {
    writers.withLock { guarded in
      guarded.readsSinceWrite = 0
      if guarded.open != 0 { unsafe guarded.closeStripes(stripes) }
      return unsafe body(&shared.pointee, &guarded.order)
    }
  }

  /// Asks the order something, while others go on reading.
  @inlinable
  borrowing func withOrder<Answer: Sendable>(_ body: (borrowing Order) -> Answer) -> Answer {
    writers.withLock { body($0.order) }
  }

  /// How many reads there were.
  borrowing func reads() -> ReadCounts {
    writers.withLock { guarded in
      var reads = guarded.reads
      for stripe in 0..<ThreadStripe.count { reads += unsafe stripes[stripe].notes.withLock { $0.reads } }
      return reads
    }
  }

  /// Corrects how many reads there were, once more is known of one.
  @usableFromInline
  borrowing func recount(_ reads: ReadCounts) { writers.withLock { $0.reads += reads } }

  /// Looks something up: the body says which slot it read, if any.
  ///
  /// - Returns: The answer, and whether it is time to look after what may be overdue.
  @inlinable
  borrowing func read<Answer: Sendable>(
    countedAs counts: ReadCounts, _ body: (borrowing Shared, inout Int32) -> Answer
  ) -> (answer: Answer, mayBeOverdue: Bool) {
    let number = ThreadStripe.current
    let stripe = unsafe stripes + number
    if unsafe stripe.pointee.seemsOpen.load(ordering: .relaxed) {
      var answer: Answer?
      var isFull = false
      let isFree: Void? = unsafe stripe.pointee.notes.withLockIfAvailable { notes in
        guard notes.isOpen else { return }
        var slot: Int32 = -1
        answer = unsafe body(shared.pointee, &slot)
        notes.reads.add(counts, hasFound: slot >= 0)
        if slot >= 0 { isFull = notes.append(slot) }
      }
      if let answer {
        return (answer, isFull ? unsafe carryOver(stripe) : false)
      }
      if isFree == nil { ThreadStripe.change() }
    }
    return writers.withLock { guarded in
      var slot: Int32 = -1
      let answer = unsafe body(shared.pointee, &slot)
      guarded.reads.add(counts, hasFound: slot >= 0)
      if slot >= 0 { guarded.order.touched(slot) }
      guarded.readsSinceWrite &+= 1
      let isQuiet = guarded.readsSinceWrite >= guarded.quiet
      if isQuiet { unsafe guarded.openStripe(stripe, number) }
      return (answer, isQuiet && guarded.order.hasDeadlines)
    }
  }

  /// Carries the notes of a full stripe into the order; they are dropped if somebody holds the lock, who is not waited for.
  @inlinable
  @inline(never)
  borrowing func carryOver(_ stripe: UnsafeMutablePointer<ReadStripe>) -> Bool {
    let mayBeOverdue = writers.withLockIfAvailable { guarded in
      unsafe stripe.pointee.notes.withLock { $0.carry(into: &guarded.order) }
      return guarded.order.hasDeadlines
    }
    if let mayBeOverdue { return mayBeOverdue }
    unsafe stripe.pointee.notes.withLock { $0.count = 0 }
    return false
  }
}

/// What the lock of writers guards beside the shared state.
@usableFromInline
struct LockedOrder<Order: ReadOrder>: Sendable {
  @usableFromInline var order: Order
  /// A bit for each open stripe.
  @usableFromInline var open: UInt32 = 0
  @usableFromInline var readsSinceWrite: UInt32 = 0
  /// Of the reads that took no stripe.
  @usableFromInline var reads = ReadCounts()
  /// The reads without a write after which a stripe is opened; tests take fewer.
  @usableFromInline var quiet = ReadStripe.quiet

  @inlinable
  init(order: Order) { self.order = order }

  @inlinable
  @inline(never)
  mutating func closeStripes(_ stripes: UnsafeMutablePointer<ReadStripe>) {
    while open != 0 {
      let number = open.trailingZeroBitCount
      open &= open - 1
      let stripe = unsafe stripes + number
      unsafe stripe.pointee.seemsOpen.store(false, ordering: .relaxed)
      unsafe stripe.pointee.notes.withLock { notes in
        notes.isOpen = false
        notes.carry(into: &order)
      }
    }
  }

  @inlinable
  @inline(never)
  mutating func openStripe(_ stripe: UnsafeMutablePointer<ReadStripe>, _ number: Int) {
    open |= 1 << UInt32(number)
    unsafe stripe.pointee.notes.withLock { notes in
      notes.open()
    }
    unsafe stripe.pointee.seemsOpen.store(true, ordering: .relaxed)
  }
}
