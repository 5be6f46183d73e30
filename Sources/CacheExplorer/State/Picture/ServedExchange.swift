import CacheEngine
import ExplorerText

/// A request of a client that the proxy answered.
package struct ServedExchange: Equatable, Sendable, Codable {
  /// How the cache dealt with it.
  package enum Outcome: String, Sendable, Codable, CaseIterable {
    /// Answered from the cache without asking.
    case hit
    /// The same, after the end of its freshness.
    case stale
    /// The server said that what is stored is still right.
    case validated
    /// It took part in the request of another client.
    case collapsed
    /// The server was asked for a new answer.
    case forwarded
    /// Neither cache nor server answered it: it was refused, the server failed or was not to be asked, or the client left.
    case refused
  }

  /// From 1.
  package var number: Int
  /// The time of day when its answer had gone out.
  package var time: Duration
  package var method: String
  /// Path and query as the client sent them.
  package var path: String
  /// The address that the levels know it by; `nil` if it has none.
  package var key: String?
  package var status: Int
  package var outcome: Outcome
  /// Why it was forwarded, as `Cache-Status` has it.
  package var reason: String?
  /// What else `Cache-Status` says; why an answer is not stored.
  package var detail: String?
  /// Why the proxy refused it, in words.
  package var refusal: String?
  package var isStored = false
  /// The member of the field `Cache-Status`.
  package var cacheStatus: String?
  /// In seconds.
  package var age: Int?
  /// Seconds of freshness that are left; negative if it is stale.
  package var left: Int?
  package var bytes: Int
  package var duration: Duration
  /// The answer went out whole.
  package var isWhole: Bool

  package init(
    number: Int, time: Duration, method: String, path: String, key: String?, status: Int, outcome: Outcome, bytes: Int,
    duration: Duration, isWhole: Bool = true
  ) {
    self.number = number
    self.time = time
    self.method = method
    self.path = path
    self.key = key
    self.status = status
    self.outcome = outcome
    self.bytes = bytes
    self.duration = duration
    self.isWhole = isWhole
  }
}

/// What a proxy has done so far.
package struct ServedCounts: Equatable, Sendable, Codable, Countable {
  package var requests = 0
  /// Answered from the cache without asking, stale answers among them.
  package var hits = 0
  package var stale = 0
  package var validated = 0
  package var collapsed = 0
  package var forwarded = 0
  package var refused = 0
  /// Those whose answer did not go out whole, or at all.
  package var broken = 0
  /// Bytes of content sent to clients.
  package var bytes = 0
  /// Those of them that the server did not have to send.
  package var savedBytes = 0

  package init() {}

  /// Requests that cache or server answered.
  package var answered: Int { requests - refused }

  /// Counts an answer with so many bytes of content.
  package mutating func count(_ outcome: ServedExchange.Outcome, bytes sent: Int, isWhole: Bool) {
    requests += 1
    bytes += sent
    if !isWhole { broken += 1 }
    switch outcome {
    case .hit: hits += 1
    case .stale:
      hits += 1
      stale += 1
    case .validated: validated += 1
    case .collapsed: collapsed += 1
    case .forwarded: return forwarded += 1
    case .refused: return refused += 1
    }
    savedBytes += sent
  }

  /// Everything in one sentence.
  package var sentence: String {
    let stale = stale > 0 ? " (\(Format.count(stale)) stale)" : ""
    let parts =
      ["\(Format.counted(hits, "hit"))\(stale)", "\(Format.count(validated)) validated"]
      + (collapsed > 0 ? ["\(Format.count(collapsed)) collapsed"] : []) + ["\(Format.count(forwarded)) forwarded"]
      + (refused > 0 ? ["\(Format.count(refused)) refused"] : [])
    let broken = broken > 0 ? "; \(Format.count(broken)) not sent whole" : ""
    return "\(Format.counted(requests, "request")): \(parts.joined(separator: ", "))\(broken); "
      + "\(Format.bytes(bytes)) sent, \(Format.bytes(savedBytes)) of them without the server"
  }

  package static func += (left: inout ServedCounts, right: ServedCounts) {
    left.requests += right.requests
    left.hits += right.hits
    left.stale += right.stale
    left.validated += right.validated
    left.collapsed += right.collapsed
    left.forwarded += right.forwarded
    left.refused += right.refused
    left.broken += right.broken
    left.bytes += right.bytes
    left.savedBytes += right.savedBytes
  }
}
