#if HTTP
import CacheCore
import HTTPTypes

/// What the origin's answers do to what is stored already.
extension HTTPCache {
  /// What becomes of what is stored, once the origin has spoken of it again.
  enum Verdict { case kept, untouched, forgotten }

  /// Judges a freshened response as if it had come with a GET, as which it is kept.
  private func judge(_ fresh: StoredResponse, for request: HTTPTypes.HTTPRequest, at time: Duration) -> Verdict {
    switch refusal(of: fresh.head, for: request, at: time) {
    case nil, .useless: return RequestTerms(request).forbidsStoring ? .untouched : .kept
    // What it says to a client with credentials is not to be kept for others, new terms included.
    case .authorization: return .untouched
    // Terms that forbid keeping it also apply to what is kept, and to what others are about to keep.
    default: return .forgotten
    }
  }

  private func refusal(of head: HTTPTypes.HTTPResponse, for request: HTTPTypes.HTTPRequest, at time: Duration)
    -> HTTPCachePolicy.Refusal?
  {
    var get = request
    get.method = .get
    // A client that wants nothing stored must not cost others what is.
    get.headerFields[.cacheControl] = nil
    return policy.refusal(toStore: head, for: get, receivedAt: time)
  }

  /// Freshens what a 304 speaks of.
  ///
  /// - Returns: The response for the request; `nil` if the 304 speaks of nothing that is stored.
  func confirm(
    _ journey: Journey, _ head: HTTPTypes.HTTPResponse, _ validation: HTTPCachePolicy.Validation,
    _ ticket: VariantTurns.Ticket,
    requestTime: Duration, responseTime: Duration
  ) async -> (response: StoredResponse, verdict: Verdict)? {
    let places = policy.confirmed(
      by: head, of: journey.stored, asked: validation, for: journey.request.headerFields)
    let fitting = places.filter { journey.stored.responses[$0].covers(journey.request) }
    guard let first = journey.selected.flatMap({ fitting.contains($0) ? $0 : nil }) ?? fitting.last else { return nil }
    @Sendable func freshened(_ response: StoredResponse) -> StoredResponse {
      policy.freshen(response, with: head, requestTime: requestTime, responseTime: responseTime)
    }
    var chosen = freshened(journey.stored.responses[first])
    // What the origin chose for a request that selected nothing, or another one, is what it selects from now on.
    if let selecting = SelectingFields(of: journey.request.headerFields, named: chosen.head.headerFields) {
      chosen.selecting = selecting
    }
    let confirmed = places.map { journey.stored.responses[$0] }
    @Sendable func isConfirmed(_ response: StoredResponse) -> Bool {
      confirmed.contains { $0.isSameRepresentation(as: response) }
    }
    let verdict = judge(chosen, for: journey.request, at: responseTime)
    switch verdict {
    case .kept:
      // What must not be kept any more may still be there in the terms that it had before.
      await write(journey.target.text, ticket, orElse: { $0.responses.removeAll(where: isConfirmed) }) {
        [chosen] variants in
        variants.responses = variants.responses.compactMap { response in
          guard isConfirmed(response) else { return response }
          let fresh = freshened(response)
          // Nobody knows any more what its request had in a field that is named only now.
          return fresh.head.headerFields[values: .vary] == response.head.headerFields[values: .vary] ? fresh : nil
        }
        variants.add(chosen, for: journey.request.headerFields)
      }
    case .untouched: break
    case .forgotten:
      turns.invalidate(journey.target.text)
      await write(journey.target.text, nil) { $0.responses.removeAll(where: isConfirmed) }
    }
    return (chosen, verdict)
  }

  /// Takes over what the answer to a HEAD says of the stored answer to a GET.
  func note(
    _ journey: Journey, _ head: HTTPTypes.HTTPResponse, _ ticket: VariantTurns.Ticket, requestTime: Duration,
    responseTime: Duration
  ) async {
    guard head.status == .ok || [404, 410].contains(head.status.code), let selected = journey.selectedResponse else {
      return
    }
    // What is said to a client with credentials is for nobody else, even where it disagrees.
    if refusal(of: head, for: journey.request, at: responseTime) == .authorization { return }
    var fresh =
      head.status.code == selected.head.status.code
      ? policy.freshened(selected, byHead: head, requestTime: requestTime, responseTime: responseTime) : nil
    if let named = fresh?.head.headerFields, let own = SelectingFields(of: journey.request.headerFields, named: named) {
      fresh?.selecting = own
    }
    let verdict = fresh.map { judge($0, for: journey.request, at: responseTime) } ?? Verdict.kept
    if verdict == .untouched { return }
    if verdict == .forgotten { turns.invalidate(journey.target.text) }
    await write(journey.target.text, verdict == .kept ? ticket : nil) { [fresh] variants in
      guard let place = variants.responses.firstIndex(of: selected) else { return }
      if verdict == .kept, let fresh {
        variants.responses[place] = fresh
      } else {
        variants.responses.remove(at: place)
      }
    }
  }

  /// Keeps the answer to a HEAD for others, if nothing is stored that has content.
  ///
  /// - Returns: What is kept; `nil` if nothing is.
  func keepHead(
    _ journey: Journey, _ head: HTTPTypes.HTTPResponse, _ ticket: VariantTurns.Ticket, requestTime: Duration,
    responseTime: Duration
  ) async -> StoredResponse? {
    let fields = journey.request.headerFields
    @Sendable func leavesRoom(_ variants: StoredVariants) -> Bool {
      variants.responses.allSatisfy { $0.isHeadOnly || !$0.selecting.match(fields) }
    }
    var get = journey.request
    get.method = .get
    guard leavesRoom(journey.stored) else { return nil }
    // It could not be validated: a HEAD asks about no content that is not there.
    guard head.status != .partialContent,
      var kept = policy.keep(head, for: get, requestTime: requestTime, responseTime: responseTime),
      !policy.terms(of: kept).mustBeValidated, policy.remainingLife(of: kept, at: responseTime) ?? .zero > .zero
    else {
      await dropOutdated(journey, head, at: responseTime)
      return nil
    }
    kept.isHeadOnly = true
    await write(journey.target.text, ticket) { [kept] variants in
      if leavesRoom(variants) { variants.add(kept, for: fields) }
    }
    return kept
  }

  /// Forgets a stale response that the origin answered otherwise, where the new one is not kept.
  func dropOutdated(_ journey: Journey, _ head: HTTPTypes.HTTPResponse, at time: Duration) async {
    guard journey.reason == .stale, let selected = journey.selectedResponse, head.status.code < 500,
      ![206, 304, 412, 416].contains(head.status.code)
    else { return }
    // Those without credentials may well be told the same as before, and a client that wants nothing stored costs others nothing.
    let refusal = refusal(of: head, for: journey.request, at: time)
    if refusal == .authorization || refusal == nil && RequestTerms(journey.request).forbidsStoring { return }
    await write(journey.target.text, nil) { variants in
      variants.responses.removeAll {
        $0 == selected || $0.isApart(from: selected) && $0.selecting == selected.selecting
      }
    }
  }
}
#endif
