/// The segments in which entries live, and how much of each.
///
/// Entries name a segment by a four-byte number that stands for the segment's own, and is used again once nothing lives there.
struct SegmentUses: Sendable {
  private struct Use: Sendable {
    var number: UInt64
    var count = 0
    /// What the records take that live there.
    var bytes = 0
  }

  private var uses: ContiguousArray<Use> = []
  private var free: [UInt32] = []
  /// By the segments' own numbers.
  private var places: [UInt64: UInt32] = [:]
  private var joinedLast: UInt32 = 0

  /// The segment's own number.
  func number(of place: UInt32) -> UInt64 { uses[Int(place)].number }

  /// What the records take that live in a segment.
  func bytes(in number: UInt64) -> Int { places[number].map { uses[Int($0)].bytes } ?? 0 }

  /// Counts a record in a segment, and gives what stands for that.
  mutating func join(_ number: UInt64, _ length: Int) -> UInt32 {
    if uses.isEmpty || uses[Int(joinedLast)].number != number || uses[Int(joinedLast)].count == 0 {
      joinedLast = places[number] ?? free.popLast() ?? UInt32(uses.count)
      if places[number] == nil {
        let use = Use(number: number)
        if joinedLast == uses.count { uses.append(use) } else { uses[Int(joinedLast)] = use }
        places[number] = joinedLast
      }
    }
    uses[Int(joinedLast)].count += 1
    uses[Int(joinedLast)].bytes += length
    return joinedLast
  }

  mutating func leave(_ place: UInt32, _ length: Int) {
    uses[Int(place)].count -= 1
    uses[Int(place)].bytes -= length
    guard uses[Int(place)].count == 0 else { return }
    places[uses[Int(place)].number] = nil
    free.append(place)
  }
}
