public import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DiskCacheLevel {
  /// How much is stored, and the limits.
  ///
  /// If another process owns the files, it is asked, and the caller waits: for some microseconds, or until the owner has been
  /// silent for as long as permitted. In that case the last answer is returned. A level that only looks measures all files
  /// instead.
  public var usage: LevelUsage { store?.usage ?? elsewhere?.usage ?? LevelUsage(count: 0, cost: 0) }

  /// How much was written since the directory was opened, by users and to make room.
  ///
  /// If another process owns the files, it is asked, as for ``usage``.
  public var traffic: StoreTraffic { store?.traffic ?? elsewhere?.traffic ?? StoreTraffic() }

  /// Which process serves the entries of a directory that several processes share; `nil` for a level that does not share its own.
  public var owner: StoreOwner? { (elsewhere as? CommonStore)?.owner }

  /// Reads every entry and reports those that are not as they were written.
  ///
  /// Everything is read on a thread of the store, one entry at a time, while others read and write. Entries whose bytes
  /// were changed by somebody else are found now rather than when they are next read.
  ///
  /// - Parameter repairing: Whether damaged entries and files of the store that nothing points to are removed. Files with
  ///   other names are reported and never touched.
  /// - Returns: What was found.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskReadFailed``, ``CacheError/Code/closed`` or, if repairing,
  ///   ``CacheError/Code/diskWriteFailed`` and ``CacheError/Code/readOnly``; `CancellationError` if the task is cancelled.
  /// - Complexity: O(n), and every byte is read.
  public func verify(repairing: Bool = false) async throws -> StoreReport {
    try checkOpen()
    return try await named {
      if let store { return try await store.verify(repairing: repairing) }
      return try await elsewhere?.verify(repairing: repairing) ?? StoreReport()
    }
  }

  /// Every entry held, in no particular order.
  ///
  /// Values are not read. In an encrypted store the keys are, once after it was opened.
  ///
  /// - Returns: One summary for each entry whose key is one of this level's.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/closed`` or ``CacheError/Code/diskReadFailed``.
  public func contents() async throws -> [EntrySummary<Key>] {
    try checkOpen()
    guard let store else { return try await named { try await contentsElsewhere() } }
    return try await named { try await store.entriesByKey() }.compactMap { key, entry in
      guard let key = try? keyCoding.decode(Data(key.bytes)) else { return nil }
      return EntrySummary(
        key: key, cost: Int(clamping: entry.cost), created: CacheInstant(nanoseconds: entry.created),
        deadline: entry.deadlineInstant)
    }
  }

  private func contentsElsewhere() async throws -> [EntrySummary<Key>] {
    var all: [EntrySummary<Key>] = []
    for try await entry in entries() {
      all.append(
        EntrySummary(key: entry.key, cost: entry.cost, created: entry.created, deadline: entry.deadline))
    }
    return all
  }

  /// Returns whether there is an entry that has not expired, without reading it.
  ///
  /// This does not count as a use. Whether the entry is damaged is not known until it is read. If another process owns the
  /// files, it is asked, and the caller waits for some microseconds; if the owner is silent, the answer is `false`.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: Whether there is one.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/closed``, or the coding's error.
  /// - Complexity: O(1) on average.
  public func contains(_ key: Key) throws -> Bool {
    try created(key) != nil
  }

  /// Returns when an entry was stored, without reading it.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The moment; `nil` if there is no entry that has not expired.
  /// - Throws: As ``contains(_:)``.
  /// - Complexity: O(1) on average.
  public func created(_ key: Key) throws -> CacheInstant? {
    let key = try storeKey(key)
    do { return try (store?.created(key) ?? elsewhere?.created(key)).map(CacheInstant.init(nanoseconds:)) } catch {
      throw named(error)
    }
  }

  /// Every entry with what is known about it, page by page.
  ///
  /// Unlike ``contents()`` this holds a page at a time, however many entries there are. Values are not read.
  ///
  /// - Returns: A sequence of the entries whose keys are this level's, in no particular order.
  public func entries() -> DiskEntries<Key> {
    let page: DiskEntries<Key>.Page =
      if let store { DiskEntries<Key>.pages(of: store) } else {
        { [elsewhere] in try await elsewhere?.list(from: $0, of: $1) ?? ([], nil, 0) }
      }
    return DiskEntries(
      page: { [self] place, owner in
        try checkOpen()
        return try await page(place, owner)
      }, level: name
    ) { [keyCoding] in try? keyCoding.decode(Data($0)) }
  }
}
