#if Proxy
import CacheCore
public import CacheEngineHTTP
import Synchronization

/// One request as a proxy answered it.
public struct ServedRequest: Sendable {
  /// Its method; `-` if what was sent could not be read as a request.
  public var method: String
  /// Path and query; `-` if what was sent could not be read as a request.
  public var path: String
  /// The status that it was answered with; 499 if its client left, or the proxy stopped, before there was an answer.
  public var status: Int
  /// How the cache handled it; `nil` if it never reached the cache.
  public var cache: CacheStatus?
  /// Whether the proxy answered by itself: it refused the request, or the origin gave no answer or was not to be asked.
  public var isAnsweredByProxy: Bool
  /// The age of the answer in seconds, if it was stored.
  public var age: Int?
  /// The bytes of content that were sent.
  public var bytes: Int
  /// How long it took, from the arrival of the request's head to the end of the response.
  public var duration: Duration
  /// Whether the answer was sent completely.
  public var isWhole: Bool
  /// The time of day when the answer had been sent, or broke off, since 1970-01-01 00:00 UTC.
  public var time = Duration.zero
  /// Why the origin gave no complete answer, by the names of RFC 9209; `nil` if it did.
  public var fault: String?
  /// The same in words for people, or why the proxy refused the request.
  public var explanation: String?

  package init(
    method: String, path: String, status: Int, cache: CacheStatus?, age: Int?, bytes: Int, duration: Duration,
    isWhole: Bool, isAnsweredByProxy: Bool = false
  ) {
    self.method = method
    self.path = path
    self.status = status
    self.cache = cache
    self.age = age
    self.bytes = bytes
    self.duration = duration
    self.isWhole = isWhole
    self.isAnsweredByProxy = isAnsweredByProxy
  }

  /// The status that logs give to requests whose clients have left; no client is sent it.
  static let unanswered = 499

  /// Notes why the origin gave no whole answer.
  package mutating func note(_ error: any Error) {
    fault = ProxyFault(error).name
    explanation = (error as? CacheError)?.message
  }

  /// Notes that no more of its content is sent: a client that has all that was announced may leave before it is told that this was all.
  ///
  /// - Parameter announced: How many bytes its head announced; `nil` if it did not.
  package mutating func noteEnd(of announced: Int?) {
    if bytes > 0, bytes == announced { isWhole = true }
  }

  /// How the cache handled it, in one word.
  package var word: String {
    guard let cache, !isAnsweredByProxy else { return "refused" }
    if cache.isHit { return cache.timeToLive ?? 0 < 0 ? "stale" : "hit" }
    if cache.forwardStatus == 304 { return "validated" }
    return cache.isCollapsed ? "collapsed" : cache.forward?.rawValue ?? "hit"
  }

  private var milliseconds: String {
    let tenths = duration.components.seconds * 10_000 + duration.components.attoseconds / 100_000_000_000_000
    return "\(tenths / 10).\(tenths % 10)"
  }

  private var seconds: String {
    let thousandths = String(1_000 + time.components.attoseconds / 1_000_000_000_000_000)
    return "\(time.components.seconds).\(thousandths.dropFirst())"
  }

  /// One line for people.
  public var plainLine: String {
    // A path comes from the client: nothing in it may move a terminal's cursor.
    let shown = path.unicodeScalars.prefix(300).map { $0.value > 0x20 && $0.value < 0x7F ? String($0) : "?" }.joined()
    var line = "\(method) \(shown) \(status) \(word) \(bytes) B \(milliseconds) ms"
    if let age { line += " age=\(age)" }
    if let left = cache?.timeToLive { line += " ttl=\(left)" }
    if let detail = cache?.detail { line += " \(detail)" }
    if !isWhole { line += " broken" }
    if let fault { line += " \(fault)" }
    return explanation.map { "\(line): \($0)" } ?? line
  }

  /// One line of JSON.
  public var jsonLine: String {
    var members = [
      "\"time\":\(seconds)", "\"method\":\(Self.quoted(method))", "\"path\":\(Self.quoted(path))",
      "\"status\":\(status)", "\"bytes\":\(bytes)",
      "\"milliseconds\":\(milliseconds)", "\"whole\":\(isWhole)", "\"outcome\":\(Self.quoted(word))",
    ]
    if let cache {
      members.append("\"cacheStatus\":\(Self.quoted(cache.description))")
      if let left = cache.timeToLive { members.append("\"ttl\":\(left)") }
    }
    if let age { members.append("\"age\":\(age)") }
    if let fault { members.append("\"fault\":\(Self.quoted(fault))") }
    return "{\(members.joined(separator: ","))}"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case let scalar where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

/// The requests that a proxy has dealt with so far, by outcome.
public struct ProxyCounts: Sendable, Equatable {
  /// All requests, including refused ones and what could not be read as one.
  public var requests = 0
  /// Those answered from the cache without asking.
  public var hits = 0
  /// Those among them that were stale.
  public var staleHits = 0
  /// Those that shared the request of another.
  public var collapsed = 0
  /// Those for which the origin confirmed the stored response.
  public var validated = 0
  /// Those that were forwarded for any other reason.
  public var forwarded = 0
  /// Those that were refused or failed: every status of 500 and above that is the proxy's own, bad requests, and those whose
  /// clients left before there was an answer.
  public var refused = 0
  /// Bytes of content sent.
  public var bytes = 0
  /// Bytes of content that the origin did not have to send.
  public var savedBytes = 0

  mutating func count(_ request: ServedRequest) {
    requests += 1
    bytes += request.bytes
    guard let cache = request.cache, !request.isAnsweredByProxy else {
      refused += 1
      return
    }
    if cache.isHit {
      hits += 1
      if let left = cache.timeToLive, left < 0 { staleHits += 1 }
    } else if cache.isCollapsed {
      collapsed += 1
    } else if cache.forwardStatus == 304 {
      validated += 1
    } else {
      forwarded += 1
      return
    }
    savedBytes += request.bytes
  }
}
#endif
