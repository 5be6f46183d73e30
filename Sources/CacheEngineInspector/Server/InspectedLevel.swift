import CacheEngine
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A level, or the whole cache, whose keys are text and whose values are bytes.
struct InspectedLevel: Sendable {
  let get: @Sendable (String) async throws -> Lookup<Data>
  let look: @Sendable (String) async throws -> Entry<Data>?
  let store: @Sendable (Data, String, StoreTerms) async throws -> Void
  let remove: @Sendable (String) async throws -> Void
  let clear: @Sendable () async throws -> Void
  let warn: @Sendable () async -> Void
  /// `nil` key for all entries; gives how many there were.
  let expire: (@Sendable (String?) async throws -> Int)?
  let usage: (@Sendable () -> LevelUsage)?
  let entries: (@Sendable () async throws -> [ServerLine.Entry])?

  /// Takes a level apart into closures that know its types.
  ///
  /// `level`: What calls go through.
  /// `storage`: What holds the entries, past everything that stands around it.
  /// `keys`: Where a key is looked for that cannot be made from text; `nil` for the storage.
  init<Level: CacheLevel>(_ level: Level, storage: (any CacheLevel)? = nil, keys: (any CacheLevel)? = nil) {
    let held = (storage as? any StorageLevel).map { HeldEntries($0) }
    let finder = (keys as? any StorageLevel).map { HeldEntries($0) } ?? held
    @Sendable func key(_ text: String) async throws -> Level.Key {
      if let key = TextForms.key(text, as: Level.Key.self) { return key }
      if let key = try await finder?.key(text) as? Level.Key { return key }
      throw CacheError(
        .valueNotInCache, "keys of this cache, \(Level.Key.self), cannot be made from text, and no entry has this one")
    }
    get = { text in
      switch try await level.lookup(try await key(text)) {
      case .hit(let found):
        var entry = Entry(
          TextForms.bytes(found.value), deadline: found.deadline, cost: found.cost, level: found.level,
          created: found.created)
        entry.isStale = found.isStale
        return .hit(entry)
      case .miss(let reason): return .miss(reason)
      }
    }
    look = { try await held?.look($0) }
    store = { bytes, text, terms in
      let value = try TextForms.value(bytes, as: Level.Value.self)
      try await level.store(value, forKey: try await key(text), terms: terms)
    }
    remove = { try await level.remove(try await key($0)) }
    clear = { try await level.clear() }
    warn = { await level.onMemoryWarning() }
    expire = held?.expire
    usage = held?.usage
    entries = held?.entries
  }
}

/// The entries of a level, with keys as text.
private struct HeldEntries: Sendable {
  let key: @Sendable (String) async throws -> (any Hashable & Sendable)?
  let look: @Sendable (String) async throws -> Entry<Data>?
  let expire: @Sendable (String?) async throws -> Int
  let usage: @Sendable () -> LevelUsage
  let entries: @Sendable () async throws -> [ServerLine.Entry]

  init<Level: StorageLevel>(_ level: Level) {
    @Sendable func find(_ text: String) async throws -> Level.Key? {
      if let key = TextForms.key(text, as: Level.Key.self) { return key }
      return try await level.contents().first { TextForms.text($0.key) == text }?.key
    }
    key = { try await find($0) }
    look = { text in
      guard let key = try await find(text) else { return nil }
      // Of all reads this one is counted by nobody.
      guard let entry = try await level.lookupIncludingExpired(key).entry, !entry.isStale else { return nil }
      return entry.with(TextForms.bytes(entry.value))
    }
    expire = { text in
      let keys = try await level.contents().map(\.key).filter { text == nil || TextForms.text($0) == text }
      for key in keys { try await level.expire(key) }
      return keys.count
    }
    usage = { level.usage }
    entries = {
      try await level.contents().map { entry in
        ServerLine.Entry(
          key: WireEvent.cut(TextForms.text(entry.key)), cost: entry.cost, created: entry.created.nanoseconds,
          deadline: entry.deadline?.nanoseconds)
      }
    }
  }
}
