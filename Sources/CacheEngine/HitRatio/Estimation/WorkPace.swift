import CacheCore

/// Tells how much of the time that pieces of work took was work, and not somebody else's turn on the processor.
///
/// Where many programs run, a piece that takes ten times as long as its neighbours was interrupted. The time of the processor
/// that a thread has taken would say so as well, but some systems count it in ticks of ten milliseconds.
struct WorkPace: Sendable {
  private static let most = 15

  /// Nanoseconds for each note, of the last pieces.
  private var paces: [Double] = []
  private var next = 0

  /// Returns how long a piece took, or twice what is usual if that is less.
  mutating func spent(on notes: Int, took nanoseconds: Int64) -> Int64 {
    guard notes > 0 else { return 0 }
    let pace = Double(max(0, nanoseconds)) / Double(notes)
    if paces.count < Self.most { paces.append(pace) } else { paces[next] = pace }
    next = (next + 1) % Self.most
    return Int64(min(pace, 2 * usual) * Double(notes))
  }

  /// Nanoseconds for a note, in the middle of the last pieces.
  var usual: Double { paces.isEmpty ? 0 : paces.sorted()[paces.count / 2] }
}
