public import CacheCore

public import Synchronization

/// The parts of a ``ReadMostlyLock`` that the reads of threads use, a line of the processor's cache each.
@usableFromInline
@safe
struct ReadStripes: ~Copyable, @unchecked Sendable {
  // Unchecked: state is atomic, and notes are touched by who has taken the stripe.
  @usableFromInline let first: UnsafeMutableRawPointer

  /// Two lines, which are fetched in pairs, so that no stripe shares one with another.
  @usableFromInline static var stride: Int { 128 }

  @inlinable
  init() {
    unsafe first = .allocate(byteCount: Self.stride * ThreadStripe.count, alignment: Self.stride)
    for number in 0..<ThreadStripe.count {
      unsafe self[number].state.initialize(to: Atomic(ReadStripe.closed))
      unsafe self[number].notes.initialize(to: ReadStripe.Notes())
    }
  }

  @inlinable
  deinit {
    for number in 0..<ThreadStripe.count {
      unsafe self[number].state.deinitialize(count: 1)
      unsafe self[number].notes.deinitialize(count: 1)
    }
    unsafe first.deallocate()
  }

  @inlinable
  @inline(__always)
  subscript(number: Int) -> ReadStripe { unsafe ReadStripe(at: first + number &* Self.stride) }
}

/// The part of a ``ReadMostlyLock`` that the reads of one thread use.
///
/// It belongs to whoever has taken it: a thread that reads; or, while it is closed, who has the lock of writers.
@usableFromInline
@safe
struct ReadStripe: @unchecked Sendable {  // as the whole
  /// The reads that a stripe takes before they are carried over.
  @usableFromInline static var room: Int { 64 }
  /// The reads without a write after which a stripe is opened; one by another thread than the last counts as half of them.
  ///
  /// Long enough that a mixture of reads and writes on one thread does not open and close it all the time.
  @usableFromInline static var quiet: UInt32 { 64 }
  /// The reads between two writes that a stripe stays open for: to close and open it takes as long as a few under the lock.
  @usableFromInline static var fewest: Int { 2 }

  @usableFromInline static var closed: UInt32 { 0 }
  @usableFromInline static var open: UInt32 { 1 }
  @usableFromInline static var taken: UInt32 { 2 }

  /// Reached apart from the notes, since to change a part of a value is to change the value.
  @usableFromInline let state: UnsafeMutablePointer<Atomic<UInt32>>

  @inlinable
  @inline(__always)
  init(at memory: UnsafeMutableRawPointer) { unsafe state = memory.assumingMemoryBound(to: Atomic<UInt32>.self) }

  /// What its readers noted: of whoever has taken the stripe.
  @inlinable
  @inline(__always)
  var notes: UnsafeMutablePointer<Notes> {
    unsafe (UnsafeMutableRawPointer(state) + MemoryLayout<Notes>.alignment).assumingMemoryBound(to: Notes.self)
  }

  /// Whether the stripe was open, and is the caller's now, until ``release()``.
  @inlinable
  @inline(__always)
  func take() -> Bool {
    unsafe state.pointee.load(ordering: .relaxed) == Self.open
      && state.pointee.compareExchange(expected: Self.open, desired: Self.taken, ordering: .acquiring).exchanged
  }

  @inlinable
  @inline(__always)
  func release() { unsafe state.pointee.store(Self.open, ordering: .releasing) }

  /// Closes the stripe, after its reader is done, which takes that one a look-up.
  @usableFromInline
  func close() {
    var round: UInt32 = 0
    while unsafe !state.pointee.weakCompareExchange(
      expected: Self.open, desired: Self.closed, ordering: .acquiring
    ).exchanged {
      Backoff.wait(round)
      round &+= 1
    }
  }

  @usableFromInline
  struct Notes: Sendable {
    @usableFromInline var count = 0
    /// The hits of a round that are still to come: then somebody looks after what may be overdue.
    ///
    /// Most hits are no news, so that there need never be ``ReadStripe/room`` notes.
    @usableFromInline var untilLook = Notes.round
    @usableFromInline var slots: ContiguousArray<Int32> = []
    /// Without the hits of this round.
    @usableFromInline var earlier = ReadCounts()
    /// The reads before the last write.
    private var readsBefore = 0

    @usableFromInline static var round: Int { 1_024 }

    /// Every read by this stripe, carried over or not.
    @usableFromInline var reads: ReadCounts {
      ReadCounts(found: earlier.found &+ Self.round &- untilLook, missed: earlier.missed)
    }

    @usableFromInline
    mutating func beginRound() { (earlier, untilLook) = (reads, Self.round) }

    @usableFromInline
    init() {}

    @usableFromInline
    mutating func open() {
      if slots.isEmpty { slots = ContiguousArray(repeating: 0, count: ReadStripe.room) }
    }

    /// Notes a slot; returns whether there is no room for another.
    @inlinable
    mutating func append(_ slot: Int32) -> Bool {
      slots[count] = slot
      count &+= 1
      return count == slots.count
    }

    @usableFromInline
    mutating func dropIfFull() { if count == slots.count { count = 0 } }

    @inlinable
    mutating func carry(into order: inout some ReadOrder) {
      for note in 0..<count { order.touched(slots[note]) }
      count = 0
    }

    /// The reads since this was asked last.
    @usableFromInline
    mutating func readsSinceWrite() -> Int {
      let (before, reads) = (readsBefore, reads)
      readsBefore = reads.found &+ reads.missed
      return readsBefore &- before
    }
  }
}

/// What a read has found.
@usableFromInline
struct ReadTrace: Sendable {
  @usableFromInline var hasFound = false
  /// The slot that the order has to be told of; -1 for none.
  @usableFromInline var slot: Int32 = -1

  @inlinable
  init() {}
}

/// How many reads found something, and how many did not.
@usableFromInline
struct ReadCounts: Sendable {
  @usableFromInline var found = 0
  @usableFromInline var missed = 0

  /// What one read counts as.
  @inlinable static var whole: ReadCounts { ReadCounts(found: 1, missed: 1) }
  /// Who does not find it here asks again, in another way.
  @inlinable static var ifFound: ReadCounts { ReadCounts(found: 1) }
  /// A read that nobody counts.
  @inlinable static var none: ReadCounts { ReadCounts() }

  @inlinable
  init(found: Int = 0, missed: Int = 0) {
    self.found = found
    self.missed = missed
  }

  @inlinable
  mutating func add(_ read: ReadCounts, hasFound: Bool) {
    if hasFound { found &+= read.found } else { missed &+= read.missed }
  }

  @inlinable
  static func += (counts: inout ReadCounts, other: ReadCounts) {
    counts.found &+= other.found
    counts.missed &+= other.missed
  }
}
