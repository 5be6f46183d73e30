/// A stretch of time between two steps of sweeps, as a ``WriteGate`` tells it to a write.
public struct GatePhase: Equatable, Sendable {
  // The lowest 24 bits of a word count those who are in the upper level: more tasks than a machine can hold.
  @usableFromInline static var countBits: UInt64 { 24 }

  /// The moment, and in the lowest bit whether a sweep is at work below.
  @usableFromInline let bits: UInt64

  @inlinable
  init(_ word: UInt64) { bits = word >> Self.countBits }

  init(moment: UInt64, isSweeping: Bool) { bits = moment << 1 | (isSweeping ? 1 : 0) }

  @inlinable var isSweeping: Bool { bits & 1 == 1 }
  @inlinable var moment: UInt64 { bits >> 1 }

  var word: UInt64 { bits << Self.countBits }

  static func count(_ word: UInt64) -> UInt64 { word & (1 << countBits - 1) }
}

/// When a read began, counted in what has been done through a gate by then.
@usableFromInline
struct GateTime: Equatable, Sendable {
  @usableFromInline let writes: UInt64
  @usableFromInline let copies: UInt64

  @inlinable
  init(writes: UInt64, copies: UInt64) {
    self.writes = writes
    self.copies = copies
  }
}

/// What a read that travels to the lower level has to know in the end.
@usableFromInline
package struct ReadTicket: Sendable {
  /// The key's version when the read was noted.
  @usableFromInline var version: UInt64
  /// The phase then.
  @usableFromInline let phase: GatePhase
  /// A write, of whatever key, began between the read's first step and its being noted.
  @usableFromInline let isLate: Bool
  /// Where the key is in the gate's table until the read ends; -1 if that is not known.
  @usableFromInline var slot: Int32
  @usableFromInline let hash: UInt32

  @inlinable
  init<Key>(_ read: (version: UInt64, place: WriteGateTable<Key>.Place?), phase: GatePhase, isLate: Bool) {
    version = read.version
    self.phase = phase
    self.isLate = isLate
    slot = read.place?.slot ?? -1
    hash = read.place?.hash ?? 0
  }

  /// The same, for use after the read may have ended.
  var unplaced: ReadTicket {
    var ticket = self
    ticket.slot = -1
    return ticket
  }

  @inlinable
  func place<Key>(in _: WriteGate<Key>) -> WriteGateTable<Key>.Place? {
    slot < 0 ? nil : WriteGateTable<Key>.Place(slot: slot, hash: hash)
  }
}
