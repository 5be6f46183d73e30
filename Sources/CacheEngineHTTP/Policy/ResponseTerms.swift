#if HTTP
package import HTTPTypes

/// What a response says of its keeping, read for one kind of cache.
package struct ResponseTerms: Sendable, Equatable {
  /// Seconds that the origin gave it; `nil` if it said nothing.
  package var explicitLifetime: Int?
  package var forbidsStoring: Bool
  /// `private` in a shared cache.
  package var isForAnother: Bool
  /// Allows what would not be stored by itself: `public`, and in a private cache `private`.
  package var isMarkedStorable: Bool
  /// Lets a shared cache store what was asked with credentials: RFC 9111, section 3.5.
  package var allowsCredentials: Bool
  /// Never to be used unasked.
  package var mustBeValidated: Bool
  /// Never to be used stale.
  package var forbidsStale: Bool
  package var isImmutable: Bool
  package var staleWhileRevalidate: Int
  package var staleIfError: Int
  /// Fields that are not kept.
  package var hiddenFields: Set<HTTPField.Name>
  /// The field that says so, if it is not `Cache-Control`.
  package var targetedField: HTTPField.Name?

  private static let understood: Set = [
    200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411,
    412, 413, 414, 415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
  ]

  package init(_ response: HTTPResponse, policy: HTTPCachePolicy, receivedAt responseTime: Duration) {
    let fields = response.headerFields
    let isShared = policy.kind == .shared
    var control = CacheControl(fields[values: .cacheControl])
    if isShared {
      for name in policy.targetedFields where fields.contains(name) {
        guard let targeted = CacheControl(targeted: fields[values: name]) else { continue }
        control = targeted
        targetedField = name
        break
      }
    }
    if isShared, let seconds = control.seconds("s-maxage") {
      explicitLifetime = seconds
    } else if let seconds = control.seconds("max-age") {
      explicitLifetime = seconds
    } else if targetedField == nil, fields.contains(.expires) {
      let lines = fields[values: .expires]
      let date = StoredResponse(head: response, requestTime: responseTime, responseTime: responseTime).date
      let expires = lines.count == 1 ? HTTPDate(lines[0], now: responseTime) : nil
      explicitLifetime = expires.map { max(0, $0.seconds - date.seconds) } ?? 0
    }
    let isUnderstood = control.has("must-understand") && Self.understood.contains(response.status.code)
    forbidsStoring =
      control.has("must-understand") ? !isUnderstood : control.has("no-store")
    isForAnother = isShared && control.isUnqualified("private")
    isMarkedStorable = control.has("public") || (!isShared && control.has("private"))
    allowsCredentials = control.has("public") || control.has("s-maxage") || control.has("must-revalidate")
    mustBeValidated = control.isUnqualified("no-cache")
    forbidsStale =
      control.has("must-revalidate") || mustBeValidated
      || (isShared && (control.has("proxy-revalidate") || control.has("s-maxage")))
    isImmutable = control.has("immutable")
    staleWhileRevalidate = control.seconds("stale-while-revalidate") ?? 0
    staleIfError = control.seconds("stale-if-error") ?? 0
    hiddenFields = control.fields("no-cache") ?? []
    if isShared { hiddenFields.formUnion(control.fields("private") ?? []) }
  }
}
#endif
