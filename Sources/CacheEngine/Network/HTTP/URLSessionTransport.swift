import CacheCore
#if canImport(Darwin)
import Foundation

/// Carries out HTTP requests with a `URLSession` that stores no cookies, credentials or answers.
///
/// `URLSession` has no time limit for connecting alone and does not show how a body was framed: the total deadline
/// replaces the former, and its own checks the latter. If you ask for an encoding, it decodes the body.
public final class URLSessionTransport: HTTPTransport {
  private let session: URLSession

  /// Creates a transport with connections of its own.
  ///
  /// - Parameter transfersPerOrigin: How many connections there are to one host at a time. At least 1.
  public init(transfersPerOrigin: Int = 64) {
    precondition(transfersPerOrigin >= 1, "a transport that runs no transfers would never answer")
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCredentialStorage = nil
    configuration.httpMaximumConnectionsPerHost = transfersPerOrigin
    session = URLSession(configuration: configuration)
  }

  deinit {
    session.finishTasksAndInvalidate()
  }

  /// Carries out a request and returns the whole answer, whatever its status.
  ///
  /// - Parameter request: What to fetch and within which bounds.
  /// - Returns: The answer, after redirects.
  /// - Throws: As ``HTTPTransport/send(_:)`` says.
  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    let exchange = URLSessionExchange(request, address: try HTTPAddress(request.url))
    let task = session.dataTask(with: try URLSessionExchange.urlRequest(for: request))
    task.delegate = exchange
    // A year: beyond that, adding to an instant could overflow.
    let timeout = min(request.timeout, .seconds(31_536_000))
    let deadline = Task {
      try await Task.sleep(for: timeout)
      exchange.timeOut()
      task.cancel()
    }
    defer { deadline.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if exchange.reply.await(continuation) { task.resume() }
      }
    } onCancel: {
      exchange.reply.give(.failure(CancellationError()))
      task.cancel()
    }
  }
}
#endif
