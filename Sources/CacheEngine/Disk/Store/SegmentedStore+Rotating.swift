import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How an encrypted store changes to a new key.
extension SegmentedStore {
  /// Seals with the newest key everything that is not, and returns how many entries that was.
  ///
  /// At every moment each entry is sealed with a key that the file of the secrets names. The older keys leave that file
  /// last of all, when the disk has everything else.
  func rotate(durability: Durability) async throws -> Int {
    guard let sealing else {
      throw CacheError(.notEncrypted, "the store in \(directory.path) is not encrypted, and has no key to change")
    }
    var count = 0
    var old: [(key: StoreKey, entry: StoreIndex.Entry)]
    repeat {
      old = try await entriesWithOlderKeys(sealing)
      for (key, entry) in old {
        try Task.checkCancellation()
        if try await reseal(key, entry, durability) { count += 1 }
      }
      // Entries that were moved meanwhile come with the next round.
    } while !old.isEmpty
    // What was replaced and evicted still stands in the log.
    guard let last = state.withLock({ $0.segments.last?.number }) else { return count }
    while try await perform(.reclaim(through: last), durability) > 0 { try Task.checkCancellation() }
    _ = try await perform(.forgetOlderKeys, .synced)
    return count
  }

  /// From the least to the most recently used, so that resealing them one after the other keeps their order.
  private func entriesWithOlderKeys(
    _ sealing: StoreSealing
  ) async throws -> [(key: StoreKey, entry: StoreIndex.Entry)] {
    let all = try state.withLock { state in
      guard !state.isClosed else { throw CacheError(.closed, "the store in \(directory.path) is closed") }
      return state.index.inOrderOfUse
    }
    return try await blocking { [self] in
      try all.compactMap { key, entry in
        if let sealed = try sealedLabel(of: key, entry), sealing.isCurrent(sealed.label) { return nil }
        // Gone, moved, or to be sealed again.
        guard let now = state.withLock({ $0.index.find(key) }) else { return nil }
        return (key, now)
      }
    }
  }

  private func reseal(
    _ key: StoreKey, _ entry: StoreIndex.Entry, _ durability: Durability
  ) async throws -> Bool {
    let segment = state.withLock { state in state.segments.first { $0.number == entry.segment } }
    var found: Found?
    if let segment { found = try await readRecord(of: entry, key: key, in: segment) }
    guard let found, found.isAuthentic, let realKey = found.realKey, let times = found.times else {
      if state.withLock({ $0.index.find(key) }) == entry, try await drop(key, entry) {
        state.withLock { $0.damaged += 1 }
      }
      return false
    }
    let content = try content(
      realKey, type: found.type, value: found.value, tags: found.tags, times: times,
      cost: Int(clamping: found.entry.cost))
    let (record, own) = content.prepared(limits, salt: salt)
    return try await perform(.reseal(record, value: own, entry), durability) > 0
  }
}

extension WriteBatch {
  /// Puts a record in the place of another one of the same entry.
  mutating func reseal(_ record: PreparedRecord, _ value: Data?, _ entry: StoreIndex.Entry) throws -> Bool {
    let isThere = store.state.withLock { state in
      guard state.index.find(record.key) == entry else { return false }
      // Room is made at the cost of others.
      _ = state.index.use(record.key)
      return true
    }
    guard isThere else { return false }
    // One that was ended by hand would come back to life, as its record does not say so.
    guard entry.deadline > store.clock.now.nanoseconds else {
      try remove(record.key, cause: .expired)
      return false
    }
    let before = losses.count
    guard try put(record, value, if: nil) else { return false }
    // No entry left the cache.
    if losses.count > before, losses.last?.cause == .replaced { losses.removeLast() }
    if entry.deadline != .max { store.state.withLock { $0.index.setDeadline(entry.deadline, of: record.key) } }
    return true
  }

  /// Reclaims the oldest segment, if its number is not above another.
  mutating func reclaim(through number: UInt64) throws -> Bool {
    store.awaitRemoval()
    guard let oldest = store.state.withLock({ $0.segments.first?.number }), oldest <= number else { return false }
    return try reclaimOldest()
  }

  /// Writes the file of the secrets again, when the disk has everything that the newest key sealed.
  mutating func forgetOlderKeys() throws {
    if isTracking { try commit() }
    store.awaitRemoval()
    for segment in store.state.withLock({ $0.segments }) { try store.opening { try segment.file() }.sync() }
    try store.directory.sync()
    try store.sealing?.forgetOlderKeys(in: store.directory)
  }
}
