/// What a store has written since it was opened, in bytes.
///
/// Entries that leave make holes in the log, and room is made by copying what lives forward. How much that costs beside
/// what was asked for is ``amplification``.
public struct StoreTraffic: Sendable, Equatable {
  /// What sets, removals and clears wrote: keys, values, and what describes them.
  public var written = 0
  /// What was copied forward to make room, besides that.
  public var copied = 0
  /// How many times the store waited for the disk.
  ///
  /// Writes that come together share one wait.
  public var syncs = 0

  /// Everything that was written, for each byte that was asked for; 1 is the least.
  public var amplification: Double { written == 0 ? 1 : Double(written + copied) / Double(written) }
}
