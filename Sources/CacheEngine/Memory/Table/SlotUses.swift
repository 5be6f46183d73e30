import CacheCore

public import Synchronization

/// What a hit notes where it need not tell the order: how often each slot was used since the order was last told.
///
/// A list of use is read from its old end only, and gets older by what comes in. So a slot that was moved to the new end while
/// the last eighth of the entries came in stays where it is: its uses are counted, in a byte that readers may write at once, and
/// the order learns of them before it next judges the slot.
///
/// The higher half of a byte is the *era* in which the slot was moved last, of sixteen that follow one another; the lower half
/// the uses since, up to fifteen. Counts that readers write at the same moment may be lost.
///
/// Policies that have a mark for each slot and no order of use need no eras: they are told until another use would change
/// nothing, and again once they have taken the mark away.
@usableFromInline
@safe
final class SlotUses: @unchecked Sendable {
  // Unchecked: bytes are atomic; the header is written alone, by who also changes the order.

  /// What readers see.
  @usableFromInline
  @safe
  struct Header {
    @usableFromInline var bytes: UnsafeMutablePointer<Atomic<UInt8>>
    /// The present era, in the higher half, or ``SlotUses/none``.
    @usableFromInline var era = SlotUses.none
    /// Slots whose sample is at most this are told of every time.
    @usableFromInline var sampled: UInt32 = 0
    var capacity = 0
    /// What came since the era began.
    var inserted = 0
  }

  /// Equals no era: the order is told of every use.
  @usableFromInline static var none: UInt8 { 15 }
  /// The eras in which as many entries come in as there are.
  private static let eras = 8

  @usableFromInline let header: UnsafeMutablePointer<Header>

  /// The era of policies that have marks, and one that is over.
  private static let (only, over): (UInt8, UInt8) = (0, 16)

  init() {
    unsafe header = .allocate(capacity: 1)
    unsafe header.initialize(to: Header(bytes: .allocate(capacity: 0)))
  }

  /// For a policy that has marks.
  static func ofMarks() -> SlotUses {
    let uses = SlotUses()
    unsafe uses.header.pointee.era = only
    return uses
  }

  deinit {
    unsafe header.pointee.bytes.deallocate()
    unsafe header.deinitialize(count: 1)
    unsafe header.deallocate()
  }

  /// Whether the order has to be told of a use of this slot; if not, it is counted.
  @inlinable
  @inline(__always)
  func isNews(_ slot: Int32, _ hash: UInt32) -> Bool {
    let era = unsafe header.pointee.era
    guard era != Self.none else { return true }
    let byte = unsafe header.pointee.bytes + Int(slot)
    let uses = unsafe byte.pointee.load(ordering: .relaxed)
    guard uses & 0xf0 == era, unsafe Self.sample(hash) > header.pointee.sampled else { return true }
    if uses & 15 < 15 { unsafe byte.pointee.store(uses + 1, ordering: .relaxed) }
    return false
  }

  /// A number by which keys are sampled: numbers in a row are far apart.
  @inlinable
  @inline(__always)
  static func sample(_ hash: UInt32) -> UInt32 { hash &* 0x9e37_79b1 }

  /// Notes a slot that came in; from so many entries on there are eras.
  @inline(__always)
  func insert(_ slot: Int32, count: Int, fewest: Int) {
    if unsafe Int(slot) >= header.pointee.capacity { grow(to: Int(slot) + 1) }
    unsafe header.pointee.inserted &+= 1
    if count < fewest {
      unsafe header.pointee.era = Self.none
    } else if unsafe header.pointee.era == Self.none {
      unsafe header.pointee.era = 0
    } else if unsafe header.pointee.inserted &* Self.eras >= count {
      unsafe header.pointee.inserted = 0
      unsafe header.pointee.era &+= 16
    }
    unsafe (header.pointee.bytes + Int(slot)).pointee.store(header.pointee.era & 0xf0, ordering: .relaxed)
  }

  /// Notes a slot that came in, of whose uses a policy with marks has to be told; or never.
  func insert(_ slot: Int32, isToldOf: Bool = true) {
    if unsafe Int(slot) >= header.pointee.capacity { grow(to: Int(slot) + 1) }
    tell(of: slot, isToldOf)
  }

  /// Notes whether a use of a slot would change anything.
  func tell(of slot: Int32, _ isToldOf: Bool) {
    unsafe (header.pointee.bytes + Int(slot)).pointee.store(isToldOf ? Self.over : Self.only, ordering: .relaxed)
  }

  /// The uses that were counted, and are so no longer.
  @inline(__always)
  func take(_ slot: Int32) -> Int {
    let byte = unsafe header.pointee.bytes + Int(slot)
    let uses = unsafe byte.pointee.load(ordering: .relaxed)
    if uses & 15 != 0 { unsafe byte.pointee.store(uses & 0xf0, ordering: .relaxed) }
    return Int(uses & 15)
  }

  /// Whether a slot is to be moved by a use: it was not in this era.
  @inline(__always)
  func isOld(_ slot: Int32) -> Bool {
    let era = unsafe header.pointee.era
    return unsafe era == Self.none
      || (header.pointee.bytes + Int(slot)).pointee.load(ordering: .relaxed) & 0xf0 != era
  }

  /// Notes that a slot was moved; its uses stay.
  @inline(__always)
  func renew(_ slot: Int32) {
    let era = unsafe header.pointee.era & 0xf0
    let byte = unsafe header.pointee.bytes + Int(slot)
    unsafe byte.pointee.store(era | byte.pointee.load(ordering: .relaxed) & 15, ordering: .relaxed)
  }

  private func grow(to length: Int) {
    let (old, used) = unsafe (header.pointee.bytes, header.pointee.capacity)
    let capacity = max(64, length + length / 8)
    unsafe header.pointee.bytes = .allocate(capacity: capacity)
    unsafe header.pointee.bytes.moveInitialize(from: old, count: used)
    for slot in used..<capacity { unsafe (header.pointee.bytes + slot).initialize(to: Atomic(0)) }
    unsafe header.pointee.capacity = capacity
    unsafe old.deallocate()
  }
}
