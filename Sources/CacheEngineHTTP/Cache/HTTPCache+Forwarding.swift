#if HTTP
import CacheCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request that goes on to the origin, with what the cache has for it.
struct Journey: Sendable {
  var request: HTTPTypes.HTTPRequest
  let target: TargetURI
  let stored: StoredVariants
  let selected: Int?
  let reason: HTTPCachePolicy.ForwardReason
  /// Whether the origin is asked about what is stored.
  var asks = true

  var selectedResponse: StoredResponse? { selected.map { stored.responses[$0] } }

  /// What a GET may ask on conditions of its own.
  static let conditions: Set<HTTPField.Name> = [.ifNoneMatch, .ifModifiedSince]

  /// Whether it is a GET of the whole on such conditions.
  var isOnCondition: Bool {
    let fields = request.headerFields
    return request.method == .get && !fields.contains(.range)
      && fields.contains { Self.conditions.contains($0.name) }
  }
}

extension HTTPCache {
  /// Asks the origin, and tells a flight what came of it.
  func forward(
    _ journey: Journey, _ flight: Flights<SharedResponse>.Flight?,
    _ interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPCacheAnswer {
    let key = journey.target.text
    func tell(_ outcome: Flights<SharedResponse>.Outcome) {
      if let flight { flights.tell(key, flight, outcome) }
    }
    var outgoing = journey.request
    let validation =
      journey.asks
      ? policy.validation(of: journey.stored, selected: journey.selected, for: journey.request)
      : HTTPCachePolicy.Validation()
    policy.add(validation, to: &outgoing)
    let completion = ContentCompletion(journey)
    completion?.add(to: &outgoing)
    let ticket = turns.ticket(for: key)
    var isHeld = true
    defer { if isHeld { turns.giveBack(key) } }
    let requestTime = clock.timeSinceEpoch
    var received: HTTPAnswer
    do {
      received = try await origin.send(outgoing, body: HTTPBody(), interim: interim).withFitTrailers
    } catch {
      // What is wrong with an answer need not be wrong with the one for somebody else.
      let isForAll = [.unreachable, .timedOut].contains((error as? CacheError)?.code)
      tell(error is CancellationError ? .abandoned : isForAll ? .unanswered(error) : .alone)
      return try answer(journey, without: error)
    }
    var status = CacheStatus(cache: name, forward: journey.reason)
    if let completion, [206, 416].contains(received.head.status.code) {
      guard let whole = completion.completed(by: received) else {
        var plain = journey
        plain.asks = false
        return try await forward(plain, flight, interim)
      }
      received = whole
      status.forwardStatus = 206
    }
    let responseTime = max(clock.timeSinceEpoch, requestTime)
    let head = cleaned(received.head, at: responseTime)

    if head.status == .notModified, !validation.isEmpty {
      if let confirmed = await confirm(
        journey, head, validation, ticket, requestTime: requestTime, responseTime: responseTime)
      {
        tell(.stored)
        status.forwardStatus = 304
        status.isStored = confirmed.verdict == .kept
        return answer(confirmed.response, to: journey.request, at: clock.timeSinceEpoch, status)
      }
      tell(.alone)
      let own = journey.request.headerFields.combined(.ifNoneMatch).map(EntityTag.list) ?? []
      if let tag = head.headerFields[.eTag].map({ EntityTag($0) }), own.contains(where: { $0.matchesWeakly(tag) }) {
        return HTTPCacheAnswer(head: head.adding(status), body: received.body, status: status)
      }
      var plain = journey
      plain.asks = false
      return try await forward(plain, nil, interim)
    }
    if let failure = HTTPCachePolicy.Failure(head.status),
      let stale = standIn(journey, after: failure, status: head.status.code)
    {
      tell(.failed(head.status.code))
      return stale
    }
    if journey.request.method == .head {
      tell(.alone)
      if journey.selectedResponse?.isHeadOnly == false {
        await note(journey, head, ticket, requestTime: requestTime, responseTime: responseTime)
      } else if let kept = await keepHead(
        journey, head, ticket, requestTime: requestTime, responseTime: responseTime)
      {
        status.isStored = true
        status.timeToLive = timeToLive(kept, at: responseTime)
      }
      return HTTPCacheAnswer(head: head.adding(status), body: received.body, status: status)
    }
    guard
      let kept = keep(received, head, for: journey.request, requestTime: requestTime, responseTime: responseTime)
    else {
      tell(notModified(head, journey, requestTime: requestTime, responseTime: responseTime) ?? .alone)
      if let flight { flights.end(key, flight) }
      await dropOutdated(journey, head, at: responseTime)
      status.detail = explanation(journey) ?? whyNotKept(received, head, for: journey.request, at: responseTime)
      return HTTPCacheAnswer(head: head.adding(status), body: received.body, status: status)
    }
    status.isStored = true
    status.timeToLive = timeToLive(kept, at: responseTime)
    status.detail = explanation(journey)
    isHeld = false
    let (shared, body) = store(received, as: kept, key, ticket, journey.request) { [self] in
      if let flight { flights.end(key, flight) }
    }
    tell(.response(SharedResponse(kept: kept, body: shared)))
    return HTTPCacheAnswer(head: head.adding(status), body: body, status: status)
  }

  /// Begins to read a content, which is stored when it is whole, and gives the ticket back.
  private func store(
    _ received: HTTPAnswer, as kept: StoredResponse, _ key: String, _ ticket: VariantTurns.Ticket,
    _ request: HTTPTypes.HTTPRequest, ended: @escaping @Sendable () -> Void
  ) -> (SharedBody, HTTPBody) {
    let announced = received.head.headerFields[.contentLength].flatMap { Int($0) }
    let shared = SharedBody(length: received.body.length ?? announced, bound: bodyLimit)
    guard let body = shared.join() else { preconditionFailure("nothing was read of it yet") }
    shared.start(received.body) { [self] content, trailers in
      var whole = kept
      whole.body = content
      whole.trailers = trailers
      // A part that is not what it says it is.
      if whole.head.status == .partialContent, whole.part == nil { return }
      whole.settlePart()
      await write(key, ticket) { [whole, policy, bodyLimit] variants in
        variants.add(whole, for: request.headerFields, policy: policy, upTo: bodyLimit)
      }
    } ended: { [self] in
      turns.giveBack(key)
      ended()
    }
    return (shared, body)
  }

  /// What of an answer is kept; `nil` if it passes through.
  private func keep(
    _ received: HTTPAnswer, _ head: HTTPTypes.HTTPResponse, for request: HTTPTypes.HTTPRequest, requestTime: Duration,
    responseTime: Duration
  ) -> StoredResponse? {
    let announced = received.head.headerFields[.contentLength].flatMap { Int($0) }
    guard received.body.isDelimited, announced ?? 0 <= bodyLimit else { return nil }
    return policy.keep(head, for: request, requestTime: requestTime, responseTime: responseTime)
  }

  /// A 304 about what a client has, for others who asked on the same conditions; `nil` if it is for nobody else.
  private func notModified(
    _ head: HTTPTypes.HTTPResponse, _ journey: Journey, requestTime: Duration, responseTime: Duration
  ) -> Flights<SharedResponse>.Outcome? {
    guard head.status == .notModified, journey.isOnCondition else { return nil }
    var whole = head
    whole.status = .ok
    let kept = policy.keep(whole, for: journey.request, requestTime: requestTime, responseTime: responseTime)
    return kept.map { .response(SharedResponse(kept: $0, body: nil)) }
  }

  /// Passes on what no cache answers, forgets what it changes, and keeps what answers a GET as well.
  func pass(
    _ request: HTTPTypes.HTTPRequest, _ body: HTTPBody, _ target: TargetURI, knownAs alias: String?,
    _ reason: HTTPCachePolicy.ForwardReason,
    _ interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPCacheAnswer {
    let key = target.text
    let ticket = turns.ticket(for: key)
    var isHeld = true
    defer { if isHeld { turns.giveBack(key) } }
    let requestTime = clock.timeSinceEpoch
    let received: HTTPAnswer
    do {
      received = try await origin.send(request, body: body, interim: interim).withFitTrailers
    } catch {
      throw failure(error, CacheStatus(cache: name, forward: reason))
    }
    let responseTime = max(clock.timeSinceEpoch, requestTime)
    let head = cleaned(received.head, at: responseTime)
    let changed = policy.invalidated(by: head, to: request.method, at: target, knownAs: alias)
    for uri in changed {
      do {
        try await remove(uri.text)
      } catch {
        report(HTTPCacheFailure(step: .remove, uri: uri.text, error: error))
      }
    }
    var status = CacheStatus(cache: name, forward: reason)
    guard reason == .method,
      let kept = keep(received, head, for: request, requestTime: requestTime, responseTime: responseTime)
    else { return HTTPCacheAnswer(head: head.adding(status), body: received.body, status: status) }
    status.isStored = true
    status.timeToLive = timeToLive(kept, at: responseTime)
    isHeld = false
    let own = ticket.afterOwn(changed.count { $0 == target })
    let (_, content) = store(received, as: kept, key, own, request) {}
    return HTTPCacheAnswer(head: head.adding(status), body: content, status: status)
  }

  func failure(_ error: any Error, _ status: CacheStatus) -> any Error {
    error is CancellationError ? error : ForwardFailure(status: status, error: error)
  }

  /// The answer that a stored response gives.
  func answer(_ response: StoredResponse, to request: HTTPTypes.HTTPRequest, at now: Duration, _ status: CacheStatus)
    -> HTTPCacheAnswer
  {
    var status = status
    status.timeToLive = timeToLive(response, at: now)
    let answer = StoredAnswer(response, to: request, at: now)
    let isWhole = answer.range.count == response.body.count
    let content =
      isWhole ? response.body : response.body.dropFirst(answer.range.lowerBound).prefix(answer.range.count)
    let trailers = isWhole && request.method != .head ? response.trailers : [:]
    return HTTPCacheAnswer(
      head: answer.head.adding(status), body: HTTPBody(content, trailers: trailers), status: status)
  }

  func timeToLive(_ response: StoredResponse, at now: Duration) -> Int? {
    policy.remainingLife(of: response, at: now).map { left in
      let seconds = Int(left.components.seconds)
      return left < .zero && left.components.attoseconds != 0 ? seconds - 1 : seconds
    }
  }

  /// The same by the text of a URI.
  package func remove(_ key: String) async throws {
    turns.invalidate(key)
    // Whoever asks from now on must not join a request answered before.
    flights.detach(key)
    do {
      try await turns.take(key) { [store] in try await store.remove(key) }
      failedRemovals.remove(key)
    } catch {
      failedRemovals.insert(key)
      throw error
    }
  }

  /// Removes what could not be removed when it was to be forgotten, unless something new has been stored since.
  func removeAgain(_ key: String) async {
    do {
      if failedRemovals.areAll {
        // One request tries for all, which ask the origin meanwhile.
        if turns.isSweeping { return }
        return try await removeAll()
      }
      try await turns.take(key) { [store, failedRemovals] in
        guard failedRemovals.contains(key) else { return }
        try await store.remove(key)
        failedRemovals.remove(key)
      }
    } catch {
      if !(error is CancellationError) { report(HTTPCacheFailure(step: .remove, uri: key, error: error)) }
    }
  }

  private func cleaned(_ head: HTTPTypes.HTTPResponse, at time: Duration) -> HTTPTypes.HTTPResponse {
    var head = head.forNextConnection
    if !head.headerFields.contains(.date) { head.headerFields[.date] = HTTPDate(time).description }
    return head
  }

  /// The stored response that stands in for an origin that failed.
  func standIn(
    _ journey: Journey, after failure: HTTPCachePolicy.Failure, status code: Int?, isCollapsed: Bool = false
  ) -> HTTPCacheAnswer? {
    let now = clock.timeSinceEpoch
    guard let selected = journey.selectedResponse,
      policy.mayAnswer(selected, to: journey.request, after: failure, at: now)
    else { return nil }
    var status = CacheStatus(cache: name, forward: journey.reason)
    status.isCollapsed = isCollapsed
    status.forwardStatus = code
    status.detail = failure == .unreachable ? "origin-unreachable" : "origin-error"
    return answer(selected, to: journey.request, at: now, status)
  }

  /// Why a response that looks as if it could be used stale is not.
  private func explanation(_ journey: Journey) -> String? {
    guard journey.reason == .stale, let selected = journey.selectedResponse else { return nil }
    let terms = policy.terms(of: selected)
    return terms.forbidsStale && terms.staleWhileRevalidate > 0 ? "stale-is-forbidden" : nil
  }

  /// Why an answer is not stored; a token.
  private func whyNotKept(
    _ received: HTTPAnswer, _ head: HTTPTypes.HTTPResponse, for request: HTTPTypes.HTTPRequest, at time: Duration
  ) -> String {
    if let refusal = policy.refusal(toStore: head, for: request, receivedAt: time) { return refusal.rawValue }
    return received.body.isDelimited ? "too-long" : "no-length"
  }

  /// Changes what is stored for a URI, unless it was invalidated since; then in another way, or not at all.
  ///
  /// If the level fails to take away or to replace a response, nothing that is stored for the URI answers until it has been removed.
  func write(
    _ key: String, _ ticket: VariantTurns.Ticket?, orElse another: (@Sendable (inout StoredVariants) -> Void)? = nil,
    _ change: @escaping @Sendable (inout StoredVariants) -> Void
  ) async {
    do {
      try await turns.take(key) { [self] in
        let isValid = ticket.map { turns.isValid($0, for: key) } ?? true
        guard let change = isValid ? change : another else { return }
        // Nobody asked for it, so an observer counts no look-up. What cannot be read, or is just being removed, is replaced; if nothing
        // comes in its place it is removed, since it may be what is to be forgotten.
        var before: StoredVariants?
        if !turns.isSweeping, !failedRemovals.contains(key) {
          do {
            let entry = try await store.lookupIncludingExpired(key).entry
            before = entry.flatMap { $0.isStale ? nil : $0.value } ?? StoredVariants()
          } catch { try Task.checkCancellation() }
        }
        var variants = before ?? StoredVariants()
        change(&variants)
        guard variants != before else { return }
        do {
          if variants.responses.isEmpty {
            try await store.remove(key)
          } else {
            let now = clock.timeSinceEpoch
            let lives = variants.responses.map { policy.usefulLife(of: $0, at: now) }
            let life = lives.contains { $0 == nil } ? nil : lives.compactMap(\.self).max()
            try await store.store(
              variants, forKey: key, terms: StoreTerms(expiry: life.map { .after($0) }, cost: variants.cost))
            // An unsafe request that was answered meanwhile waits for its turn, and removes this.
          }
        } catch {
          let isPartial = (error as? CacheError)?.code == .partialFailure
          // What cannot be read either is not known to be outdated by an answer: a level that is away comes back with what it had.
          let areStillGood =
            before.map { $0.responses.allSatisfy { isStillGood($0, beside: variants, isPartial) } }
            ?? (isValid && !variants.responses.isEmpty)
          if !areStillGood { failedRemovals.insert(key) }
          throw error
        }
        failedRemovals.remove(key)
      }
    } catch {
      if !(error is CancellationError) { report(HTTPCacheFailure(step: .write, uri: key, error: error)) }
    }
  }

  /// Whether a stored response may stay in use where these were to be stored in its place.
  ///
  /// One that is stale is asked about again in any case: then it can do without the new fields, if it has just been confirmed, and a part
  /// of the level that has the new ones stays of use.
  private func isStillGood(_ old: StoredResponse, beside new: StoredVariants, _ isPartial: Bool) -> Bool {
    let isStale = policy.remainingLife(of: old, at: clock.timeSinceEpoch) ?? .zero <= .zero
    return new.responses.contains {
      if $0 == old { return true }
      guard isStale else { return false }
      return isPartial ? $0.selecting == old.selecting : $0.isSameRepresentation(as: old) && $0.body == old.body
    }
  }
}

extension HTTPTypes.HTTPResponse {
  func adding(_ status: CacheStatus) -> HTTPTypes.HTTPResponse {
    var head = self
    head.headerFields.append(HTTPField(name: .cacheStatus, value: status.description))
    return head
  }
}
#endif
