import CacheCore
import Synchronization

/// How records that come together are appended with one call.
extension WriteBatch {
  /// Appends them all, or none; `false` if each has to be tried by itself, which shows what is wrong.
  mutating func putTogether(_ records: [PreparedRecord]) -> Bool {
    let length = records.reduce(0) { $0 + $1.bytes.count }
    guard !store.state.withLock({ $0.isClosed }), (try? makeRoom(for: length, 0)) != nil else { return false }
    let place = store.state.withLock { state -> (segment: Segment, offset: Int)? in
      guard !state.hasSegmentEnded, let segment = state.segments.last, let offset = state.lengths[segment.number],
        offset + length <= store.limits.segmentBytes
      else { return nil }
      return (segment, offset)
    }
    guard let (segment, offset) = place else { return false }
    var records = records
    let mark = takeMark()
    if mark != 0 {
      let first = records[0].header
      records[0].seal(sequence: first.sequence, flags: first.flags | mark, salt: store.salt)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length)
    for record in records { bytes += record.bytes }
    do { try segment.file().write(bytes, at: offset) } catch {
      leave(segment, at: offset)
      return false
    }
    noteWritten(segment, from: offset)
    let reading = ClockReading(store.clock)
    let replaced = store.state.withLock { [records] state in
      state.allocatedBytes += StoreIndex.blocks(offset + length) - StoreIndex.blocks(offset)
      state.lengths[segment.number] = offset + length
      state.traffic.written += length
      state.unsynced.insert(segment.number)
      var offset = offset
      var replaced: [(StoreKey, StoreIndex.Entry)] = []
      for record in records {
        if isTracking { remember(record.key, in: state) }
        let entry = StoreIndex.Entry(
          record.header, segment: segment.number, offset: offset, at: reading, realKey: record.realKey)
        if let old = state.index.insert(entry, for: record.key, tags: record.tags) {
          replaced.append((record.key, old))
        }
        offset += record.bytes.count
      }
      return replaced
    }
    for (key, entry) in replaced { lose(key, entry, .replaced) }
    return true
  }

  /// Cuts off what a failed write left behind.
  ///
  /// Some of its records may be whole. Where they cannot be cut off now, nothing more is written behind them.
  private func leave(_ segment: Segment, at offset: Int) {
    guard (try? segment.file().truncate(to: offset)) == nil else { return }
    store.state.withLock { state in
      state.hasSegmentEnded = true
      state.uncut[segment.number] = offset
    }
  }
}
