import CacheCore

/// What is to become of one model: prepared by the caller, carried out under the lock.
struct ModelEdit: Sendable {
  enum Outcome: Sendable {
    case store(StoredModel, relations: [ModelKey])
    case remove(ModelChanges.Change.Cause)
  }

  let key: ModelKey
  let outcome: Outcome
  /// The version that the outcome was computed from, 0 for an absent model; `nil` if it holds whatever is there.
  var basis: UInt64?
  /// It was merged with what the archive has, and not only with what the cache has.
  var isWhole = false
}

struct StoredModel: Sendable {
  let value: any Sendable
  var cost = 1
  var deadline: CacheInstant?
  /// The number of the commit that stored it.
  var version: UInt64 = 0

  func isExpired(at now: CacheInstant) -> Bool { deadline.map { $0 <= now } ?? false }

  /// The model as anybody may see it.
  func value(at now: CacheInstant) -> (any Sendable)? { isExpired(at: now) ? nil : value }
}
