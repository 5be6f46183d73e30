public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An entry of a disk level as it is listed, without its value.
public struct DiskEntry<Key: Sendable>: Sendable {
  /// The key.
  public var key: Key
  /// How many bytes the value has.
  public var size: Int
  /// What the entry costs; disk levels say its length.
  public var cost: Int
  /// When it was stored.
  public var created: CacheInstant
  /// When its lifetime ends; `nil` for never.
  public var deadline: CacheInstant?
  /// What it can be removed by.
  public var tags: Set<String>
  /// The name of the coding that made its bytes.
  public var type: String
}

extension DiskEntry where Key == Data {
  /// The key as text; `nil` if it is not UTF-8.
  public var text: String? { String(validating: key, as: UTF8.self) }
}

extension DiskEntry: Equatable where Key: Equatable {}

/// The entries of a disk level, read page by page while others read and write.
///
/// Only one page at a time is copied, and the store is locked no longer than it takes to find it. An entry that is there
/// from beginning to end is met once, even if it is overwritten in the meantime; one that comes or goes may be met. The
/// sequence ends with an error if the owner of a shared directory changes or if, in a level that is opened for reading, the
/// directory has to be read from the beginning. Start it again then.
///
/// ```swift
/// for try await entry in disk.entries() where entry.size > 1 << 20 { print(entry.key, entry.size) }
/// ```
public struct DiskEntries<Key: Sendable>: AsyncSequence, Sendable {
  /// The type of the entries.
  public typealias Element = DiskEntry<Key>

  /// Gives the entries from a place on that an owner named: with the next place and the owner.
  typealias Page = @Sendable (Int, UInt64) async throws -> (entries: [ListedEntry], next: Int?, owner: UInt64)

  let page: Page
  let level: String
  let decode: @Sendable ([UInt8]) -> Key?

  static func pages(of store: SegmentedStore) -> Page {
    { place, _ in
      let (listed, next) = try await store.list(from: place)
      return (listed.map(ListedEntry.init), next, 0)
    }
  }

  /// Starts over.
  ///
  /// - Returns: What gives one entry after the other.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(entries: self) }

  /// Gives the entries of a disk level, in no particular order.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let entries: DiskEntries
    private var page: ArraySlice<DiskEntry<Key>> = []
    private var place: Int? = 0
    private var owner: UInt64 = 0

    init(entries: DiskEntries) { self.entries = entries }

    /// Gives the next entry whose key can be decoded.
    ///
    /// - Returns: The entry, or `nil` after the last one.
    /// - Throws: ``CacheError`` with code ``CacheError/Code/closed`` or ``CacheError/Code/diskReadFailed``;
    ///   `CancellationError` if the task is cancelled.
    public mutating func next() async throws -> DiskEntry<Key>? {
      while page.isEmpty {
        guard let from = place else { return nil }
        try Task.checkCancellation()
        do {
          let (listed, next, owner) = try await entries.page(from, owner)
          page = listed.compactMap(entry)[...]
          (place, self.owner) = (next, owner)
        } catch var error as CacheError {
          error.level = error.level ?? entries.level
          throw error
        }
      }
      return page.popFirst()
    }

    private func entry(_ listed: ListedEntry) -> DiskEntry<Key>? {
      guard let key = entries.decode(listed.key) else { return nil }
      return DiskEntry(
        key: key, size: listed.size, cost: listed.cost, created: CacheInstant(nanoseconds: listed.created),
        deadline: listed.deadline == .max ? nil : CacheInstant(nanoseconds: listed.deadline), tags: listed.tags,
        type: String(decoding: listed.type, as: UTF8.self))
    }
  }
}
