#if HTTP
package import HTTPTypes

extension HTTPCachePolicy {
  /// Why a request has to be forwarded.
  public enum ForwardReason: String, Sendable {
    /// The cache was told not to deal with it.
    case bypass
    /// Its method is not answered from a cache.
    case method
    /// Nothing is stored for its URI.
    case uriMiss = "uri-miss"
    /// What is stored for its URI answers other requests.
    case varyMiss = "vary-miss"
    /// What is stored could not be read.
    case miss
    /// It asks for it.
    case request
    /// What is stored is stale, or may not be used unasked.
    case stale
    /// Only a part of the content is stored, or none of it, and not all that it asks for.
    case partial
  }

  /// What is done with a request.
  package enum Decision: Equatable {
    /// Answered with a stored response.
    case answer(Int)
    /// Answered with a stored response that is stale, while the origin is asked for a new one.
    case answerAndRevalidate(Int)
    /// Forwarded; the stored response that it selects, if any, may answer if the origin fails.
    case forward(ForwardReason, selected: Int?)
    /// Refused with 504, because it may not be forwarded.
    case unanswerable
  }

  /// What is done with a request, by what is stored for its URI.
  package func decision(
    on request: HTTPRequest, isSecure: Bool, stored: StoredVariants, at now: Duration
  ) -> Decision {
    guard request.method == .get || request.method == .head else { return .forward(.method, selected: nil) }
    let fields = request.headerFields
    let wanted = RequestTerms(request)
    func forward(_ reason: ForwardReason, _ selected: Int?) -> Decision {
      wanted.asksNobody ? .unanswerable : .forward(reason, selected: selected)
    }
    // The origin judges these, and it may have changed.
    if fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince) { return forward(.request, nil) }
    guard !stored.responses.isEmpty else { return forward(.uriMiss, nil) }
    guard let place = stored.selected(for: request) else { return forward(.varyMiss, nil) }
    let response = stored.responses[place]
    guard response.covers(request) else { return forward(.partial, nil) }
    let reading = reading(of: response)
    let terms = reading.terms
    if wanted.asksOrigin { return forward(.request, place) }
    guard !terms.mustBeValidated, let age = response.age(at: now) else { return forward(.stale, place) }
    let left = reading.lifetime - age
    if let maxAge = wanted.maxAge, age > .seconds(maxAge),
      !(maxAge == 0 && terms.isImmutable && isSecure && left > .zero)
    {
      return forward(.request, place)
    }
    if let minFresh = wanted.minFresh, left < .seconds(minFresh) {
      return forward(left > .zero ? .request : .stale, place)
    }
    if left > .zero { return .answer(place) }
    guard !terms.forbidsStale else { return forward(.stale, place) }
    if let maxStale = wanted.maxStale, .zero - left <= .seconds(Int64(maxStale)) { return .answer(place) }
    // A request that lets nobody be asked has nobody asked in the background either.
    // Nobody asks in the background for the whole of what clients want parts of.
    if .zero - left <= .seconds(terms.staleWhileRevalidate), terms.staleWhileRevalidate > 0, response.part == nil,
      !response.isHeadOnly
    {
      return wanted.asksNobody ? .answer(place) : .answerAndRevalidate(place)
    }
    return forward(.stale, place)
  }

  /// How an origin failed to give an answer of its own.
  package enum Failure {
    /// It could not be reached, or did not answer in valid HTTP.
    case unreachable
    /// It answered with 500, 502, 503 or 504.
    case serverError

    package init?(_ status: HTTPResponse.Status) {
      guard [500, 502, 503, 504].contains(status.code) else { return nil }
      self = .serverError
    }
  }

  /// Whether a stored response may be used because the origin failed.
  package func mayAnswer(
    _ response: StoredResponse, to request: HTTPRequest, after failure: Failure, at now: Duration
  )
    -> Bool
  {
    let wanted = RequestTerms(request)
    let reading = reading(of: response)
    let terms = reading.terms
    guard !terms.forbidsStale, !wanted.asksOrigin, let age = response.age(at: now) else { return false }
    if let maxAge = wanted.maxAge, age > .seconds(maxAge) { return false }
    let left = reading.lifetime - age
    if let minFresh = wanted.minFresh, left < .seconds(minFresh) { return false }
    let allowance = max(terms.staleIfError, wanted.staleIfError ?? 0)
    if allowance > 0, .zero - left <= .seconds(allowance) { return true }
    return failure == .unreachable && .zero - left <= staleWhenUnreachable
  }
}
#endif
