import CacheCore

/// Something that carries out HTTP requests.
///
/// ``StandardTransport`` is the platform's own. A transport of your own keeps
/// to these rules, which ``NetworkFetcher`` relies on:
///
/// - The answer is whole: a body that is cut, longer than the limit or framed ambiguously is an error.
/// - Everything together ends within ``TransportRequest/timeout``.
/// - When the task is cancelled the call ends at once with `CancellationError`, and the connection is closed.
/// - It never blocks the thread that it is called on.
public protocol HTTPTransport: Sendable {
  /// Carries out a request and returns the whole answer, whatever its status.
  ///
  /// - Parameter request: What to fetch and within which bounds.
  /// - Returns: The answer, after redirects.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress`, `CacheError.Code.unreachable`,
  ///   `CacheError.Code.timedOut` or `CacheError.Code.invalidResponse`; `CancellationError` if the task was
  ///   cancelled.
  func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// The platform's own transport, whose connections everyone shares: every fetcher that was not given another one, and
/// fetchers of your own.
///
/// ```swift
/// let greeting = try await StandardTransport().send(TransportRequest(url: url))
/// let type = greeting.values(of: "Content-Type").first
/// ```
///
/// This is ``CurlTransport`` on Linux and `URLSessionTransport` on Apple's platforms, macOS included. There is none for other systems yet: every
/// request throws `CacheError` with code `CacheError.Code.unreachable`, and fetchers need a transport of your own.
public struct StandardTransport: HTTPTransport {
  #if canImport(Darwin)
  private static let shared = URLSessionTransport()
  #elseif os(Linux)
  private static let shared = CurlTransport()
  #endif

  /// Names the transport; nothing is opened.
  public init() {}

  /// Carries out a request and returns the whole answer, whatever its status.
  ///
  /// - Parameter request: What to fetch and within which bounds.
  /// - Returns: The answer, after redirects.
  /// - Throws: As ``HTTPTransport/send(_:)`` says.
  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    #if canImport(Darwin) || os(Linux)
    try await Self.shared.send(request)
    #else
    throw CacheError(
      .unreachable,
      "\(try HTTPAddress(request.url).description) cannot be asked: there is no HTTP transport of this library for this "
        + "platform; give the fetcher one of your own")
    #endif
  }
}
