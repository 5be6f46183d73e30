import CacheEngine
import ExplorerCommands
import ExplorerState

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a command did to one key, level by level, as far as it can be taken back exactly.
///
/// Exactly: every level has the value, the deadline, the age and the tags of before, and only if nobody has touched the key since.
/// What cannot come back is how recently the level thinks the entry was used.
struct UndoRecord: Sendable {
  /// Larger values are not kept for a second thought.
  static let mostBytes = 4 << 20

  private struct Copy: Sendable, Equatable {
    var value: Data
    var deadline: CacheInstant?
    var created: CacheInstant?
    var tags: Set<String>
  }

  private struct Place: Sendable {
    /// The level's name.
    var name: String
    var level: BasicCache<String, Data>
    var storage: any StorageLevel<String, Data>
    var storedKey: String
    var before: Copy?
    var after: Copy?
  }

  let key: String
  /// What is taken back, as in `set user:1`.
  let title: String
  private var places: [Place]

  /// Notes what the levels hold before a command; `nil` if they hold too much, or cannot be read.
  init?(before verb: any Verb, in live: LiveCache) async {
    guard verb.canBeUndone, let key = verb.key else { return nil }
    // What other processes see cannot be taken back, nor what only a server makes.
    guard !live.levels.contains(where: { $0.shared != nil }), live.purge == nil else { return nil }
    self.key = key
    title = "\(verb.name) \(key)"
    places = []
    for level in live.levels {
      guard let storage = level.storage else { continue }
      let storedKey = level.storedKey(key)
      guard let copy = try? await Self.copy(of: storedKey, in: storage) else { return nil }
      places.append(
        Place(
          name: level.name, level: level.level, storage: storage, storedKey: storedKey, before: copy.content))
    }
    guard places.reduce(0, { $0 + ($1.before?.value.count ?? 0) }) <= Self.mostBytes else { return nil }
  }

  /// Notes what the levels hold after it; `nil` if nothing has changed, or more than can be told.
  func completed() async -> UndoRecord? {
    var record = self
    for index in places.indices {
      let place = places[index]
      guard let copy = try? await Self.copy(of: place.storedKey, in: place.storage) else { return nil }
      record.places[index].after = copy.content
    }
    return record.places.contains { $0.before != $0.after } ? record : nil
  }

  /// Puts back what was there.
  ///
  /// - Returns: The levels in which something was put back.
  /// - Throws: ``CommandFailure`` if the key has changed since; nothing is touched then.
  func undo() async throws -> [String] {
    for place in places {
      guard try await Self.copy(of: place.storedKey, in: place.storage).content == place.after else {
        throw CommandFailure(message: "the key has changed in \(place.name) since; \(title) stays")
      }
    }
    var names: [String] = []
    for place in places where place.before != place.after {
      if let before = place.before {
        let terms = StoreTerms(
          expiry: before.deadline.map(Expiry.at) ?? .never, tags: before.tags, created: before.created)
        try await place.level.store(before.value, forKey: place.storedKey, terms: terms)
      } else {
        try await place.level.remove(place.storedKey)
      }
      names.append(place.name)
    }
    return names
  }

  private struct Content { var content: Copy? }

  /// Past counters and observers.
  private static func copy(of key: String, in storage: any StorageLevel<String, Data>) async throws -> Content {
    guard let entry = try await storage.lookupIncludingExpired(key).entry else { return Content(content: nil) }
    return Content(
      content: Copy(value: entry.value, deadline: entry.deadline, created: entry.created, tags: entry.tags))
  }
}
