import CacheCore

extension StoreIndex {
  /// What the index knows of an entry.
  struct Entry: Sendable, Equatable, RecordShape {
    var segment: UInt64
    var offset: Int
    /// The lower half of the record's number: enough to tell a record from those that stood in its place.
    var sequence: UInt32
    var keyLength: UInt32
    var typeLength: UInt16
    var tagsLength: UInt32
    var valueLength: UInt64
    var cost: Int64
    var isSealed: Bool
    /// Its lifetime was ended by hand, which its record does not tell.
    var isEnded = false
    /// The number of the file that holds the value, if that is not in the record.
    var ownFile: UInt64?
    var ownFileLength = 0
    /// By this process's clock; `Int64.max` for never.
    var deadline: Int64
    var created: Int64
    /// In an encrypted store: the key itself, if it is known; the store knows the entry by a name for it.
    var realKey: StoreKey?

    /// What the entry takes on the disk, its own file included.
    var bytes: Int { recordLength + StoreIndex.blocks(ownFileLength) }
    var deadlineInstant: CacheInstant? { deadline == .max ? nil : CacheInstant(nanoseconds: deadline) }
    /// The length of the value, wherever it stands.
    var size: Int { ownFile == nil ? Int(valueLength) : ownFileLength }
  }

  /// An entry as it is kept.
  struct Slot: Sendable {
    var deadline: Int64 = .max
    var created: Int64 = 0
    /// A number that stands for the segment's, see ``SegmentUses``.
    var segment: UInt32 = 0
    /// In eights, at which records begin.
    var offset: UInt32 = 0
    var sequence: UInt32 = 0
    var valueLength: UInt32 = 0
    var cost: UInt32 = 0
    /// Its place in the arena, unless it is among the rare things.
    var key: UInt32 = 0
    var hash: UInt32 = 0
    /// Neighbours in the order of use; of a free slot, `older` is the next free one.
    var (older, newer): (Int32, Int32) = (none, none)
    var typeLength: UInt16 = 0
    var isUsed = false
    var flags: Flags = []
  }

  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8
    static let isSealed = Flags(rawValue: 1)
    static let isEnded = Flags(rawValue: 2)
    static let hasRarities = Flags(rawValue: 4)
    /// It was read since its record was written where it stands.
    static let isRead = Flags(rawValue: 8)
  }

  /// What few entries have.
  struct Rarities: Sendable {
    var ownFile: UInt64?
    var ownFileLength = 0
    var tagsLength: UInt32 = 0
    var realKey: StoreKey?
    /// A cost that the slot has no room for.
    var cost: Int64?
    /// A key that the arena does not take.
    var key: [UInt8]?

    var isNone: Bool {
      ownFile == nil && ownFileLength == 0 && tagsLength == 0 && realKey == nil && cost == nil && key == nil
    }
  }
}

extension StoreIndex.Entry {
  /// What the index knows of a record.
  init(
    _ header: RecordHeader, segment: UInt64, offset: Int, ownFile: UInt64? = nil, ownFileLength: Int = 0,
    at reading: ClockReading, realKey: StoreKey? = nil
  ) {
    self.init(
      segment: segment, offset: offset, sequence: UInt32(truncatingIfNeeded: header.sequence),
      keyLength: header.keyLength, typeLength: header.typeLength, tagsLength: header.tagsLength,
      valueLength: header.valueLength, cost: header.cost, isSealed: header.flags & RecordHeader.isSealed != 0,
      ownFile: ownFile, ownFileLength: ownFileLength, deadline: header.times.deadline(at: reading),
      created: header.times.created(at: reading), realKey: realKey)
  }
}
