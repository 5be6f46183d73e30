#if HTTP
package import HTTPTypes

/// What a request asks of a cache: RFC 9111, section 5.2.1.
package struct RequestTerms: Sendable, Equatable {
  package var forbidsStoring = false
  package var asksOrigin = false
  package var asksNobody = false
  package var maxAge: Int?
  package var minFresh: Int?
  /// Seconds beyond freshness that are accepted.
  package var maxStale: Int?
  package var staleIfError: Int?

  package init(_ request: HTTPRequest) {
    let fields = request.headerFields
    guard fields.contains(.cacheControl) else {
      asksOrigin = CacheControl(fields[values: .pragma]).has("no-cache")
      return
    }
    let control = CacheControl(fields[values: .cacheControl])
    forbidsStoring = control.has("no-store")
    asksOrigin = control.has("no-cache")
    asksNobody = control.has("only-if-cached")
    maxAge = control.seconds("max-age")
    minFresh = control.seconds("min-fresh")
    // Without an argument any staleness is accepted; one that cannot be read accepts none.
    maxStale = control.isAlone("max-stale") ? .max : control.seconds("max-stale")
    staleIfError = control.seconds("stale-if-error")
  }
}
#endif
