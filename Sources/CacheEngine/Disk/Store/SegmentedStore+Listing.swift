import CacheCore
import Synchronization

extension SegmentedStore {
  /// What is told of an entry without reading its value.
  struct Listed: Sendable {
    var key: StoreKey
    var entry: StoreIndex.Entry
    var tags: Set<String>
    var type: [UInt8]
    /// The length of the value as it was given.
    var size: Int
  }

  /// The entries from a place in the index on; `next` is where to go on, `nil` after the last.
  ///
  /// The name of the type stands in the record only, and is read from there.
  func list(from place: Int) async throws -> (entries: [Listed], next: Int?) {
    let (found, segments, next) = try state.withLock { state in
      guard !state.isClosed else { throw CacheError(.closed, "the store in \(directory.path) is closed") }
      let (entries, next) = state.index.entries(from: place, count: 256)
      return (
        entries.map {
          Listed(key: $0.key, entry: $0.entry, tags: state.index.tags(of: $0.key), type: [], size: $0.entry.size)
        },
        state.segments, next
      )
    }
    guard !found.isEmpty else { return ([], next) }
    return (try await blocking { try found.compactMap { try self.completed($0, segments) } }, next)
  }

  /// With the type's name; `nil` if the entry has gone meanwhile.
  private func completed(_ listed: Listed, _ segments: [Segment]) throws -> Listed? {
    if let sealing { return try opened(listed, sealing) }
    guard listed.entry.typeLength > 0 else { return listed }
    var listed = listed
    var segments = segments
    for _ in 0..<4 {
      let range = listed.entry.typeRange
      if let segment = segments.segment(listed.entry.segment) {
        let prefix = try opening {
          try segment.read(range.upperBound - RecordHeader.size, at: listed.entry.offset + RecordHeader.size)
        }
        closeSurplusFiles()
        if prefix.count == range.upperBound - RecordHeader.size, prefix.starts(with: listed.key.bytes) {
          listed.type = Array(prefix.dropFirst(listed.key.bytes.count))
          return listed
        }
      }
      // It was replaced, moved, or lost on the way.
      let now = state.withLock { ($0.index.find(listed.key), $0.index.tags(of: listed.key), $0.segments) }
      guard let entry = now.0, entry != listed.entry else { return nil }
      (listed.entry, listed.tags, segments) = (entry, now.1, now.2)
    }
    return nil
  }
}

extension SegmentedStore {
  /// As it was before it was sealed; `nil` if the entry has gone meanwhile, or is not what was sealed.
  private func opened(_ listed: Listed, _ sealing: StoreSealing) throws -> Listed? {
    var entry = listed.entry
    for _ in 0..<4 {
      if let sealed = try sealedLabel(of: listed.key, entry), let known = bounded(entry, sealed.binding),
        let label = sealing.openLabel(sealed.label, for: sealed.binding)
      {
        return Listed(key: label.key, entry: known, tags: label.tags, type: label.type, size: Int(clamping: known.cost))
      }
      guard let now = state.withLock({ $0.index.find(listed.key) }), now != entry else { return nil }
      entry = now
    }
    return nil
  }
}

extension [Segment] {
  /// The segment with a number; they stand in the order of their numbers.
  func segment(_ number: UInt64) -> Segment? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].number == number ? self[low] : nil
  }
}
