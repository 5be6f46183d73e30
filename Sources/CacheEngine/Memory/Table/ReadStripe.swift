import CacheCore

public import Synchronization

/// The part of a ``ReadMostlyLock`` that the reads of one thread use.
@usableFromInline
struct ReadStripe: ~Copyable, Sendable {
  /// The reads that a stripe takes before they are carried over.
  @usableFromInline static var room: Int { 64 }
  /// The reads without a write after which a stripe is opened.
  ///
  /// Long enough that a mixture of reads and writes does not open and close it all the time.
  @usableFromInline static var quiet: UInt32 { 64 }

  /// Whether it is worth a try; what holds is in the notes, under their lock.
  @usableFromInline let seemsOpen = Atomic(false)
  @usableFromInline let notes = Mutex(Notes())
  // Two lines of the processor's cache, which are fetched in pairs, so that no stripe shares one with another.
  private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
    (0, 0, 0, 0, 0, 0, 0, 0, 0)

  @usableFromInline
  init() {}

  @usableFromInline
  struct Notes: Sendable {
    @usableFromInline var isOpen = false
    @usableFromInline var count = 0
    @usableFromInline var slots: ContiguousArray<Int32> = []
    /// Of every read by this stripe, carried over or not.
    @usableFromInline var reads = ReadCounts()

    @usableFromInline
    init() {}

    @usableFromInline
    mutating func open() {
      if slots.isEmpty { slots = ContiguousArray(repeating: 0, count: ReadStripe.room) }
      isOpen = true
    }

    /// Notes a slot; returns whether there is no room for another.
    @inlinable
    mutating func append(_ slot: Int32) -> Bool {
      // Nobody came to carry the notes away: the older ones are as good as these.
      guard count < slots.count else { return true }
      slots[count] = slot
      count &+= 1
      return count == slots.count
    }

    @inlinable
    mutating func carry(into order: inout some ReadOrder) {
      for note in 0..<count { order.touched(slots[note]) }
      count = 0
    }
  }
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
