#if Explorer
package import CacheEngine
package import CacheEngineHTTP
import ExplorerCommands
package import ExplorerConfiguration
import ExplorerState

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension StoredVariants: ShownValue {
  package static var coding: ByteCoding<StoredVariants> { .storedVariants }

  package static func shown(_ level: some CacheLevel<String, StoredVariants>) -> BasicCache<String, Data> {
    level.transformValues(ResponsesAsText()).normalize()
  }

  package static func shown(
    _ storage: any StorageLevel<String, StoredVariants>
  ) -> any StorageLevel<String, Data> { ResponseStorage(base: storage) }

  package static func build(
    _ specification: LevelSpecification, in builder: inout CacheBuilder<StoredVariants>
  ) throws -> BasicCache<String, StoredVariants> {
    preconditionFailure("\(specification.word) is refused before a cache of responses is built")
  }

  package static func operate(
    _ operation: OperatorSpecification, on level: BasicCache<String, StoredVariants>, as name: String,
    in builder: CacheBuilder<StoredVariants>
  ) -> BasicCache<String, StoredVariants> {
    preconditionFailure("\(operation.word) is refused before a cache of responses is built")
  }
}

/// Responses as a person reads them; only the server makes them.
private struct ResponsesAsText: TwoWayTransformer {
  func transform(_ responses: StoredVariants) async throws -> Data { responses.readable }

  func inverseTransform(_ text: Data) async throws -> StoredVariants { throw Self.refusal }

  static let refusal = CommandFailure(message: "only the server makes responses; ask for the address at the proxy")
}

/// The responses that a level holds, as text.
private struct ResponseStorage: StorageLevel, PagedStorage {
  let base: any StorageLevel<String, StoredVariants>

  var name: String { base.name }
  var usage: LevelUsage { base.usage }

  func get(_ key: String) async throws -> Data? { try await base.get(key)?.readable }

  func lookup(_ key: String) async throws -> Lookup<Data> { Self.readable(try await base.lookup(key)) }

  func lookupIncludingExpired(_ key: String) async throws -> Lookup<Data> {
    Self.readable(try await base.lookupIncludingExpired(key))
  }

  func set(_ value: Data, forKey key: String) async throws { throw ResponsesAsText.refusal }
  func remove(_ key: String) async throws { try await base.remove(key) }
  func clear() async throws { try await base.clear() }
  func contents() async throws -> [EntrySummary<String>] { try await base.contents() }
  func expire(_ key: String) async throws { try await base.expire(key) }
  func removeExpired() async throws -> Int { try await base.removeExpired() }

  func forEachEntry(_ body: (EntrySummary<String>) -> Bool) async throws {
    if let paged = base as? any PagedStorage { return try await paged.forEachEntry(body) }
    for entry in try await base.contents() where !body(entry) { return }
  }

  private static func readable(_ lookup: Lookup<StoredVariants>) -> Lookup<Data> {
    switch lookup {
    case .miss(let reason): .miss(reason)
    case .hit(let entry): .hit(entry.with(entry.value.readable))
    }
  }
}

/// The levels behind a proxy: what clients make it read is told, and what it reads before it writes is not.
package struct ServedStore: CacheLevel {
  let told: BasicCache<String, StoredVariants>
  let untold: BasicCache<String, StoredVariants>

  package var name: String { told.name }
  package func get(_ key: String) async throws -> StoredVariants? { try await told.get(key) }
  package func lookup(_ key: String) async throws -> Lookup<StoredVariants> { try await told.lookup(key) }
  package func peek(_ key: String) -> StoredVariants? { told.peek(key) }

  package func lookupIncludingExpired(_ key: String) async throws -> Lookup<StoredVariants> {
    try await untold.lookupIncludingExpired(key)
  }

  package func set(_ value: StoredVariants, forKey key: String) async throws {
    try await told.set(value, forKey: key)
  }

  package func store(_ value: StoredVariants, forKey key: String, terms: StoreTerms) async throws {
    try await told.store(value, forKey: key, terms: terms)
  }

  package func remove(_ key: String) async throws { try await told.remove(key) }
  package func clear() async throws { try await told.clear() }
  package func onMemoryWarning() async { await told.onMemoryWarning() }
}
#endif
