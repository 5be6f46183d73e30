public import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DiskCacheLevel {
  /// How much is held, and how much may be.
  public var usage: LevelUsage { store.usage }

  /// What was written since the directory was opened, by users and to make room.
  public var traffic: StoreTraffic { store.traffic }

  /// Reads every entry and says which are not as they were written.
  ///
  /// Everything is read on a thread of the store, one entry at a time, while others read and write. Entries whose bytes
  /// were changed by somebody else are found now and not when they are asked for.
  ///
  /// - Parameter repairing: Whether damaged entries and files of the store that nothing points to are removed. Files with
  ///   other names are reported and never touched.
  /// - Returns: What was found.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskReadFailed``, ``CacheError/Code/closed`` or, if repairing,
  ///   ``CacheError/Code/diskWriteFailed`` and ``CacheError/Code/readOnly``; `CancellationError` if the task is cancelled.
  /// - Complexity: O(n), and every byte is read.
  public func verify(repairing: Bool = false) async throws -> StoreReport {
    try checkOpen()
    return try await named { try await store.verify(repairing: repairing) }
  }

  /// Every entry held, in no particular order.
  ///
  /// Values are not read. In an encrypted store the keys are, once after it was opened.
  ///
  /// - Returns: One summary for each entry whose key is one of this level's.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/closed`` or ``CacheError/Code/diskReadFailed``.
  public func contents() async throws -> [EntrySummary<Key>] {
    try checkOpen()
    return try await named { try await store.entriesByKey() }.compactMap { key, entry in
      guard let key = try? keyCoding.decode(Data(key.bytes)) else { return nil }
      return EntrySummary(
        key: key, cost: Int(entry.header.cost), created: CacheInstant(nanoseconds: entry.created),
        deadline: entry.deadlineInstant)
    }
  }

  /// Whether there is an entry that has not expired, at once and without reading it.
  ///
  /// It does not count as a use. Whether the entry is damaged is not known before it is read.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: Whether there is one.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/closed``, or the coding's error.
  /// - Complexity: O(1) on average.
  public func contains(_ key: Key) throws -> Bool {
    store.holds(try storeKey(key))
  }

  /// When an entry was stored, at once and without reading it.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The moment; `nil` if there is no entry that has not expired.
  /// - Throws: As ``contains(_:)``.
  /// - Complexity: O(1) on average.
  public func created(_ key: Key) throws -> CacheInstant? {
    try checkOpen()
    return store.created(try storeKey(key)).map(CacheInstant.init(nanoseconds:))
  }

  /// Every entry with what is known of it, page by page.
  ///
  /// Unlike ``contents()`` this holds a page at a time, however many entries there are. Values are not read.
  ///
  /// - Returns: A sequence of the entries whose keys are this level's, in no particular order.
  public func entries() -> DiskEntries<Key> {
    DiskEntries(store: store, level: name) { [keyCoding] in try? keyCoding.decode(Data($0)) }
  }
}
