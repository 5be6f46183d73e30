/// Which keys are being read again, and which were in vain a moment ago.
struct Refreshes<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Beyond so many keys that pause, all of them may be read again at once.
  static var room: Int { 10_000 }

  private(set) var underWay: [Key: Task<Lookup<Value>?, any Error>] = [:]
  private var pauses: [Key: CacheInstant] = [:]

  /// The task that reads a key again; one that begins now unless there is one, or unless the key pauses.
  ///
  /// A key that does not equal itself has none, since that would never be found again, nor what it brings be copied upwards.
  mutating func task(
    of key: Key, at now: CacheInstant, heedsPause: Bool, begin: () -> Task<Lookup<Value>?, any Error>
  ) -> Task<Lookup<Value>?, any Error>? {
    guard key == key else { return nil }
    if let task = underWay[key] { return task }
    if heedsPause, let end = pauses[key], end > now { return nil }
    pauses[key] = nil
    let task = begin()
    underWay[key] = task
    return task
  }

  mutating func end(_ key: Key, pausingUntil end: CacheInstant?, at now: CacheInstant) {
    underWay[key] = nil
    guard let end else { return }
    if pauses.count >= Self.room { pauses = pauses.filter { $0.value > now } }
    if pauses.count >= Self.room { pauses = [:] }
    pauses[key] = end
  }
}
