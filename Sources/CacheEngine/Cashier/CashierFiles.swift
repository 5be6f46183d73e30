import CacheDisk
import CacheCore

/// The lower level of a ``Cashier``: its files, of which those are kept out that stay in memory.
struct CashierFiles: CacheLevel {
  let disk: DiskCacheLevel<String, CashierItem>

  var name: String { disk.name }

  func get(_ key: String) async throws -> CashierItem? { try await disk.get(key) }

  func lookup(_ key: String) async throws -> Lookup<CashierItem> { try await disk.lookup(key) }

  func set(_ value: CashierItem, forKey key: String) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  func store(_ value: CashierItem, forKey key: String, terms: StoreTerms) async throws {
    // An older value in a file would come back when memory is dropped.
    guard value.isPersistent else { return try await disk.remove(key) }
    try await disk.store(value, forKey: key, terms: terms)
  }

  func remove(_ key: String) async throws { try await disk.remove(key) }

  func clear() async throws { try await disk.clear() }
}
