package import CacheEngine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A level that can be gone through without a list of all that it holds.
protocol PagedStorage: Sendable {
  /// Gives one entry after the other, until it is told that this is enough.
  ///
  /// - Parameter body: Takes an entry; whether it wants another one.
  /// - Throws: An error if the level cannot be read.
  func forEachEntry(_ body: (EntrySummary<String>) -> Bool) async throws
}

/// A level that can give the beginning of a value without the rest of it.
protocol PartialStorage: Sendable {
  /// The beginning of a value, and how many bytes there are; past counters and observers.
  func beginning(of key: String, atMost count: Int) async throws -> (bytes: Data, of: Int)?
}

extension StorageLevel where Key == String {
  /// The first entries whose keys meet a condition, in no particular order.
  ///
  /// Where the level has pages, no more than one of them and what was found are in memory.
  @concurrent
  package func entries(
    atMost most: Int, where isWanted: @escaping @Sendable (String) -> Bool
  ) async throws -> [EntrySummary<String>] {
    guard let paged = self as? any PagedStorage else {
      return Array(try await contents().lazy.filter { isWanted($0.key) }.prefix(most))
    }
    var found: [EntrySummary<String>] = []
    try await paged.forEachEntry { entry in
      if isWanted(entry.key) { found.append(entry) }
      return found.count < most
    }
    return found
  }
}

extension DiskCacheLevel: PagedStorage where Key == String {
  func forEachEntry(_ body: (EntrySummary<String>) -> Bool) async throws {
    for try await entry in entries() {
      let summary = EntrySummary(key: entry.key, cost: entry.cost, created: entry.created, deadline: entry.deadline)
      guard body(summary) else { return }
    }
  }
}
