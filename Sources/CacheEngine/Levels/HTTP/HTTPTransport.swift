/// Something that carries out HTTP requests.
///
/// ``CurlTransport`` does so on Linux and ``URLSessionTransport`` on Apple platforms. A transport of your own keeps
/// to these rules, which ``NetworkFetcher`` relies on:
///
/// - The answer is whole: a body that is cut, longer than the limit or framed ambiguously is an error.
/// - Everything together ends within ``HTTPRequest/timeout``.
/// - When the task is cancelled the call ends at once with `CancellationError`, and the connection is closed.
/// - It never blocks the thread that it is called on.
public protocol HTTPTransport: Sendable {
  /// Carries out a request and returns the whole answer, whatever its status.
  ///
  /// - Parameter request: What to fetch and within which bounds.
  /// - Returns: The answer, after redirects.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/invalidAddress``, ``CacheError/Code/unreachable``,
  ///   ``CacheError/Code/timedOut`` or ``CacheError/Code/invalidResponse``; `CancellationError` if the task was
  ///   cancelled.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// The transport of every fetcher that was not given one: they share its connections.
enum StandardTransport {
  #if canImport(Darwin)
    static let shared: any HTTPTransport = URLSessionTransport()
  #else
    static let shared: any HTTPTransport = CurlTransport()
  #endif
}
