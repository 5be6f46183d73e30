#if HTTP
public import CacheCore
import CacheEngineNetwork
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cache of HTTP responses as the lowest level of a stack: it returns contents, and the levels above keep them as long as the
/// server said.
///
/// ```swift
/// let http = HTTPCache(storing: disk, policy: HTTPCachePolicy(.private), origin: TransportOrigin())
/// let pictures = MemoryCacheLevel<URL, Data>(capacity: 64 << 20).compose(http.fetcher())
/// ```
///
/// The deadline of an entry is the end of its freshness, and its validator the `ETag` of the response, or its `Last-Modified`. A
/// response that must be validated before each use expires at once: it is returned, and requested again the next time. One that may
/// not be stored at all (`no-store`) is returned and not copied upwards.
///
/// Levels above that keep expired entries (`keepsExpired`) show them to this one. If the cache itself has nothing for a URL, it asks
/// the origin with the validator of such an entry, and a 304 makes the entry fresh again.
public struct HTTPCacheFetcher<Store: CacheLevel>: Fetcher, RenewingLevel
where Store.Key == String, Store.Value == StoredVariants {
  /// The level's name in events and errors.
  public let name: String
  private let exchange: ContentExchange<Store>
  /// Requests on a condition are not shared by the cache, whose clients may have conditions of their own.
  private let renewals: PooledLevel<ContentExchange<Store>>

  init(_ cache: HTTPCache<Store>, name: String, fields: HTTPFields) {
    self.name = name
    exchange = ContentExchange(cache: cache, name: name, fields: fields)
    renewals = exchange.pooled(name: name)
  }

  /// As ``lookup(_:)``, without what is known about the content.
  ///
  /// - Throws: As ``lookup(_:)``.
  public func get(_ url: URL) async throws -> Data? { try await lookup(url).entry?.value }

  /// Returns the content at a URL with the deadline that the server gave it.
  ///
  /// - Parameter url: The URL.
  /// - Returns: The entry; never a miss, since an answer without a value is an error.
  /// - Throws: `CacheError` with code `CacheError.Code.status` (and `CacheError.status`) for a status outside 200–299, and
  ///   `CacheError.Code.invalidResponse` for a part (206, 226) that no `Range` asked for; otherwise as
  ///   ``HTTPCache/response(for:body:interim:)``.
  public func lookup(_ url: URL) async throws -> Lookup<Data> { try await exchange.lookup(url) }

  /// Returns the content at a URL, or the content of an expired entry if it has not changed since.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - old: The expired entry that a level above has kept.
  /// - Returns: The entry, with a new deadline.
  /// - Throws: As ``lookup(_:)``.
  public func lookup(_ url: URL, renewing old: Entry<Data>) async throws -> Lookup<Data> {
    guard old.validator != nil, await !exchange.isHeld(url) else { return try await exchange.lookup(url) }
    return try await renewals.lookup(url, renewing: old)
  }
}

/// One exchange with the cache for the content of an address.
struct ContentExchange<Store: CacheLevel>: Fetcher, RenewingLevel
where Store.Key == String, Store.Value == StoredVariants {
  let cache: HTTPCache<Store>
  let name: String
  let fields: HTTPFields

  func get(_ url: URL) async throws -> Data? { try await lookup(url).entry?.value }

  func lookup(_ url: URL) async throws -> Lookup<Data> { try await ask(url, with: nil) }

  func lookup(_ url: URL, renewing old: Entry<Data>) async throws -> Lookup<Data> { try await ask(url, with: old) }

  /// Whether the cache holds something of an address, which it asks about by itself.
  func isHeld(_ url: URL) async -> Bool {
    guard let target = TargetURI(HTTPTypes.HTTPRequest(url)), !cache.failedRemovals.contains(target.text) else {
      return false
    }
    // A store that cannot be read is no help; the cache will tell of it.
    return (try? await cache.store.lookupIncludingExpired(target.text).entry?.value.responses.isEmpty) == false
  }

  private func ask(_ url: URL, with old: Entry<Data>?) async throws -> Lookup<Data> {
    var request = HTTPTypes.HTTPRequest(url)
    request.headerFields = fields
    if let validator = old?.validator {
      // A date has blanks; a tag has quotation marks, which some servers leave out.
      let isDate = validator.utf8.contains(UInt8(ascii: " ")) && !validator.utf8.contains(UInt8(ascii: "\""))
      request.headerFields[isDate ? .ifModifiedSince : .ifNoneMatch] = validator
    }
    // Read before the answer: what is fresh for this long now was fresh a moment ago too.
    let (now, requestTime) = (cache.clock.now, cache.clock.timeSinceEpoch)
    let answer = try await cache.response(for: request)
    let content = try await answer.body.collect(upTo: .max)?.content ?? Data()
    if answer.head.status == .notModified, let old {
      return .hit(confirmed(old, answer.head, request, asked: now, requestTime))
    }
    let status = answer.head.status
    let isPart = status.kind == .successful && fields.contains(.range)
    let place: String = (request.authority ?? "") + (request.path ?? "").prefix { $0 != "?" }
    if !isPart, var failure = NetworkStatus.failure(status.code, at: place) {
      failure.level = name
      throw failure
    }
    let isKept = answer.status.isHit || answer.status.isStored || answer.status.isCollapsed
    let terms = ResponseTerms(answer.head, policy: cache.policy, receivedAt: requestTime)
    let life = isKept && !terms.mustBeValidated ? max(0, answer.status.timeToLive ?? 0) : 0
    var entry = Entry(content, deadline: now.advanced(by: .seconds(life)), cost: content.count, level: name)
    entry.isPlaceholder = terms.forbidsStoring
    entry.validator = Self.validator(of: answer.head)
    return .hit(entry)
  }

  /// The kept entry with the deadline that a 304 gives it.
  private func confirmed(
    _ old: Entry<Data>, _ head: HTTPTypes.HTTPResponse, _ request: HTTPTypes.HTTPRequest, asked now: CacheInstant,
    _ requestTime: Duration
  ) -> Entry<Data> {
    var entry = Entry(old.value, deadline: now, cost: old.cost ?? old.value.count, level: name)
    entry.tags = old.tags
    entry.validator = Self.validator(of: head) ?? old.validator
    let responseTime = max(cache.clock.timeSinceEpoch, requestTime)
    if head.headerFields[.cacheControl] == nil, head.headerFields[.expires] == nil {
      // What the server has said of it still holds: RFC 9111, section 3.2.
      let life = old.created.flatMap { created in old.deadline.map { created.duration(to: $0) } } ?? .zero
      entry.deadline = now.advanced(by: max(.zero, life))
      return entry
    }
    var fresh = head
    fresh.status = .ok
    let response = StoredResponse(head: fresh, requestTime: requestTime, responseTime: responseTime)
    let terms = cache.policy.terms(of: response)
    entry.isPlaceholder = terms.forbidsStoring
    let refusal = cache.policy.refusal(toStore: fresh, for: request, receivedAt: responseTime)
    guard refusal == nil || refusal == .useless, !terms.mustBeValidated else { return entry }
    entry.deadline = now.advanced(
      by: max(.zero, cache.policy.remainingLife(of: response, at: responseTime) ?? .zero))
    return entry
  }

  private static func validator(of head: HTTPTypes.HTTPResponse) -> String? {
    head.headerFields[.eTag] ?? head.headerFields[.lastModified]
  }
}

extension HTTPCache {
  /// Returns this cache as a level of contents by their URL.
  ///
  /// - Parameters:
  ///   - name: The level's name in events and errors.
  ///   - fields: Fields of every request, such as `Accept`. Levels above know only the URL: contents must not depend on
  ///     anything else.
  /// - Returns: The level.
  public func fetcher(name: String = "http", fields: HTTPFields = [:]) -> HTTPCacheFetcher<Store> {
    HTTPCacheFetcher(self, name: name, fields: fields)
  }
}
#endif
