import CacheEngineTesting

/// How often keys came lately, up to 15, halved after ten counts for each of the most entries that there were.
protocol ReferenceCounts {
  subscript(key: Int) -> Int { get }
  mutating func count(_ key: Int, held: Int)
}

/// When the counts are halved.
struct ReferenceAging {
  private var entries = 8
  private var additions = 0

  /// Notes a count with so many entries, and says whether all are to be halved.
  mutating func added(_ held: Int) -> Bool {
    entries = max(entries, held)
    additions += 1
    guard additions >= 10 * entries else { return false }
    additions /= 2
    return true
  }
}

/// A count for every key.
struct ExactCounts: ReferenceCounts {
  private var counts: [Int: Int] = [:]
  private var aging = ReferenceAging()

  subscript(key: Int) -> Int { counts[key] ?? 0 }

  mutating func count(_ key: Int, held: Int) {
    guard self[key] < 15 else { return }
    counts[key] = self[key] + 1
    if aging.added(held) { counts = counts.mapValues { $0 / 2 }.filter { $0.value > 0 } }
  }
}

/// A count-min sketch of four rows in 64 blocks of 32 counters a row: what the engine has up to 512 entries.
struct EstimatedCounts: ReferenceCounts {
  private struct Cell: Hashable { var block, row, column: Int }

  private var cells: [Cell: Int] = [:]
  private var aging = ReferenceAging()

  subscript(key: Int) -> Int { Self.cells(key).map { cells[$0] ?? 0 }.min() ?? 0 }

  mutating func count(_ key: Int, held: Int) {
    let growing = Self.cells(key).filter { (cells[$0] ?? 0) < 15 }
    for cell in growing { cells[cell, default: 0] += 1 }
    if !growing.isEmpty, aging.added(held) { cells = cells.mapValues { $0 / 2 } }
  }

  /// The block is in the upper six of the lower 32 bits of a SplitMix64 draw, the columns in five of each of its upper four bytes.
  private static func cells(_ key: Int) -> [Cell] {
    var draw = SeededGenerator(seed: UInt64(key))
    let bits = draw.next()
    return (0..<4).map { Cell(block: Int(bits >> 26 % 64), row: $0, column: Int((bits >> UInt64(32 + 8 * $0)) % 32)) }
  }
}
