#if HTTP
import HTTPTypes
import Synchronization

/// What was read in the fields of a response, so that a hit need not read them again.
///
/// It follows from the response, which begins a new one when it changes. So any two are equal: they tell nothing else.
struct ResponseReading: Sendable, Hashable {
  /// What the fields say of time.
  struct Times: Sendable {
    let date: HTTPDate
    /// How old the response was when it was received: RFC 9111, section 4.2.3.
    let ageReceived: Duration
  }

  /// What a policy makes of the fields.
  struct Terms: Sendable {
    let policy: HTTPCachePolicy
    let terms: ResponseTerms
    let lifetime: Duration
  }

  private final class Memory: Sendable {
    let times = Mutex<Times?>(nil)
    let terms = Mutex<Terms?>(nil)
  }

  private let memory = Memory()

  func times(_ read: () -> Times) -> Times {
    if let known = memory.times.withLock({ $0 }) { return known }
    let times = read()
    memory.times.withLock { $0 = times }
    return times
  }

  func terms(for policy: HTTPCachePolicy, _ read: () -> Terms) -> Terms {
    if let known = memory.terms.withLock({ $0 }), known.policy.readsAlike(policy) { return known }
    let terms = read()
    memory.terms.withLock { $0 = terms }
    return terms
  }

  /// Whether another one is of the same response, or of a copy of it.
  func isOfSame(as other: Self) -> Bool { memory === other.memory }

  static func == (left: Self, right: Self) -> Bool { true }

  func hash(into hasher: inout Hasher) {}
}

extension HTTPCachePolicy {
  /// Whether another one makes the same of the fields of a response.
  fileprivate func readsAlike(_ other: HTTPCachePolicy) -> Bool {
    kind == other.kind && heuristicLimit == other.heuristicLimit && targetedFields == other.targetedFields
  }
}
#endif
