#if HTTP
public import CacheEngine
import CacheEngineNetwork
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cache of HTTP responses as the lowest level of a stack: it gives contents, and the levels above keep them as long as the
/// server said.
///
/// ```swift
/// let http = HTTPCache(storing: disk, policy: HTTPCachePolicy(.private), origin: TransportOrigin())
/// let pictures = MemoryCacheLevel<URL, Data>(capacity: 1_000).compose(http.fetcher())
/// ```
///
/// An entry's deadline is the end of its freshness. What may not be used unasked expires where it stands: it is delivered, and asked
/// for anew the next time.
public struct HTTPCacheFetcher<Store: CacheLevel>: Fetcher where Store.Key == String, Store.Value == StoredVariants {
  /// The level's name in events and errors.
  public let name: String
  private let cache: HTTPCache<Store>
  private let fields: HTTPFields

  init(_ cache: HTTPCache<Store>, name: String, fields: HTTPFields) {
    self.cache = cache
    self.name = name
    self.fields = fields
  }

  /// As ``lookup(_:)``, without what is known of the content.
  public func get(_ url: URL) async throws -> Data? { try await lookup(url).entry?.value }

  /// Returns the content of an address with the deadline that the server gave it.
  ///
  /// - Parameter url: The address.
  /// - Returns: The entry; never a miss, since an answer without a value is an error.
  /// - Throws: `CacheError` with code `CacheError.Code.status` (and `CacheError.status`) for a status outside 200–299; as
  ///   ``HTTPCache/response(for:body:interim:)`` else.
  public func lookup(_ url: URL) async throws -> Lookup<Data> {
    var request = HTTPTypes.HTTPRequest(url)
    request.headerFields = fields
    // Read first: what is fresh for so long now has been so for a moment already.
    let now = cache.clock.now
    let answer = try await cache.response(for: request)
    let content = try await answer.body.collect(upTo: .max)?.content ?? Data()
    guard answer.head.status.kind == .successful else {
      var error = CacheError(
        .status, "\(request.authority ?? "the server") answered with the status \(answer.head.status.code)",
        level: name)
      error.status = answer.head.status.code
      throw error
    }
    let isKept = answer.status.isHit || answer.status.isStored || answer.status.isCollapsed
    let life = isKept ? max(0, answer.status.timeToLive ?? 0) : 0
    return .hit(Entry(content, deadline: now.advanced(by: .seconds(life)), cost: content.count, level: name))
  }
}

extension HTTPCache {
  /// This cache as a level that gives contents by their address.
  ///
  /// - Parameters:
  ///   - name: The level's name in events and errors.
  ///   - fields: Fields of every request, such as `Accept`. Levels above know the address only: contents must not depend on
  ///     anything else.
  /// - Returns: The level.
  public func fetcher(name: String = "http", fields: HTTPFields = [:]) -> HTTPCacheFetcher<Store> {
    HTTPCacheFetcher(self, name: name, fields: fields)
  }
}
#endif
