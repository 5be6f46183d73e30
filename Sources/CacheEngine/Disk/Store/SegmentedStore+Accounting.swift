import CacheCore
import Synchronization

/// How the store keeps count of what its files take.
///
/// A file is taken for its length in blocks of 4 KiB, before it is written. What a file system takes beyond that is
/// measured: when a segment is full, when a value's file is written, when a store is opened and when it is verified. Until
/// then it is not known, and is little: ext4 adds a block that maps a file once that lies in more than four pieces, and
/// another one for each 340 further pieces; XFS holds some room after the end of a file that grows; file systems with
/// larger blocks round up to these. Where less is taken, as where files are compressed or not written out yet, the length
/// counts nevertheless.
extension SegmentedStore.State {
  /// Notes what a segment takes on the disk.
  mutating func settle(segment number: UInt64, _ allocated: Int) {
    guard let length = lengths[number] else { return }
    allocatedBytes += Self.note(&segmentExtras, number, max(0, allocated - StoreIndex.blocks(length)))
  }

  /// Notes what a value's own file takes on the disk.
  mutating func settle(value number: UInt64, _ length: Int, _ allocated: Int) {
    allocatedBytes += Self.note(&valueExtras, number, max(0, allocated - StoreIndex.blocks(length)))
  }

  /// Notes what a file takes beyond its length, and gives by how much that is more than before.
  private static func note(_ extras: inout [UInt64: Int], _ number: UInt64, _ extra: Int) -> Int {
    defer { extras[number] = extra == 0 ? nil : extra }
    return extra - (extras[number] ?? 0)
  }

  /// Forgets a segment that was removed.
  mutating func forget(segment number: UInt64) {
    allocatedBytes -= StoreIndex.blocks(lengths.removeValue(forKey: number) ?? 0)
    allocatedBytes -= segmentExtras.removeValue(forKey: number) ?? 0
  }

  /// Forgets a value's own file that was removed.
  mutating func forget(value number: UInt64, _ length: Int) {
    allocatedBytes -= StoreIndex.blocks(length)
    allocatedBytes -= valueExtras.removeValue(forKey: number) ?? 0
  }
}

extension SegmentedStore {
  /// What all files of the store take on the disk, now; for a store that is only looked at, and keeps no count of what others write.
  func measured() throws -> Int {
    let directory = directory
    return try directory.names().reduce(0) { sum, name in
      let isOurs = FileName.isOurs(name) || StoreSealing.fileNames.contains(name)
      return isOurs ? sum + directory.allocatedBytes(of: name) : sum
    }
  }

  /// Measures the segments that were filled last.
  ///
  /// A block that maps a file is taken when its bytes are written out, some seconds after they were written.
  func settleSegments(isNewestFull: Bool) {
    let recent = state.withLock { $0.segments.dropLast(isNewestFull ? 0 : 1).suffix(32) }
    let measured = recent.map { ($0.number, $0.allocatedBytes) }
    state.withLock { state in
      for (number, allocated) in measured { state.settle(segment: number, allocated) }
    }
  }
}
