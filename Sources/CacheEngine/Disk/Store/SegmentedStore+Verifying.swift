import CacheCore
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension SegmentedStore {
  /// Reads all entries, so many at a time, and looks at all files.
  func verify(repairing: Bool) async throws -> StoreReport {
    guard !repairing || access == .readWrite else {
      throw CacheError(.readOnly, "the store in \(directory.path) was opened for reading only")
    }
    var report = StoreReport()
    var place: Int? = 0
    while let from = place {
      try Task.checkCancellation()
      let (entries, next) = try state.withLock { state in
        guard !state.isClosed else { throw CacheError(.closed, "the store in \(directory.path) is closed") }
        return state.index.entries(from: from, count: 64)
      }
      place = next
      let found = try await blocking { try entries.compactMap { try self.examine($0.key, $0.entry) } }
      report.entries += entries.count
      report.bytes += entries.reduce(0) { $0 + $1.entry.recordLength + $1.entry.ownFileLength }
      for (key, entry, damage) in found {
        // It may have been replaced or moved while it was read.
        guard state.withLock({ $0.index.find(key) }) == entry else { continue }
        report.note(damage)
        if repairing, try await drop(key, entry) { report.repaired += 1 }
      }
    }
    // Between two batches, when files and index agree.
    let sofar = report
    return try await blocking(on: queue) {
      try self.turn.withLock { _ in
        self.awaitRemoval()
        self.dropSpare()
        return try self.examineFiles(sofar, repairing: repairing)
      }
    }
  }

  private func examine(
    _ key: StoreKey, _ entry: StoreIndex.Entry
  ) throws -> (StoreKey, StoreIndex.Entry, StoreReport.Damage)? {
    func damage(_ file: String, _ reason: String) -> (StoreKey, StoreIndex.Entry, StoreReport.Damage) {
      (key, entry, StoreReport.Damage(key: key.shortHash, file: file, reason: reason))
    }
    func forged(_ file: String) -> (StoreKey, StoreIndex.Entry, StoreReport.Damage) {
      (
        key, entry,
        StoreReport.Damage(key: key.shortHash, file: file, reason: "the entry is not authentic", isForged: true)
      )
    }
    let name = Segment.name(entry.segment)
    guard let segment = state.withLock({ $0.segments.segment(entry.segment) }) else {
      return damage(name, "the file is not there")
    }
    let record = try opening { try segment.read(entry.recordLength, at: entry.offset) }
    closeSurplusFiles()
    guard record.count == entry.recordLength else { return damage(name, "the file ends too early") }
    guard check(record, entry, key) != nil else { return damage(name, "the checksum of the record does not fit") }
    guard let number = entry.ownFile else {
      return isAuthentic(record, entry, key) ? nil : forged(name)
    }
    let own = FileName.value.name(number)
    let file: StoreFile
    do { file = try opening { try directory.open(own, forWriting: false) } } catch let failure as SystemFailure {
      // Too many open files are not the entry's fault.
      guard failure.number == ENOENT || OpenedStore.notOurs.contains(failure.number) else { throw failure }
      return damage(own, "the file is not there")
    }
    guard file.size == entry.ownFileLength else { return damage(own, "the file has another length") }
    let value = try file.read(file.size, at: 0)
    guard ownChecksum(record, entry) == Checksum.of(value, seed: salt) else {
      return damage(own, "the checksum of the value does not fit")
    }
    return isAuthentic(record, entry, key, ownFile: value) ? nil : forged(own)
  }

  private func examineFiles(_ entries: StoreReport, repairing: Bool) throws -> StoreReport {
    var report = entries
    let directory = directory
    let segments = Set(state.withLock { $0.segments.map(\.number) })
    let values = ownFiles()
    for number in state.withLock({ $0.cutSegments }) {
      report.note(
        StoreReport.Damage(
          key: "", file: Segment.name(number),
          reason: "the end of the file is missing, and what it replaced or removed may be back"))
      guard repairing else { continue }
      _ = state.withLock { $0.cutSegments.remove(number) }
      report.repaired += 1
    }
    report.accountedBytes = state.withLock { $0.allocatedBytes }
    for name in try directory.names()
    where name != FileName.lock && name != FileName.checkpoint && name != FileName.socket
      && !StoreSealing.fileNames.contains(name)
    {
      let segment = FileName.segment.number(in: name).flatMap { segments.contains($0) ? $0 : nil }
      let value = FileName.value.number(in: name).flatMap { number in values[number].map { (number, $0) } }
      guard segment != nil || value != nil else {
        if try mayBeSpare(name, directory) { continue }
        report.note(stray: name)
        if repairing, FileName.isOurs(name), !directory.isDirectory(name) {
          try directory.remove(name)
          report.repaired += 1
        }
        continue
      }
      let allocated = directory.allocatedBytes(of: name)
      report.allocatedBytes += allocated
      report.files += 1
      report.mappingBytes += StoreReport.mapping(of: allocated)
      state.withLock { state in
        if let segment { state.settle(segment: segment, allocated) }
        if let (number, length) = value { state.settle(value: number, length, allocated) }
      }
    }
    report.allocatedBytes += directory.allocatedBytes(of: FileName.checkpoint)
    // They are not counted when one looks without the key.
    for name in StoreSealing.fileNames where sealing != nil {
      report.allocatedBytes += directory.allocatedBytes(of: name)
    }
    if access == .readOnly { report.accountedBytes = report.allocatedBytes }
    return report
  }

  /// Whether a file may be what the writer of a store that is only looked at has made for its next segment.
  private func mayBeSpare(_ name: String, _ directory: StoreDirectory) throws -> Bool {
    guard access == .readOnly, FileName.temporary.number(in: name) != nil else { return false }
    return try directory.size(of: name) ?? 0 == 0
  }

  /// The values in files of their own, with their lengths; the index is gone through a page at a time.
  private func ownFiles() -> [UInt64: Int] {
    var files: [UInt64: Int] = [:]
    var place: Int? = 0
    while let from = place {
      let (page, next) = state.withLock { $0.index.entries(from: from, count: 1_024) }
      for (_, entry) in page { if let number = entry.ownFile { files[number] = entry.ownFileLength } }
      place = next
    }
    return files
  }
}
