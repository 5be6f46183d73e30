public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A level that fetches values over HTTP.
///
/// It holds nothing itself: put cache levels above it.
///
/// ```swift
/// let network = try NetworkFetcher(template: "https://example.org/avatars/{key}.png")
/// let avatars = MemoryCacheLevel<String, Data>(capacity: 64 << 20).compose(network)
/// ```
///
/// Only a whole body with a status of 200–299 is a value. Every other answer is an error, a 404 too, so that nothing
/// is stored above for it. What cannot be trusted is an error as well: a body that is shorter than announced, that
/// announces two lengths or a length and chunks, that has neither, that came encoded or in part without being asked
/// for. There is one attempt for each look-up; nothing is tried again by itself. The server's caching headers are
/// not interpreted: the levels above decide how long a value lives.
public struct NetworkFetcher<Key: Hashable & Sendable>: Fetcher {
  /// The level's name in events and errors.
  public let name: String
  /// How long one look-up may take together.
  public let timeout: Duration
  /// How long connecting may take, including the name look-up.
  public let connectTimeout: Duration
  /// The limits within which an answer is accepted.
  public let limits: HTTPLimits

  private let headers: [HTTPHeader]
  private let transport: any HTTPTransport
  private let url: @Sendable (Key) throws -> URL

  /// Creates a fetcher that finds the address of a key by a closure.
  ///
  /// - Parameters:
  ///   - name: The level's name in events and errors.
  ///   - timeout: How long one look-up may take together, redirects included.
  ///   - connectTimeout: How long connecting may take, including the name look-up.
  ///   - limits: The limits within which an answer is accepted.
  ///   - headers: Header fields to send. On a redirect to another origin, only `Accept`, `Accept-Encoding`,
  ///     `Accept-Language` and `User-Agent` go along.
  ///   - transport: What carries out the requests; `nil` for the platform's own, whose connections all fetchers share.
  ///   - url: The http or https address of a key. User and password in it are sent as an `Authorization` field, to
  ///     its origin only.
  public init(
    name: String = "network", timeout: Duration = .seconds(30), connectTimeout: Duration = .seconds(10),
    limits: HTTPLimits = .default, headers: [HTTPHeader] = [], transport: (any HTTPTransport)? = nil,
    url: @escaping @Sendable (Key) throws -> URL
  ) {
    self.name = name
    self.timeout = timeout
    self.connectTimeout = connectTimeout
    self.limits = limits
    self.headers = headers
    self.transport = transport ?? StandardTransport()
    self.url = url
  }

  /// Fetches the value of a key.
  ///
  /// - Parameter key: The key whose address is asked.
  /// - Returns: The body; never `nil`, since an answer without a value is an error.
  /// - Throws: `CacheError` with code `CacheError.Code.status` (and `CacheError.status`) for a status outside
  ///   200–299, `CacheError.Code.invalidResponse` for an answer that cannot be trusted,
  ///   `CacheError.Code.unreachable`, `CacheError.Code.timedOut` or `CacheError.Code.invalidAddress`;
  ///   `CancellationError` if the task was cancelled; and what the closure for the address throws.
  public func get(_ key: Key) async throws -> Data? {
    try await lookup(key).entry?.value
  }

  /// Fetches the value of a key, with its size in bytes as its cost.
  ///
  /// - Parameter key: The key whose address is asked.
  /// - Returns: The entry; never a miss, since an answer without a value is an error.
  /// - Throws: As ``get(_:)``.
  public func lookup(_ key: Key) async throws -> Lookup<Data> {
    let body = try await response(for: key).body
    return .hit(Entry(body, cost: body.count, level: name))
  }

  /// Fetches the value of a key with the header fields that came with it.
  ///
  /// ```swift
  /// let types = BasicFetcher { try await network.response(for: $0).values(of: "Content-Type").first }
  /// ```
  ///
  /// - Parameter key: The key whose address is asked.
  /// - Returns: The whole answer, with a status of 200–299.
  /// - Throws: As ``get(_:)``.
  public func response(for key: Key) async throws -> TransportResponse {
    try Task.checkCancellation()
    do {
      let url = try url(key)
      let address = try HTTPAddress(url)
      let request = TransportRequest(
        url: url, headers: headers, timeout: timeout, connectTimeout: connectTimeout, limits: limits)
      let response = try await transport.send(request)
      if let failure = NetworkStatus.failure(response.status, at: address.description) { throw failure }
      return response
    } catch var error as CacheError {
      if error.level == nil { error.level = name }
      throw error
    }
  }
}

extension NetworkFetcher where Key == URL {
  /// Creates a fetcher whose keys are addresses.
  ///
  /// - Parameters:
  ///   - name: The level's name in events and errors.
  ///   - timeout: How long one look-up may take together, redirects included.
  ///   - connectTimeout: How long connecting may take, including the name look-up.
  ///   - limits: The limits within which an answer is accepted.
  ///   - headers: Header fields to send. They go to every address asked for: give credentials only if all keys
  ///     belong to one origin.
  ///   - transport: What carries out the requests; `nil` for the platform's own, whose connections all fetchers share.
  public init(
    name: String = "network", timeout: Duration = .seconds(30), connectTimeout: Duration = .seconds(10),
    limits: HTTPLimits = .default, headers: [HTTPHeader] = [], transport: (any HTTPTransport)? = nil
  ) {
    self.init(
      name: name, timeout: timeout, connectTimeout: connectTimeout, limits: limits, headers: headers,
      transport: transport, url: { $0 })
  }
}

extension NetworkFetcher where Key == String {
  /// Creates a fetcher that finds the address of a key by a template.
  ///
  /// `{key}` stands for the key as one path segment or as a part of one: every byte except letters, digits and `-._~`
  /// is percent-encoded, including the slash. `{+key}` stands for the key as a path of its own: slashes stay. Either may
  /// also be in the query. However odd a key is, it can change neither scheme nor host, and it cannot leave the
  /// template's path: a key that would be empty, or that has `.` or `..` between slashes, is refused
  /// with `CacheError.Code.invalidAddress` when it is looked up. Keys that are equal as strings have one address.
  ///
  /// - Parameters:
  ///   - template: As `"https://example.org/avatars/{key}.png"`.
  ///   - name: The level's name in events and errors.
  ///   - timeout: How long one look-up may take together, redirects included.
  ///   - connectTimeout: How long connecting may take, including the name look-up.
  ///   - limits: The limits within which an answer is accepted.
  ///   - headers: Header fields to send.
  ///   - transport: What carries out the requests; `nil` for the platform's own, whose connections all fetchers share.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress` if the template is not an http or https
  ///   address with `{key}` or `{+key}` behind its host.
  public init(
    template: String, name: String = "network", timeout: Duration = .seconds(30),
    connectTimeout: Duration = .seconds(10), limits: HTTPLimits = .default, headers: [HTTPHeader] = [],
    transport: (any HTTPTransport)? = nil
  ) throws {
    let template = try NetworkTemplate(template)
    self.init(
      name: name, timeout: timeout, connectTimeout: connectTimeout, limits: limits, headers: headers,
      transport: transport, url: { try template.url(for: $0) })
  }
}

extension NetworkFetcher: ShapedLevel { package var shape: LevelShape { .leaf(kind: "network") } }
