package import CacheEngine

/// A decorator that lists what the level inside holds, unless it implements that itself.
package protocol StorageDecorator: LevelDecorator, StorageLevel where Base: StorageLevel {}

extension StorageDecorator {
  package var usage: LevelUsage { base.usage }
  package func get(_ key: Base.Key) async throws -> Base.Value? { try await base.get(key) }
  package func contents() async throws -> [EntrySummary<Base.Key>] { try await base.contents() }
  package func expire(_ key: Base.Key) async throws { try await base.expire(key) }
  package func removeExpired() async throws -> Int { try await base.removeExpired() }
}
