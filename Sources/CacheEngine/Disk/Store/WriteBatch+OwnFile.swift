import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How a batch writes a long value into a file of its own, and removes it.
extension WriteBatch {
  /// Writes a long value beside the log and renames it, and gives the record that points to it.
  mutating func writeOwnFile(_ number: UInt64, _ value: Data, _ record: PreparedRecord) throws
    -> PreparedRecord
  {
    let (temporary, name) = (FileName.temporary.name(number), FileName.value.name(number))
    do {
      let file = try store.opening {
        try store.directory.open(temporary, forWriting: true, create: true, isNew: true)
      }
      try file.write(value, at: 0)
      // A record must not reach the disk without the value that it points to: it hides what the key had before.
      if isTracking { try file.sync() }
      let allocated = file.allocatedBytes
      try store.directory.rename(temporary, to: name)
      store.state.withLock { state in
        state.isDirectoryChanged = true
        state.allocatedBytes += StoreIndex.blocks(value.count)
        state.settle(value: number, value.count, allocated)
        state.traffic.written += value.count
        if isTracking { state.traffic.syncs += 2 }
      }
    } catch {
      try? store.directory.remove(temporary)
      throw error
    }
    if isTracking {
      do { try syncNames() } catch {
        unlink(number, value.count)
        // The system reports this once: nobody would hear again of the other names that wait.
        throw fail(error)
      }
    }
    var pointer = ByteWriter()
    pointer.put(number)
    pointer.put(UInt64(value.count))
    pointer.put(Checksum.of(value, seed: store.salt))
    // What stands behind the place for the pointer stays.
    pointer.bytes += record.bytes[record.header.valueRange].dropFirst(pointer.bytes.count)
    let (type, tags) = (Array(record.bytes[record.header.typeRange]), Array(record.bytes[record.header.tagsRange]))
    var pointing = unsafe pointer.bytes.withUnsafeBytes {
      unsafe PreparedRecord(
        .value, key: record.key, type: type, tags: tags, times: record.header.times,
        cost: Int(clamping: record.header.cost),
        value: $0, salt: store.salt)
    }
    pointing.header.flags = record.header.flags | (isTracking ? RecordHeader.followsOwnFile : 0)
    return pointing
  }

  mutating func unlink(_ number: UInt64, _ length: Int) {
    let isRemoved = (try? store.directory.remove(FileName.value.name(number))) != nil
    store.state.withLock { state in
      state.orphans[number] = isRemoved ? nil : length
      guard isRemoved else { return }
      state.isDirectoryChanged = true
      state.forget(value: number, length)
    }
  }
}
