import CacheCore
internal import CStore
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How many files of the log a store has open, and how many it may have.
///
/// Each takes a descriptor, of which a process has few: by default 1,024 on Linux and 256 on macOS, for its sockets as well.
final class SegmentFiles: Sendable {
  let count = Atomic(0)
  let most: Int

  init(most: Int) { self.most = most }

  static var usualMost: Int { max(16, Int(cstore_descriptor_limit()) / 4) }

  var isFull: Bool { count.load(ordering: .relaxed) >= most }
}

extension SegmentedStore {
  /// Closes files of the log if too many are open.
  func closeSurplusFiles() {
    // Several at once, so that it is not looked for them whenever one is opened.
    if segmentFiles.count.load(ordering: .relaxed) > segmentFiles.most { closeFiles(but: segmentFiles.most / 8 * 7) }
  }

  /// Closes files of the log until only so many are open, first those that nobody has asked for since the last time.
  ///
  /// The newest stays open, and so does whatever will be cut, or synced for those who wait for the disk: the system tells of a failure to
  /// write only to those who have the file open.
  ///
  /// - Returns: Whether any was closed.
  @discardableResult
  func closeFiles(but most: Int) -> Bool {
    let (segments, kept) = state.withLock { state in
      (state.segments.dropLast(), state.isSynced ? state.unsynced.union(state.uncut.keys) : Set(state.uncut.keys))
    }
    var isAnyClosed = false
    for evenIfWanted in [false, true] {
      for segment in segments where !kept.contains(segment.number) {
        guard segmentFiles.count.load(ordering: .relaxed) > most else { return isAnyClosed }
        if segment.close(evenIfWanted: evenIfWanted) { isAnyClosed = true }
      }
    }
    return isAnyClosed
  }

  /// Waits until the disk has a file of the log, and closes the file again if too many are open.
  func sync(_ segment: Segment) throws {
    try opening { try segment.file() }.sync()
    guard segmentFiles.count.load(ordering: .relaxed) > segmentFiles.most,
      segment !== state.withLock({ $0.segments.last })
    else { return }
    _ = segment.close(evenIfWanted: true)
  }

  /// Opens something, once more without the files of the log if the process has no descriptor left.
  func opening<Opened>(_ open: () throws -> Opened) throws -> Opened {
    do { return try open() } catch let failure as SystemFailure where [EMFILE, ENFILE].contains(failure.number) {
      let isSpareDropped = dropSpare()
      guard closeFiles(but: 0) || isSpareDropped else { throw failure }
      return try open()
    }
  }
}
