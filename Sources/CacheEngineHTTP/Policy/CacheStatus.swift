#if HTTP
import HTTPTypes

/// How a cache handled a request, as in the `Cache-Status` field (RFC 9211).
public struct CacheStatus: Sendable, Equatable, CustomStringConvertible {
  /// What the cache calls itself; a token.
  public var cache: String
  /// Why the request was forwarded; `nil` for a hit.
  public var forward: HTTPCachePolicy.ForwardReason?
  /// The status of the origin's answer, where it is not that of the answer given.
  public var forwardStatus: Int?
  /// Whole seconds that the response is still fresh; negative if it is stale.
  public var timeToLive: Int?
  /// Whether the response was stored.
  public var isStored = false
  /// Whether the request took part in that of another one.
  public var isCollapsed = false
  /// What else there is to say; a token.
  public var detail: String?

  /// Whether the answer came from the cache without asking.
  public var isHit: Bool { forward == nil }

  /// Creates a status.
  ///
  /// - Parameters:
  ///   - cache: What the cache calls itself; a token.
  ///   - forward: Why the request was forwarded; `nil` for a hit.
  public init(cache: String = "cache-explorer", forward: HTTPCachePolicy.ForwardReason? = nil) {
    self.cache = cache
    self.forward = forward
  }

  /// Whether a cache can call itself so, in this field and in those of a proxy.
  package static func isName(_ text: String) -> Bool {
    HTTPField.Name(text) != nil && text.first?.isLetter == true
  }

  /// The member of the field, such as `cache-explorer; hit; ttl=10`.
  public var description: String {
    var text = cache
    if let forward { text += "; fwd=\(forward.rawValue)" } else { text += "; hit" }
    if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
    if isStored { text += "; stored" }
    if isCollapsed { text += "; collapsed" }
    if let timeToLive { text += "; ttl=\(timeToLive)" }
    if let detail { text += "; detail=\(detail)" }
    return text
  }
}
#endif
