#if HTTP
public import HTTPTypes

/// The rules of HTTP caching: what may be stored, what it may answer, and what must be validated.
///
/// A plain value: it reads no clock, does no I/O and stores nothing. ``HTTPCache`` acts upon it. The rules are those of RFC 9111
/// (caching), 9110 (semantics), 9213 (targeted cache control), 5861 (stale responses) and 8246 (immutable). Where these leave a choice,
/// it is the one that is safe for the person behind the request. <doc:HTTPCaching> lists the rules with the choices.
public struct HTTPCachePolicy: Sendable {
  /// Whom a cache stores responses for.
  public enum Kind: String, Sendable {
    /// For everyone who asks: a proxy, or a server that asks others.
    case shared
    /// For one person.
    ///
    /// It stores responses to requests with `Authorization` like any other, and does not tell credentials apart. When somebody else
    /// signs in, remove everything, or use another store.
    case `private`
  }

  /// Whom the cache stores responses for.
  public var kind: Kind
  /// Fields that replace `Cache-Control` and `Expires` in a shared cache; the first one that can be read counts.
  public var targetedFields: [HTTPField.Name] = [.cdnCacheControl]
  /// The longest heuristic freshness, for responses without an explicit lifetime; zero for none.
  ///
  /// Up to that, it is a tenth of the age of the response when it was received, by `Last-Modified`.
  public var heuristicLimit: Duration = .seconds(86_400)
  /// How long after its freshness a response is used while the origin cannot be reached, unless something forbids it.
  public var staleWhenUnreachable: Duration = .seconds(86_400)
  /// Whether responses with `Set-Cookie` are stored, if they are otherwise storable; HTTP does not forbid it.
  public var storesCookies = true

  /// Creates the rules.
  ///
  /// - Parameter kind: Whom the cache stores responses for.
  public init(_ kind: Kind) { self.kind = kind }

  /// Why a response is not stored.
  public enum Refusal: String, Sendable {
    /// The request's method is neither GET nor a POST whose response is what a GET would return.
    case method
    /// The status has no content to store, or a part that does not say which, or is not known and nothing explicit allows it.
    case status
    /// `no-store` in the request or the response.
    case noStore = "no-store"
    /// It is for one person, and the cache is shared.
    case forAnother = "private"
    /// It was asked for with credentials, and nothing says that others may have it.
    case authorization
    /// `Vary` names something that no other request can match.
    case vary
    /// It could neither be reused nor validated.
    case useless = "no-freshness"
    /// It sets a cookie, and ``HTTPCachePolicy/storesCookies`` is off.
    case cookie
  }

  private static let heuristicStatuses: Set = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

  /// Why a response may not be stored; `nil` if it may.
  ///
  /// - Parameters:
  ///   - response: The head of the response.
  ///   - request: The request that it answers.
  ///   - responseTime: When it was received, since 1970-01-01 00:00 UTC.
  /// - Returns: The first reason found.
  public func refusal(
    toStore response: HTTPResponse, for request: HTTPRequest, receivedAt responseTime: Duration
  ) -> Refusal? {
    let terms = ResponseTerms(response, policy: self, receivedAt: responseTime)
    let status = response.status.code
    guard request.method == .get || Self.isWhatGetWouldGive(response, for: request, terms) else { return .method }
    // The last two answer conditions and ranges, which no other request shares; a part is one only where it was asked for.
    guard status >= 200, ![304, 412, 416].contains(status),
      status != 206 || request.headerFields.contains(.range) && ContentPart(response.headerFields) != nil
    else { return .status }
    guard !terms.forbidsStoring, !RequestTerms(request).forbidsStoring else { return .noStore }
    guard !terms.isForAnother else { return .forAnother }
    guard kind == .private || !request.headerFields.contains(.authorization) || terms.allowsCredentials else {
      return .authorization
    }
    // A cookie that is not kept goes to nobody else.
    guard storesCookies || !response.headerFields.contains(.setCookie) || terms.hiddenFields.contains(.setCookie) else {
      return .cookie
    }
    guard let selecting = SelectingFields(of: request.headerFields, named: response.headerFields) else {
      return .vary
    }
    guard Self.heuristicStatuses.contains(status) || terms.explicitLifetime != nil || terms.isMarkedStorable else {
      return .status
    }
    let stored = StoredResponse(
      head: response, requestTime: responseTime, responseTime: responseTime, selecting: selecting)
    guard
      stored.hasValidator || lifetime(of: stored, terms) > .zero
        || terms.staleWhileRevalidate > 0 || terms.staleIfError > 0
    else { return .useless }
    return nil
  }

  /// Whether the answer to a POST says that it is what its target looks like from now on: RFC 9110, sections 8.7 and 9.3.3.
  private static func isWhatGetWouldGive(
    _ response: HTTPResponse, for request: HTTPRequest, _ terms: ResponseTerms
  ) -> Bool {
    let locations = response.headerFields[values: .contentLocation]
    guard request.method == .post, response.status == .ok, terms.explicitLifetime ?? 0 > 0, locations.count == 1,
      let target = TargetURI(request)
    else { return false }
    return TargetURI(reference: locations[0], from: target) == target
  }

  /// How long a response counts as fresh from when the origin made it.
  package func lifetime(of response: StoredResponse, _ terms: ResponseTerms) -> Duration {
    if let seconds = terms.explicitLifetime { return .seconds(seconds) }
    guard !terms.mustBeValidated,
      Self.heuristicStatuses.contains(response.head.status.code) || terms.isMarkedStorable,
      let text = response.lastModified, let modified = HTTPDate(text, now: response.responseTime)
    else { return .zero }
    return max(.zero, min(.seconds(response.date.seconds - modified.seconds) / 10, heuristicLimit))
  }

  package func terms(of response: StoredResponse) -> ResponseTerms { reading(of: response).terms }

  /// What the fields of a stored response say, read once.
  func reading(of response: StoredResponse) -> ResponseReading.Terms {
    response.reading.terms(for: self) {
      let terms = ResponseTerms(response.head, policy: self, receivedAt: response.responseTime)
      return ResponseReading.Terms(policy: self, terms: terms, lifetime: lifetime(of: response, terms))
    }
  }

  /// How much longer a stored response is fresh; negative if it is stale by so much, `nil` if nobody can tell.
  ///
  /// - Parameters:
  ///   - response: The stored response.
  ///   - now: The time of day, since 1970-01-01 00:00 UTC.
  /// - Returns: The time that is left.
  public func remainingLife(of response: StoredResponse, at now: Duration) -> Duration? {
    response.age(at: now).map { reading(of: response).lifetime - $0 }
  }

  /// How long a response is worth keeping from now on; `nil` for as long as there is room, since it can be asked about.
  package func usefulLife(of response: StoredResponse, at now: Duration) -> Duration? {
    guard !response.hasValidator else { return nil }
    let terms = terms(of: response)
    let stale =
      terms.forbidsStale
      ? .zero
      : max(staleWhenUnreachable, .seconds(terms.staleWhileRevalidate), .seconds(terms.staleIfError))
    return (remainingLife(of: response, at: now) ?? .zero) + stale
  }
}
#endif
