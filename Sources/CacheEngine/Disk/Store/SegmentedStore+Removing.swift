import CacheCore
import Dispatch
import Synchronization

/// How segments go once nothing lives in them any more.
///
/// A file system takes as long to free the blocks and pages of a segment as to write some dozens of records. So that is
/// done on a thread of its own, one segment at a time, while writes go on in the room that a spare segment has.
extension SegmentedStore {
  /// Removes a segment; whoever needs its room right away waits with ``awaitRemoval()``.
  ///
  /// Until it is gone, the segment counts and is among the others. What could not be removed in the background is tried
  /// again where the error can be told to somebody.
  func removeAside(_ segment: Segment) throws {
    if state.withLock(\.isRemovalStuck) { try remove(segment) } else { beginRemoval(of: segment) }
  }

  /// The same where no removal has failed before.
  func beginRemoval(of segment: Segment) {
    state.withLock { $0.leaving = segment.number }
    removals.async { [self] in
      let isRemoved = (try? remove(segment)) != nil
      state.withLock { state in
        state.leaving = nil
        state.isRemovalStuck = !isRemoved
      }
      if isRemoved { makeSpare() }
    }
  }

  func awaitRemoval() { removals.sync {} }

  func remove(_ segment: Segment) throws {
    try directory.remove(segment.name)
    state.withLock { state in
      state.isDirectoryChanged = true
      state.isRemovalStuck = false
      state.segments.removeAll { $0.number == segment.number }
      state.uncut[segment.number] = nil
      state.unsynced.remove(segment.number)
      state.forget(segment: segment.number)
    }
    // Closing it frees what it takes: here, and not where whoever has the segment at hand lets go of it, which may be a writer.
    _ = segment.close(evenIfWanted: true)
  }
}

extension SegmentedStore.State {
  /// What the files take, apart from the segment that is being removed.
  var stayingBytes: Int {
    allocatedBytes - (leaving.map { bytes(of: $0) } ?? 0)
  }

  /// What the file of a segment takes.
  func bytes(of segment: UInt64) -> Int { StoreIndex.blocks(lengths[segment] ?? 0) + (segmentExtras[segment] ?? 0) }

  /// The oldest segment, if it can be removed without waiting: nothing lives in it, and no other is being removed.
  var emptyOldest: Segment? {
    guard leaving == nil, !isRemovalStuck, segments.count > 1, let oldest = segments.first,
      index.liveBytes(in: oldest.number) == 0
    else { return nil }
    return oldest
  }
}
