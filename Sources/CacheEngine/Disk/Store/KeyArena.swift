/// The bytes of many short keys, end to end in blocks: an array for each of them would take more than the keys do.
///
/// A key has a place, a number, for as long as it is held. A block in which nothing is held is used again; a sparse one, while a
/// good part of all blocks is sparse, is named to the owner, which adds the keys in it again (``keys(in:)``, ``free(_:)``).
struct KeyArena: Sendable {
  /// Longer keys are not taken.
  static let longest = 1 << 10
  private static let blockBits = 15
  private static let blockLength = 1 << blockBits
  private static let mostBlocks = 1 << (32 - blockBits)
  /// Before each key stands its length.
  private static let headLength = 2

  private struct Block: Sendable {
    var bytes: ContiguousArray<UInt8> = []
    /// What the keys that are held take.
    var live = 0
  }

  private var blocks: ContiguousArray<Block> = []
  private var freeBlocks: [Int] = []
  /// The block that keys are added to.
  private var current = 0
  /// What all keys take, and those that are held.
  private var (used, live) = (0, 0)

  var bytes: Int { used }

  /// Takes in a key and returns its place; `nil` if it is too long, or there is no place left.
  mutating func add(_ key: UnsafeRawBufferPointer) -> UInt32? {
    let length = Self.headLength + key.count
    guard key.count <= Self.longest else { return nil }
    if blocks.isEmpty || blocks[current].bytes.count + length > Self.blockLength {
      if !blocks.isEmpty, blocks[current].live == 0 { free(current) }
      guard let next = freeBlocks.popLast() ?? (blocks.count < Self.mostBlocks ? blocks.count : nil) else { return nil }
      if next == blocks.count { blocks.append(Block()) }
      current = next
    }
    let offset = blocks[current].bytes.count
    blocks[current].bytes.append(UInt8(truncatingIfNeeded: key.count))
    blocks[current].bytes.append(UInt8(truncatingIfNeeded: key.count >> 8))
    unsafe blocks[current].bytes.append(contentsOf: key)
    blocks[current].live += length
    (used, live) = (used + length, live + length)
    return UInt32(current << Self.blockBits | offset)
  }

  /// Releases a key; returns a block that should be emptied for the room that it wastes.
  mutating func remove(_ place: UInt32) -> Int? {
    let (block, offset) = Self.split(place)
    let length = Self.headLength + count(block, offset)
    blocks[block].live -= length
    live -= length
    if blocks[block].live == 0, block != current {
      free(block)
      return nil
    }
    let isSparse = block != current && 2 * blocks[block].live < blocks[block].bytes.count && 4 * live < 3 * used
    return isSparse ? block : nil
  }

  func length(_ place: UInt32) -> Int {
    let (block, offset) = Self.split(place)
    return count(block, offset)
  }

  func withKey<Answer>(_ place: UInt32, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    let (block, offset) = Self.split(place)
    return unsafe blocks[block].bytes.withUnsafeBytes { bytes in
      let start = offset + Self.headLength
      return unsafe body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count(block, offset)]))
    }
  }

  /// All keys of a block, including those no longer held, with their places.
  func keys(in block: Int) -> [(place: UInt32, key: [UInt8])] {
    var keys: [(UInt32, [UInt8])] = []
    var offset = 0
    while offset < blocks[block].bytes.count {
      let start = offset + Self.headLength
      let end = start + count(block, offset)
      keys.append((UInt32(block << Self.blockBits | offset), Array(blocks[block].bytes[start..<end])))
      offset = end
    }
    return keys
  }

  /// Forgets what is in a block, to use it again.
  mutating func free(_ block: Int) {
    used -= blocks[block].bytes.count
    live -= blocks[block].live
    blocks[block].bytes.removeAll(keepingCapacity: false)
    blocks[block].live = 0
    freeBlocks.append(block)
  }

  private func count(_ block: Int, _ offset: Int) -> Int {
    Int(blocks[block].bytes[offset]) | Int(blocks[block].bytes[offset + 1]) << 8
  }

  private static func split(_ place: UInt32) -> (block: Int, offset: Int) {
    (Int(place) >> blockBits, Int(place) & (blockLength - 1))
  }
}
