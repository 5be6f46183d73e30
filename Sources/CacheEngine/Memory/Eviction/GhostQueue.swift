import CacheCore

/// Hashes of keys that left not long ago, oldest first.
///
/// Two keys with equal hashes are one here: a ghost costs 32 bits and no key outlives its entry, at the price of a
/// key taken for another once in 2^32 / size insertions.
package struct GhostQueue: Sendable {
  /// The turn in which each hash left last.
  private var turns: [UInt32: Int] = [:]
  private var queue: ContiguousArray<(hash: UInt32, turn: Int)> = []
  private var first = 0
  private var turn = 0

  package init() {}

  package var count: Int { turns.count }

  package func contains(_ hash: UInt32) -> Bool { turns[hash] != nil }

  package mutating func append(_ hash: UInt32) {
    turn += 1
    turns[hash] = turn
    queue.append((hash, turn))
  }

  /// Forgets a hash, and says whether it was there.
  package mutating func remove(_ hash: UInt32) -> Bool { turns.removeValue(forKey: hash) != nil }

  /// Forgets the oldest until no more than so many are left.
  package mutating func trim(to limit: Int) {
    while turns.count > limit, first < queue.count {
      let oldest = queue[first]
      first += 1
      // A hash that was forgotten or came again has left its old place in the queue behind.
      if turns[oldest.hash] == oldest.turn { turns[oldest.hash] = nil }
    }
    // What was left behind may take as much room again as what counts, no more.
    guard queue.count > 2 * turns.count + 16 else { return }
    queue = ContiguousArray(queue[first...].filter { turns[$0.hash] == $0.turn })
    first = 0
  }
}
