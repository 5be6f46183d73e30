import Foundation

/// Foundation's cache, with keys that are objects already.
final class FoundationCache<Key: Hashable & Sendable>: Sendable {
  final class StoredKey: NSObject, Sendable {
    private let key: Key

    init(_ key: Key) { self.key = key }

    override var hash: Int { key.hashValue }
    override func isEqual(_ other: Any?) -> Bool { (other as? StoredKey)?.key == key }
  }

  final class StoredValue: Sendable {
    let value: Int

    init(_ value: Int) { self.value = value }
  }

  nonisolated(unsafe) private let cache = NSCache<StoredKey, StoredValue>()  // guards itself with a lock

  init(capacity: Int) { cache.countLimit = capacity }

  func get(_ key: StoredKey) -> Int? { cache.object(forKey: key)?.value }
  func set(_ value: Int, forKey key: StoredKey) { cache.setObject(StoredValue(value), forKey: key) }
}
