#if HTTP
public import CacheCore
import CacheEngineNetwork
public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cache of HTTP responses over any level, which answers requests by the rules of RFC 9111 and forwards the rest.
///
/// ```swift
/// let memory = MemoryCacheLevel<String, StoredVariants>(capacity: 64 << 20)
/// let cache = HTTPCache(storing: memory, policy: HTTPCachePolicy(.private), origin: TransportOrigin())
/// let request = HTTPRequest(method: .get, scheme: "https", authority: "example.org", path: "/")
/// let answer = try await cache.response(for: request)
/// ```
///
/// The level keeps all responses of a URI under one key. It is read on every request; if it fails, this is reported and it counts as
/// empty. What it fails to remove, or to replace by something newer, answers nothing until it has been removed or replaced, or the process
/// ends; after more than 10,000 such URIs, or a ``removeAll()`` that failed, nothing stored answers before everything has been removed,
/// which requests try again. Simultaneous requests for one URI become one if all of them may share its answer.
public final class HTTPCache<Store: CacheLevel>: Sendable where Store.Key == String, Store.Value == StoredVariants {
  /// The rules by which the cache decides.
  public let policy: HTTPCachePolicy
  /// The level in which responses are stored.
  public let store: Store
  /// The name of the cache in `Cache-Status`.
  public let name: String
  /// The largest content that is stored, in bytes, and the most for one URI together; larger ones pass through without being held in
  /// memory.
  public let bodyLimit: Int
  let clock: any CacheClock
  let origin: any HTTPOrigin
  let report: @Sendable (HTTPCacheFailure) -> Void
  let flights = Flights<SharedResponse>()
  let turns = VariantTurns()
  let failedRemovals = FailedRemovals()
  private let revalidations = Mutex(Revalidations())

  /// A response on its way that others may join.
  struct SharedResponse: Sendable {
    /// Without content.
    let kept: StoredResponse
    /// `nil` for a 304, which speaks of content that those have who asked about it.
    let body: SharedBody?
  }

  private struct Revalidations {
    var nextID = 0
    var tasks: [Int: Task<Void, Never>] = [:]
    var isClosed = false
  }

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - store: The level in which responses are stored, under the text of their URI.
  ///   - policy: The rules by which the cache decides.
  ///   - origin: Where requests go that the cache does not answer.
  ///   - name: The name of the cache in `Cache-Status`; a token that begins with a letter, such as `my-app`.
  ///   - bodyLimit: The largest content that is stored, in bytes, and the most that all variants of a URI come to. Not negative.
  ///   - clock: The clock whose time of day ages are measured by.
  ///   - report: Notified of failures that do not fail a request.
  public init(
    storing store: Store, policy: HTTPCachePolicy, origin: any HTTPOrigin, name: String = "cache-explorer",
    bodyLimit: Int = 8 << 20, clock: any CacheClock = SystemClock(),
    report: @escaping @Sendable (HTTPCacheFailure) -> Void = { _ in }
  ) {
    precondition(bodyLimit >= 0, "a limit is never negative")
    precondition(CacheStatus.isName(name), "the name of a cache is a token such as my-app")
    self.store = store
    self.policy = policy
    self.origin = origin
    self.name = name
    self.bodyLimit = bodyLimit
    self.clock = clock
    self.report = report
  }

  /// Answers a request from the cache, or from the origin.
  ///
  /// - Parameters:
  ///   - request: The request, with scheme, authority and path.
  ///   - body: The content of the request.
  ///   - interim: Notified of the origin's interim responses (1xx).
  /// - Returns: The answer. Its body throws where the origin's breaks off; releasing it closes the connection it comes from.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress` for an invalid target; the origin's error if it did not
  ///   answer and nothing stored may be used instead; `CancellationError` if the task was cancelled.
  public func response(
    for request: HTTPTypes.HTTPRequest, body: HTTPBody = HTTPBody(),
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void = { _ in }
  ) async throws -> HTTPCacheAnswer {
    do {
      return try await answer(request, body, interim)
    } catch let failure as ForwardFailure {
      throw failure.error
    }
  }

  /// As ``response(for:body:interim:)``, but throws a ``ForwardFailure`` where the origin gave no answer.
  ///
  /// `alias`: The authority by which the client knows the origin, if that is another one.
  package func answer(
    _ request: HTTPTypes.HTTPRequest, _ body: HTTPBody, knownAs alias: String? = nil,
    _ interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPCacheAnswer {
    guard let (request, target) = Self.normalized(request) else {
      throw CacheError(
        .invalidAddress,
        "a request needs an http or https address with a host and a path without blanks; mend its target",
        level: name)
    }
    let interim: @Sendable (HTTPTypes.HTTPResponse) async -> Void = { await interim($0.forNextConnection) }
    let isRead = (request.method == .get || request.method == .head) && body.length == 0
    guard isRead else {
      let reason = request.method == .get || request.method == .head ? HTTPCachePolicy.ForwardReason.bypass : .method
      return try await pass(request, body, target, knownAs: alias, reason, interim)
    }
    var mayJoin = Self.mayShare(request.headerFields)
    var variant: SelectingFields?
    while true {
      let endedBefore = flights.endedCount
      let (stored, wasRead) = await stored(target.text)
      let now = clock.timeSinceEpoch
      switch policy.decision(on: request, isSecure: target.scheme == "https", stored: stored, at: now) {
      case .answer(let place):
        return answer(stored.responses[place], to: request, at: now, CacheStatus(cache: name))
      case .answerAndRevalidate(let place):
        revalidate(request, target, stored, place)
        return answer(stored.responses[place], to: request, at: now, CacheStatus(cache: name))
      case .unanswerable:
        return unanswerable(at: now)
      case .forward(let reason, let selected):
        let journey = Journey(
          request: request, target: target, stored: stored, selected: selected, reason: wasRead ? reason : .miss)
        let group = variant ?? stored.group(of: request.headerFields)
        guard mayJoin, let (flight, leads) = flight(for: journey, group) else {
          return try await forward(journey, nil, interim)
        }
        if leads { return try await lead(journey, flight, hasChanged: flights.endedCount != endedBefore, interim) }
        switch try await flight.outcome() {
        case .response(let shared):
          if let answer = try await joined(shared, journey) { return answer }
          // One for others tells by its Vary who can share another one with whom.
          let isForOthers = !shared.kept.selecting.match(request.headerFields)
          mayJoin = isForOthers && variant == nil
          variant = isForOthers ? StoredVariants([shared.kept]).group(of: request.headerFields) : nil
        case .unanswered(let error): return try answer(journey, without: error, isCollapsed: true)
        case .failed(let status):
          if let stale = standIn(journey, after: .serverError, status: status, isCollapsed: true) { return stale }
          mayJoin = false
        case .stored, .alone: mayJoin = false
        case .abandoned: break
        }
      }
    }
  }

  /// Answers a request from what is stored, if that can be done at once, without suspending and without asking anybody.
  ///
  /// - Parameters:
  ///   - request: A request without content and without fields of its connection.
  ///   - target: What it is for.
  ///   - mark: That of the answer that the same request had before.
  /// - Returns: The answer; `nil` if only ``response(for:body:interim:)`` can tell.
  package func immediateAnswer(
    for request: HTTPTypes.HTTPRequest, at target: TargetURI, after mark: AnswerMark? = nil
  ) -> ImmediateAnswer? {
    guard request.method == .get || request.method == .head, !failedRemovals.contains(target.text),
      let stored = store.peek(target.text)
    else { return nil }
    let now = clock.timeSinceEpoch
    let decision = policy.decision(on: request, isSecure: target.scheme == "https", stored: stored, at: now)
    guard case .answer(let place) = decision else { return nil }
    let response = stored.responses[place]
    let new = AnswerMark(response, timeToLive: timeToLive(response, at: now), at: now)
    if let mark, mark == new { return .again(response.body) }
    let answer = answer(response, to: request, at: now, CacheStatus(cache: name))
    let isWhole = answer.head.status == response.head.status && answer.body.bytes?.count == response.body.count
    return .new(answer, isWhole ? new : nil)
  }

  private static func normalized(
    _ request: HTTPTypes.HTTPRequest
  ) -> (HTTPTypes.HTTPRequest, TargetURI)? {
    guard let target = TargetURI(request) else { return nil }
    var request = request
    request.scheme = target.scheme
    request.authority = target.authority
    request.path = target.path
    ConnectionFields.remove(from: &request.headerFields)
    return (request, target)
  }

  /// Removes what is stored for a URI, and prevents responses that are already on their way from being stored.
  ///
  /// - Parameter url: The URI.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress` if it is not an http or https URI; the level's error if
  ///   something may still be there.
  public func remove(_ url: URL) async throws {
    guard let target = TargetURI(HTTPTypes.HTTPRequest(url)) else {
      throw CacheError(.invalidAddress, "only http and https addresses are stored; mend the address", level: name)
    }
    try await remove(target.text)
  }

  /// Removes everything that is stored, and prevents responses that are already on their way from being stored.
  ///
  /// - Throws: The level's error if something may still be there.
  public func removeAll() async throws {
    let changing = turns.beginSweep()
    defer { turns.endSweep() }
    flights.detachAll()
    // What is just being written has to be there before everything goes.
    for key in changing { try await turns.take(key) {} }
    do { try await store.clear() } catch {
      failedRemovals.insertAll()
      throw error
    }
    failedRemovals.removeAll()
  }

  /// Waits until nothing runs in the background that has begun before.
  public func settle() async {
    for task in revalidations.withLock({ Array($0.tasks.values) }) { await task.value }
  }

  /// Ends what runs in the background, and begins nothing new there.
  ///
  /// Requests are answered as before.
  public func close() async {
    let tasks = revalidations.withLock { revalidations in
      revalidations.isClosed = true
      return Array(revalidations.tasks.values)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// Breaks off what is being stored and removed, from now on too, so that no level is waited for.
  package func breakOff() { turns.breakOff() }

  private func stored(_ key: String) async -> (StoredVariants, wasRead: Bool) {
    if failedRemovals.contains(key) {
      await removeAgain(key)
      return (StoredVariants(), true)
    }
    if let stored = store.peek(key) { return (stored, true) }
    do {
      return (try await store.lookup(key).entry?.value ?? StoredVariants(), true)
    } catch {
      if !(error is CancellationError) { report(HTTPCacheFailure(step: .read, uri: key, error: error)) }
      return (StoredVariants(), false)
    }
  }

  /// Asks the origin for all who wait, unless what they want was stored since it was looked for.
  private func lead(
    _ journey: Journey, _ flight: Flights<SharedResponse>.Flight, hasChanged: Bool,
    _ interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPCacheAnswer {
    guard hasChanged else { return try await forward(journey, flight, interim) }
    let (stored, wasRead) = await stored(journey.target.text)
    let now = clock.timeSinceEpoch
    switch policy.decision(
      on: journey.request, isSecure: journey.target.scheme == "https", stored: stored, at: now)
    {
    case .answer(let place), .answerAndRevalidate(let place):
      flights.tell(journey.target.text, flight, .stored)
      return answer(stored.responses[place], to: journey.request, at: now, CacheStatus(cache: name))
    case .unanswerable:
      flights.tell(journey.target.text, flight, .alone)
      return unanswerable(at: now)
    case .forward(let reason, let selected):
      let journey = Journey(
        request: journey.request, target: journey.target, stored: stored, selected: selected,
        reason: wasRead ? reason : .miss)
      return try await forward(journey, flight, interim)
    }
  }

  private func unanswerable(at now: Duration) -> HTTPCacheAnswer {
    var status = CacheStatus(cache: name, forward: .request)
    status.detail = "only-if-cached"
    let head = HTTPTypes.HTTPResponse(
      status: .gatewayTimeout,
      headerFields: [.date: HTTPDate(now).description, .contentLength: "0", .cacheStatus: status.description])
    return HTTPCacheAnswer(head: head, body: HTTPBody(), status: status)
  }

  /// The answer for one who waited for somebody else's request; `nil` if it is not for them.
  private func joined(_ shared: SharedResponse, _ journey: Journey) async throws -> HTTPCacheAnswer? {
    func isForThis() -> Bool {
      policy.decision(
        on: journey.request, isSecure: journey.target.scheme == "https", stored: StoredVariants([shared.kept]),
        at: clock.timeSinceEpoch) == .answer(0)
    }
    guard isForThis() else { return nil }
    var length = shared.body?.length
    if length == nil, journey.request.method == .get, let body = shared.body {
      // What turns out too long to be held would come no faster than its slowest reader takes it.
      length = try await body.arrival()
      guard length != nil, isForThis() else { return nil }
    }
    let now = clock.timeSinceEpoch
    let answer = StoredAnswer(shared.kept, to: journey.request, at: now, size: length)
    let hasContent =
      journey.request.method == .get && [shared.kept.head.status, .partialContent].contains(answer.head.status)
    guard var body = hasContent ? shared.body?.join() : HTTPBody() else { return nil }
    if answer.head.status == .partialContent { body = HTTPBody(answer.range, of: body) }
    var status = CacheStatus(cache: name, forward: journey.reason)
    status.isCollapsed = true
    status.timeToLive = timeToLive(shared.kept, at: now)
    return HTTPCacheAnswer(head: answer.head.adding(status), body: body, status: status)
  }

  /// What a request gets that the origin did not answer: something stale, or the failure.
  func answer(_ journey: Journey, without error: any Error, isCollapsed: Bool = false) throws -> HTTPCacheAnswer {
    if !(error is CancellationError),
      let stale = standIn(journey, after: .unreachable, status: nil, isCollapsed: isCollapsed)
    {
      return stale
    }
    var status = CacheStatus(cache: name, forward: journey.reason)
    status.isCollapsed = isCollapsed
    throw failure(error, status)
  }

  private func revalidate(
    _ request: HTTPTypes.HTTPRequest, _ target: TargetURI, _ stored: StoredVariants, _ place: Int
  ) {
    let (flight, leads) = flights.join(target.text, for: stored.group(of: request.headerFields))
    guard leads else { return }
    var plain = request
    plain.method = .get
    plain.headerFields.remove([.range, .ifRange, .ifNoneMatch, .ifModifiedSince])
    let journey = Journey(request: plain, target: target, stored: stored, selected: place, reason: .stale)
    let isOpen = revalidations.withLock { revalidations in
      guard !revalidations.isClosed else { return false }
      revalidations.nextID += 1
      let id = revalidations.nextID
      revalidations.tasks[id] = Task { [self] in
        do {
          let answer = try await forward(journey, flight) { _ in }
          for try await _ in answer.body {}
        } catch {
          flights.tell(target.text, flight, .alone)
          if !(error is CancellationError) {
            let error = (error as? ForwardFailure)?.error ?? error
            report(HTTPCacheFailure(step: .revalidate, uri: target.text, error: error))
          }
        }
        self.revalidations.withLock { $0.tasks[id] = nil }
      }
      return true
    }
    if !isOpen { flights.tell(target.text, flight, .abandoned) }
  }
}

extension HTTPTypes.HTTPRequest {
  /// A GET of an address, without the user and the fragment in it.
  init(_ url: URL) {
    let text = url.absoluteString.prefix { $0 != "#" }
    let scheme = text.prefix { $0 != ":" }
    let rest = text.dropFirst(scheme.count).drop { $0 == ":" || $0 == "/" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let path = rest[authority.endIndex...]
    self.init(
      method: .get, scheme: String(scheme), authority: String(place),
      path: path.hasPrefix("/") ? String(path) : "/\(path)")
  }
}
#endif
