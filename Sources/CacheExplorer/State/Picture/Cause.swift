package import CacheEngine

/// Why a level had no value for a key: what is said behind `why:`.
package struct Cause: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// Nobody has stored the key there since the program started.
    case neverStored
    /// Nothing is known of the key any more; it may have been there long ago.
    case forgotten
    /// It was there, and nobody told that it left.
    case leftUnseen
    /// It was there until its time was over.
    case expired(deadline: CacheInstant?, lifetime: Duration?)
    /// Another entry needed the room.
    case evicted(by: String?)
    case warning
    case cleared
    case removed
    case damaged
    /// A condition kept the key out; the index of the operator.
    case refused(Int)
    /// The miss was remembered, and nobody was asked; the index of the operator.
    case remembered(Int)
    /// The level let so many entries go without telling their keys, as an encrypted store does; it may have been one of
    /// them.
    case nameless(RemovalCause, count: Int)
    /// The level could not answer.
    case down(String)
    /// A reason of a level's own.
    case other(String)
  }

  package var kind: Kind
  package var time: CacheInstant?
  /// The number of the event that tells it.
  package var event: Int?
  /// The call that did it.
  package var request: RequestID?

  package init(_ kind: Kind, time: CacheInstant? = nil, event: Int? = nil, request: RequestID? = nil) {
    self.kind = kind
    self.time = time
    self.event = event
    self.request = request
  }
}

/// How entries left the levels, as far as that is remembered.
///
/// Two generations, so that the oldest half is forgotten in one step and noting stays cheap.
package struct CauseTable: Sendable {
  private struct Place: Hashable {
    var key: String
    var level: Int
  }

  /// The most departures that are remembered.
  static let capacity = 20_000

  private let capacity: Int
  private var young: [Place: Cause] = [:]
  private var old: [Place: Cause] = [:]
  /// Some departures are no longer remembered.
  private(set) var hasForgotten = false

  struct Nameless: Sendable {
    var cause: RemovalCause
    var count: Int
    var last: CacheInstant
    /// The number of the event that told the last one.
    var event: Int
  }

  /// What left levels without a key, by the index of the level.
  private(set) var nameless: [Int: Nameless] = [:]

  mutating func noteNameless(_ cause: RemovalCause, at time: CacheInstant, event: Int, level: Int) {
    guard cause != .replaced, cause != .cleared else { return }
    nameless[level] = Nameless(cause: cause, count: (nameless[level]?.count ?? 0) + 1, last: time, event: event)
  }

  init(capacity: Int = CauseTable.capacity) { self.capacity = max(2, capacity) }

  var count: Int { young.count + old.count }

  mutating func note(_ cause: Cause, of key: String, level: Int) {
    if young.count >= capacity / 2 {
      if !old.isEmpty { hasForgotten = true }
      old = young
      young = [:]
    }
    young[Place(key: key, level: level)] = cause
  }

  package func cause(of key: String, level: Int) -> Cause? {
    let place = Place(key: key, level: level)
    return young[place] ?? old[place]
  }

  mutating func stored(_ key: String, level: Int) {
    let place = Place(key: key, level: level)
    young[place] = nil
    old[place] = nil
  }
}
