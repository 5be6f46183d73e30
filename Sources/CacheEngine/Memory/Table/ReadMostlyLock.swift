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
/// After a number of reads without a write, and sooner where threads meet, a thread's *stripe* is opened: reads of that thread
/// take the stripe, by one atomic step that never waits, look at the shared state, and note what they read, if the order has to
/// know. Who writes takes the one lock of writers, closes the open stripes, whose notes it first carries into the order, and is
/// alone; then it opens those again that were read by since the write before. So a program with one thread has an exact order;
/// where several threads read at once, the last ``ReadStripe/room`` notes of each may be carried over in another order, or be
/// lost while a writer holds the lock.
///
/// The biased locks of D. Dice, A. Kogan, BRAVO: biased locking for reader-writer locks, USENIX ATC 2019, with the read
/// buffers of Caffeine. Changed: only stripes in use are closed, those in frequent use for one write only, and one thread reads by
/// a stripe at a time, so that the notes need no atomics. A writer that meets a reader waits for the end of its look-up: briefly,
/// then it lets others run.
@usableFromInline
@safe
struct ReadMostlyLock<Shared: ~Copyable, Order: ReadOrder>: ~Copyable, @unchecked Sendable {
  // Unchecked: `shared` is written under the lock of writers with all stripes closed, and read by who has that or a stripe.
  @usableFromInline let shared: UnsafeMutablePointer<Shared>
  @usableFromInline let stripes = ReadStripes()
  @usableFromInline let writers: BriefLock<LockedOrder<Order>>

  @inlinable
  init(_ initial: consuming Shared, order: Order) {
    unsafe shared = .allocate(capacity: 1)
    unsafe shared.initialize(to: initial)
    writers = BriefLock(LockedOrder(order: order))
  }

  @inlinable
  deinit {
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
      if guarded.open != 0 { guarded.takeStripes(stripes) }
      defer { if guarded.open != 0 { guarded.releaseStripes(stripes) } }
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
      for number in 0..<ThreadStripe.count {
        let stripe = stripes[number]
        let isOpen = guarded.open & 1 << UInt32(number) != 0
        if isOpen { stripe.close() }
        reads += unsafe stripe.notes.pointee.reads
        if isOpen { stripe.release() }
      }
      return reads
    }
  }

  /// Corrects how many reads there were, once more is known of one.
  @usableFromInline
  borrowing func recount(_ reads: ReadCounts) { writers.withLock { $0.reads += reads } }

  /// Looks something up: the body says what it found.
  ///
  /// - Returns: The answer, and whether it is time to look after what may be overdue.
  @inlinable
  @inline(__always)
  borrowing func read<Answer: Sendable>(
    countedAs counts: ReadCounts, _ body: (borrowing Shared, inout ReadTrace) -> Answer
  ) -> (answer: Answer, mayBeOverdue: Bool) {
    let thread = ThreadStripe.current
    guard let stripe = takeStripe(thread) else { return readAlone(thread, countedAs: counts, body) }
    var trace = ReadTrace()
    let answer = unsafe body(shared.pointee, &trace)
    return (answer, release(stripe, countedAs: counts, trace))
  }

  /// The stripe of this thread, by its number, if it is open: then ``shared`` may be read until it is released.
  ///
  /// What is most frequent of all reads so, since a closure would be called.
  @inlinable
  @inline(__always)
  borrowing func takeStripe(_ thread: Int) -> ReadStripe? {
    let stripe = stripes[thread]
    return stripe.take() ? stripe : nil
  }

  /// Returns whether it is time to look after what may be overdue.
  @inlinable
  @inline(__always)
  borrowing func release(_ stripe: ReadStripe, countedAs counts: ReadCounts, _ trace: ReadTrace) -> Bool {
    let notes = unsafe stripe.notes
    var isNews = trace.slot >= 0
    if trace.hasFound {
      unsafe notes.pointee.untilLook &-= counts.found
      if unsafe notes.pointee.untilLook == 0 { isNews = true }
    } else {
      unsafe notes.pointee.earlier.missed &+= counts.missed
    }
    let mayBeOverdue = isNews ? note(trace.slot, stripe) : false
    stripe.release()
    return mayBeOverdue
  }

  /// Looks something up where the thread's stripe is closed, or another thread's as well.
  @inlinable
  @inline(__always)
  borrowing func readAlone<Answer: Sendable>(
    _ thread: Int, countedAs counts: ReadCounts, _ body: (borrowing Shared, inout ReadTrace) -> Answer
  ) -> (answer: Answer, mayBeOverdue: Bool) {
    leaveTakenStripe(thread)
    return writers.withLock { guarded in
      var trace = ReadTrace()
      let answer = unsafe body(shared.pointee, &trace)
      return (answer, guarded.finish(trace, countedAs: counts, stripes, thread))
    }
  }

  /// Calls a function that has the lock of writers.
  // Here, since on some systems only who imports Synchronization sees the lock's own methods.
  @inlinable
  @inline(__always)
  borrowing func withWriters<Answer: Sendable>(_ body: (inout LockedOrder<Order>) -> Answer) -> Answer {
    writers.withLock { body(&$0) }
  }

  /// Gives this thread, which could not take its stripe, another one from the next read on, if somebody else has that.
  @inlinable
  @inline(__always)
  borrowing func leaveTakenStripe(_ thread: Int) {
    if unsafe stripes[thread].state.pointee.load(ordering: .relaxed) == ReadStripe.taken { ThreadStripe.change() }
  }

  /// Notes a slot, or -1 for none, in a stripe that the caller has taken; returns whether it is time to look after what may be
  /// overdue.
  ///
  /// The notes of a full one are carried into the order, or dropped if somebody holds the lock, who is not waited for.
  @inlinable
  @inline(never)
  borrowing func note(_ slot: Int32, _ stripe: ReadStripe) -> Bool {
    let notes = unsafe stripe.notes
    if unsafe notes.pointee.untilLook == 0 {
      unsafe notes.pointee.beginRound()
      if slot >= 0 { _ = unsafe notes.pointee.append(slot) }
    } else if unsafe !notes.pointee.append(slot) {
      return false
    }
    let mayBeOverdue = writers.withLockIfAvailable { guarded in
      unsafe notes.pointee.carry(into: &guarded.order)
      return guarded.order.hasDeadlines
    }
    if let mayBeOverdue { return mayBeOverdue }
    unsafe notes.pointee.dropIfFull()
    return false
  }
}

/// What the lock of writers guards beside the shared state.
@usableFromInline
struct LockedOrder<Order: ReadOrder>: Sendable {
  // What every call changes comes first, in the line of the processor's cache that the lock is in.
  /// A bit for each open stripe.
  @usableFromInline var open: UInt32 = 0
  @usableFromInline var readsSinceWrite: UInt32 = 0
  /// The number of the thread whose read took no stripe last.
  @usableFromInline var lastReader = 0
  /// Of the reads that took no stripe.
  @usableFromInline var reads = ReadCounts()
  /// The reads without a write after which a stripe is opened; tests take fewer.
  @usableFromInline var quiet = ReadStripe.quiet
  @usableFromInline var order: Order

  @inlinable
  init(order: Order) { self.order = order }

  /// Counts a read that took no stripe, and tells the order of it; returns whether it is time to look after what may be overdue.
  @inlinable
  @inline(__always)
  mutating func finish(
    _ trace: ReadTrace, countedAs counts: ReadCounts, _ stripes: borrowing ReadStripes, _ number: Int
  ) -> Bool {
    reads.add(counts, hasFound: trace.hasFound)
    if trace.slot >= 0 { order.touched(trace.slot) }
    readsSinceWrite &+= 1
    // Where threads meet, each waits for the lines of the processor's cache that the other one has just written.
    if number != lastReader {
      lastReader = number
      readsSinceWrite &+= quiet / 2
    }
    guard readsSinceWrite >= quiet else { return false }
    openStripe(stripes[number], number)
    return order.hasDeadlines
  }

  /// Takes the open stripes for a write, and carries their notes over; those that little was read by stay closed.
  @inlinable
  @inline(never)
  mutating func takeStripes(_ stripes: borrowing ReadStripes) {
    forEachOpen {
      let stripe = stripes[$1]
      stripe.close()
      unsafe stripe.notes.pointee.carry(into: &$0.order)
      if unsafe stripe.notes.pointee.readsSinceWrite() < ReadStripe.fewest { $0.open &= ~(1 << UInt32($1)) }
    }
  }

  /// Gives back those that stay open.
  @inlinable
  @inline(never)
  mutating func releaseStripes(_ stripes: borrowing ReadStripes) { forEachOpen { stripes[$1].release() } }

  @inlinable
  @inline(__always)
  mutating func forEachOpen(_ body: (inout Self, Int) -> Void) {
    var rest = open
    while rest != 0 {
      body(&self, rest.trailingZeroBitCount)
      rest &= rest - 1
    }
  }

  @inlinable
  @inline(never)
  mutating func openStripe(_ stripe: ReadStripe, _ number: Int) {
    guard open & 1 << UInt32(number) == 0 else { return }
    open |= 1 << UInt32(number)
    unsafe stripe.notes.pointee.open()
    stripe.release()
  }
}
