import CacheEngine

/// What happened when callers crowded round a pool, left at random and were answered at random, with sets in between.
///
/// ``problems`` says what of it should not have happened.
struct PoolRound: Sendable {
  enum Answer: Hashable, Sendable {
    /// The number of the load that it is from.
    case value(Int), error(Int)
    case miss
    case cancelled
    /// A set succeeded.
    case stored
  }

  /// One load of the level under the pool.
  struct Load: Sendable {
    let key: Int
    let began: Int
    var cancelled: Int?
    var ended: Int?
    var answer: Answer?
  }

  /// One caller of the pool, who reads or sets.
  struct Caller: Sendable {
    let key: Int
    let isSet: Bool
    var began: Int?
    var cancelled: Int?
    var ended: Int?
    var answer: Answer?
  }

  var callers: [Caller] = []
  var loads: [Load] = []
  var isIdle = true

  /// Whether a set of a key ended after one time and before another.
  private func isSet(_ key: Int, from start: Int, until end: Int) -> Bool {
    callers.contains { caller in
      guard caller.isSet, caller.key == key, let ended = caller.ended else { return false }
      return start < ended && ended < end
    }
  }

  private func isAnswered(_ caller: Caller, by load: Load) -> Bool {
    guard let began = caller.began, let ended = caller.ended, let loaded = load.ended, let answer = caller.answer else {
      return false
    }
    return answer == load.answer && caller.key == load.key && began < loaded && loaded < ended
      && !isSet(load.key, from: load.began, until: began)
  }

  /// Where they do not, a load may begin long after its callers came, and nobody can tell from its time what it is for.
  static var loadsBeginAtOnce: Bool {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
  }

  /// What went wrong; empty for a pool that does as it should.
  var problems: [String] {
    var problems: [String] = []
    for (number, caller) in callers.enumerated() {
      switch caller.answer {
      case nil: problems.append("caller \(number) waits for ever")
      case .stored: continue
      case .cancelled:
        if caller.cancelled == nil { problems.append("caller \(number) got a cancellation that nobody asked for") }
      case .some(let answer):
        if !loads.contains(where: { isAnswered(caller, by: $0) }) {
          problems.append("caller \(number) got \(answer), which no load of its time and key gave")
        }
      }
    }
    for (number, load) in loads.enumerated() {
      if load.cancelled == nil, !callers.contains(where: { isAnswered($0, by: load) }) {
        problems.append("load \(number) went on for nobody")
      }
      // A set is a good reason for another load, and so is that nobody waits for this one.
      for (other, later) in loads.enumerated() where later.key == load.key && Self.loadsBeginAtOnce {
        guard load.began < later.began, later.began < load.ended ?? .max, load.cancelled ?? .max > later.began,
          !isSet(load.key, from: load.began, until: later.began)
        else { continue }
        problems.append("load \(other) began while load \(number) would have done")
      }
    }
    if !isIdle { problems.append("the table is not empty") }
    return problems
  }
}
