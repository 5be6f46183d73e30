private import CStore
public import Synchronization

/// The part of a ``ReadMostlyLock`` that the reads of one thread use.
@usableFromInline
struct ReadStripe: ~Copyable, Sendable {
  /// Threads beyond this number share stripes.
  @usableFromInline static var count: Int { 8 }
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
  private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
    (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

  @usableFromInline
  init() {}

  /// The stripe of this thread.
  @usableFromInline static var current: Int { Int(cstore_thread_number()) & (count - 1) }

  /// Moves this thread to another stripe: somebody else uses its own.
  @usableFromInline
  @inline(never)
  static func change() { cstore_change_thread_number() }

  @usableFromInline
  struct Notes: Sendable {
    @usableFromInline var isOpen = false
    @usableFromInline var count = 0
    @usableFromInline var slots: ContiguousArray<Int32> = []

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
