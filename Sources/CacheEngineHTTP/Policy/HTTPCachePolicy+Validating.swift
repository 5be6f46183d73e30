#if HTTP
package import HTTPTypes

extension HTTPCachePolicy {
  /// The validators that a forwarded request carries for the cache.
  package struct Validation: Sendable, Equatable {
    package var tags: [EntityTag]
    package var modifiedSince: String?
    /// Whether the request asks about nothing else, so that an answer which does not say of what it speaks speaks of these.
    package var isAlone = true

    package init(tags: [EntityTag] = [], modifiedSince: String? = nil) {
      self.tags = tags
      self.modifiedSince = modifiedSince
    }

    package var isEmpty: Bool { tags.isEmpty && modifiedSince == nil }
  }

  /// What a forwarded request asks about beside what it wants itself.
  ///
  /// - Parameters:
  ///   - stored: What is stored for its URI.
  ///   - selected: The stored response that it selects, with all that it asks for of the content.
  ///   - request: The request as it came.
  /// - Returns: The validators to send; none if there is nothing to ask about.
  package func validation(of stored: StoredVariants, selected: Int?, for request: HTTPRequest) -> Validation {
    guard request.method == .get, !request.headerFields.contains(.ifMatch),
      !request.headerFields.contains(.ifUnmodifiedSince), !request.headerFields.contains(.ifRange)
    else { return Validation() }
    let own = Self.tags(of: request)
    // What cannot be read could not be sent on beside ours.
    guard own.allSatisfy(\.isReadable) else { return Validation() }
    let first = selected.map { stored.responses[$0] }
    // A server that is sent tags ignores dates.
    var validation = Validation(modifiedSince: own.isEmpty ? first?.lastModified : nil)
    // Where the selected response cannot be asked about by its tag, the tags of others would hide its date from the origin.
    if let first, first.entityTag == nil { return validation }
    // A weak tag may also belong to another coding, and servers that compress what they send may go by the tag of what they compress.
    let others = stored.responses.filter {
      $0.entityTag?.isWeak == false && $0.covers(request)
        && $0.selecting.match(request.headerFields, in: .acceptEncoding)
    }
    for tag in ([first].compactMap(\.self) + others).compactMap(\.entityTag) where !validation.tags.contains(tag) {
      validation.tags.append(tag)
    }
    validation.isAlone = own.allSatisfy { tag in validation.tags.contains { $0.matchesWeakly(tag) } }
    return validation
  }

  /// Puts the validators on a request.
  package func add(_ validation: Validation, to request: inout HTTPRequest) {
    guard !validation.isEmpty else { return }
    let own = Self.tags(of: request)
    let tags = validation.tags + own.filter { tag in !validation.tags.contains { $0.matchesWeakly(tag) } }
    // A date sent by the client would be asked about in place of ours.
    request.headerFields[.ifModifiedSince] = validation.modifiedSince
    request.headerFields[.ifNoneMatch] = tags.isEmpty ? nil : tags.map(\.text).joined(separator: ", ")
  }

  /// The tags that a client asks about itself.
  private static func tags(of request: HTTPRequest) -> [EntityTag] {
    request.headerFields.combined(.ifNoneMatch).map(EntityTag.list) ?? []
  }

  /// The stored responses that a 304 speaks of: RFC 9111, section 4.3.4.
  ///
  /// A 304 without a validator speaks of the one that was sent, if it was only one: it cannot mean another. Dates and weak tags are
  /// those of several variants, perhaps, so they speak of what the request selects.
  package func confirmed(
    by response: HTTPResponse, of stored: StoredVariants, asked validation: Validation, for request: HTTPFields
  ) -> [Int] {
    let probe = StoredResponse(head: response, requestTime: .zero, responseTime: .zero)
    let selected = stored.selected(by: request)
    let latest = stored.responses.indices.filter { stored.responses[$0].selecting.match(request) }.sorted {
      if $0 == selected || $1 == selected { return $0 == selected && $1 != selected }
      return stored.responses[$0].responseTime > stored.responses[$1].responseTime
    }
    if let tag = probe.entityTag {
      let strong = stored.responses.indices.filter { stored.responses[$0].entityTag?.matchesStrongly(tag) == true }
      let weak = latest.first { stored.responses[$0].entityTag?.matchesWeakly(tag) == true }
      // Of what it compresses nginx says the strong tag here, although it was asked about the weak one.
      guard strong.isEmpty || !validation.tags.contains(tag), let weak, !strong.contains(weak) else { return strong }
      return strong + [weak]
    }
    // One that cannot be read is none of those that were asked about.
    if response.headerFields[.eTag]?.isEmpty == false { return [] }
    if let modified = probe.lastModified, validation.tags.isEmpty {
      return latest.first { stored.responses[$0].lastModified == modified }.map { [$0] } ?? []
    }
    if validation.tags.count == 1, validation.isAlone {
      let candidates = validation.tags[0].isWeak ? latest : latest + stored.responses.indices
      return candidates.first { place in
        let response = stored.responses[place]
        let dates = Set([probe.lastModified, response.lastModified].compactMap(\.self))
        return response.entityTag == validation.tags[0] && dates.count < 2
      }.map { [$0] } ?? []
    }
    if validation.tags.isEmpty, let sent = validation.modifiedSince {
      return latest.first { stored.responses[$0].lastModified == sent && stored.responses[$0].entityTag == nil }
        .map { [$0] } ?? []
    }
    return []
  }

  /// Takes over what a newer head says of a stored response: RFC 9111, section 3.2.
  package func freshen(
    _ response: StoredResponse, with head: HTTPResponse, requestTime: Duration, responseTime: Duration
  )
    -> StoredResponse
  {
    var fresh = response
    var fields = head.headerFields
    ConnectionFields.remove(from: &fields)
    fields.remove([.contentEncoding, .contentLength, .contentRange, .contentType, .trailer, .cacheStatus])
    fields.remove(ResponseTerms(head, policy: self, receivedAt: responseTime).hiddenFields)
    // The strong tag may belong to other bytes, to which the weak one is only equivalent.
    if response.entityTag?.isWeak == true { fields[.eTag] = nil }
    // What was told of its age then is told again, or is no more.
    fresh.head.headerFields.remove(Set(fields.map(\.name)).union([.age]))
    fresh.head.headerFields.append(contentsOf: fields)
    if !fields.contains(.date) { fresh.head.headerFields[.date] = HTTPDate(responseTime).description }
    // What either the stored terms or the new ones hide stays out.
    fresh.head.headerFields.remove(ResponseTerms(fresh.head, policy: self, receivedAt: responseTime).hiddenFields)
    fresh.requestTime = requestTime
    fresh.responseTime = responseTime
    return fresh
  }

  /// What the answer to a HEAD means for the stored answer to a GET: RFC 9111, section 4.3.5.
  ///
  /// - Returns: The freshened response; `nil` if it is outdated and must go.
  package func freshened(
    _ response: StoredResponse, byHead head: HTTPResponse, requestTime: Duration, responseTime: Duration
  ) -> StoredResponse? {
    for name in [HTTPField.Name.eTag, .lastModified] where head.headerFields.contains(name) {
      let (new, old) = (head.headerFields[fields: name], response.head.headerFields[fields: name])
      // As bytes, and as texts, which may differ where they look the same.
      guard new == old, zip(new, old).allSatisfy({ FieldList.areSame($0.value, $1.value) }) else { return nil }
    }
    if let length = head.headerFields[.contentLength], Int(length) != response.body.count { return nil }
    return freshen(response, with: head, requestTime: requestTime, responseTime: responseTime)
  }

  /// Those that the registry of methods calls safe: RFC 9110, section 16.1.
  private static let safeMethods: Set<String> = [
    "GET", "HEAD", "OPTIONS", "PROPFIND", "QUERY", "REPORT", "SEARCH", "TRACE",
  ]

  /// What a response to an unsafe method makes outdated: RFC 9111, section 4.4.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - method: The method of the request.
  ///   - target: Its target.
  ///   - alias: The authority by which the client knows the origin: a server behind a proxy may write it into its references.
  /// - Returns: The URIs, of the origin that was asked.
  package func invalidated(
    by response: HTTPResponse, to method: HTTPRequest.Method, at target: TargetURI, knownAs alias: String? = nil
  ) -> [TargetURI] {
    guard !Self.safeMethods.contains(method.rawValue), (200..<400).contains(response.status.code) else { return [] }
    let references = [HTTPField.Name.location, .contentLocation].compactMap { response.headerFields[$0] }
    // What ends TLS in front of a proxy leaves a client with another scheme.
    let names = ["http", "https"].compactMap { TargetURI(scheme: $0, authority: alias, path: target.path) }
    return [target]
      + references.compactMap { reference in
        let found = ([target] + names).lazy.compactMap { TargetURI(reference: reference, from: $0) }.first
        return found.flatMap { target.with(path: $0.path) }
      }
  }

  /// What is kept of a response.
  package func keep(
    _ head: HTTPResponse, for request: HTTPRequest, requestTime: Duration, responseTime: Duration
  ) -> StoredResponse? {
    guard refusal(toStore: head, for: request, receivedAt: responseTime) == nil,
      let selecting = SelectingFields(of: request.headerFields, named: head.headerFields)
    else { return nil }
    var kept = head
    kept.headerFields.remove(ResponseTerms(head, policy: self, receivedAt: responseTime).hiddenFields)
    kept.headerFields.remove([.cacheStatus])
    return StoredResponse(
      head: kept, requestTime: requestTime, responseTime: responseTime, selecting: selecting)
  }
}
#endif
