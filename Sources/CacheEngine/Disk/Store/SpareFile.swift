import CacheCore
import Dispatch
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An empty file that only needs another name to become the next segment.
///
/// While a segment is removed, a file system may take as long to make another file as to free that one; to rename a file takes it some
/// microseconds. So a store that is full has the next file made where segments are removed, and whoever fills a segment renames
/// that file. After a crash it goes with the other temporary files.
enum SpareFile: Sendable {
  case none
  case made(StoreFile, name: String, in: StoreDirectory)
  /// The file system cannot rename a file without replacing another one.
  case useless

  var isThere: Bool { if case .made = self { true } else { false } }
  fileprivate var isWanted: Bool { if case .none = self { true } else { false } }
}

extension SegmentedStore {
  /// Makes a spare file, and measures the segments that were filled last; runs where segments are removed.
  ///
  /// What fails here is tried again, and reported, where the file is needed. Who waits for the disk anyway needs no spare.
  func makeSpare() {
    guard state.withLock({ $0.spare.isWanted && !$0.isSynced }) else { return }
    settleSegments(isNewestFull: false)
    let number = writer.withLock { writer in
      writer.fileNumber += 1
      return writer.fileNumber
    }
    let (directory, name) = (directory, FileName.temporary.name(number))
    guard let file = try? directory.open(name, forWriting: true, create: true, isNew: true) else { return }
    state.withLock { $0.spare = .made(file, name: name, in: directory) }
  }

  /// Gives the spare file the name of the next segment, and has another one made; `nil` if there is none, or it cannot be renamed.
  func takeSpare() -> (number: UInt64, file: StoreFile)? {
    guard let (file, name, directory) = releaseSpare() else { return nil }
    defer { removals.async { [self] in makeSpare() } }
    do {
      return try numbered { number in
        try directory.renameNew(name, to: Segment.name(number))
        return file
      }
    } catch {
      try? directory.remove(name)
      let isUseless = [EINVAL, ENOSYS, ENOTSUP].contains((error as? SystemFailure)?.number)
      if isUseless { state.withLock { $0.spare = .useless } }
      return nil
    }
  }

  /// Removes the spare file; returns whether there was one.
  @discardableResult
  func dropSpare() -> Bool {
    guard let (_, name, directory) = releaseSpare() else { return false }
    try? directory.remove(name)
    return true
  }

  private func releaseSpare() -> (file: StoreFile, name: String, directory: StoreDirectory)? {
    state.withLock { state in
      guard case .made(let file, let name, let directory) = state.spare else { return nil }
      state.spare = .none
      return (file, name, directory)
    }
  }
}
