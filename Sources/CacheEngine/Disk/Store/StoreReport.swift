import CacheCore

/// What an examination of a disk level found.
public struct StoreReport: Sendable, Equatable {
  /// An entry that is not as it was written.
  public struct Damage: Sendable, Equatable {
    /// A short hash of the key; keys themselves do not belong in reports.
    ///
    /// Empty for damage of the log itself.
    public var key: String
    /// The file that holds the entry.
    public var file: String
    /// What is wrong with the entry, in words.
    public var reason: String
    /// The entry is intact as far as checksums tell, and is not what was sealed under its key.
    public var isForged = false
  }

  /// How many names and damaged entries a report lists; the counts go on.
  public static let listed = 1_000

  /// How many entries were read.
  public var entries = 0
  /// How many bytes these take.
  public var bytes = 0
  /// How many entries are damaged.
  public var damagedCount = 0
  /// How many of these are forged: not what was sealed under their key.
  public var authenticationFailedCount = 0
  /// The damaged entries.
  public var damaged: [Damage] = []
  /// How many files are in the directory that no entry needs.
  public var strayCount = 0
  /// Files that no entry needs: what a crash left over, and what somebody else put there.
  public var strays: [String] = []
  /// How many damaged entries and leftovers were removed.
  public var repaired = 0
  /// How many bytes the files of the store take on the disk.
  public var allocatedBytes = 0
  /// How many bytes the store counted for them before they were measured.
  ///
  /// The capacity is kept by this count: the lengths in blocks of 4 KiB, and what the file system was seen to take beyond that. A
  /// level that is opened for reading keeps no count; here it has the measured size.
  public var accountedBytes = 0
  /// How many files the store has.
  public var files = 0
  /// The most bytes that a file system may have added to map these files since they were last measured.
  ///
  /// ext4 takes a block of 4 KiB for a file that lies in more than four pieces, and another one for each 340 more. It does
  /// so when it writes the file out, some seconds after the store wrote it.
  public var mappingBytes = 0

  /// Whether every entry is as it was written, and the files take no more than was counted and ``mappingBytes``.
  ///
  /// Strays are no damage. Once the file system has written the files out, a second examination finds them counted exactly.
  public var isSound: Bool { damagedCount == 0 && allocatedBytes <= accountedBytes + mappingBytes }

  /// The most that mapping a file can take: no piece is shorter than a block.
  static func mapping(of allocated: Int) -> Int {
    let blocks = (allocated + 4_095) / 4_096
    return blocks <= 4 ? 0 : (blocks + 339) / 340 * 4_096
  }

  mutating func note(_ damage: Damage) {
    damagedCount += 1
    if damage.isForged { authenticationFailedCount += 1 }
    if damaged.count < Self.listed { damaged.append(damage) }
  }

  mutating func note(stray name: String) {
    strayCount += 1
    if strays.count < Self.listed { strays.append(name) }
  }
}
