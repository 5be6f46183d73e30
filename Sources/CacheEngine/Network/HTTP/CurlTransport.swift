import CacheCore
#if os(Linux) || os(macOS)
/// Carries out HTTP requests with libcurl, on Linux and macOS.
///
/// All transfers of one transport run on one thread of its own, which starts with the first request; nothing ever
/// blocks on Swift's threads. Connections are kept and used again. A transfer beyond
/// the bound waits its turn, and its deadline goes on.
///
/// Proxies are taken from the environment (`http_proxy`, `https_proxy`, `no_proxy`). Cookies are neither kept nor
/// sent. A body comes as it was sent: if you ask for an encoding, decoding it is up to you.
public final class CurlTransport: HTTPTransport {
  private let loop: CurlLoop

  /// Creates a transport with connections of its own.
  ///
  /// - Parameters:
  ///   - transfers: How many transfers run at a time. At least 1.
  ///   - transfersPerOrigin: How many of them run to one origin (scheme, host and port), so that a server that
  ///     stalls does not hold up the others. At least 1.
  public init(transfers: Int = 256, transfersPerOrigin: Int = 64) {
    precondition(min(transfers, transfersPerOrigin) >= 1, "a transport that runs no transfers would never answer")
    loop = CurlLoop(transfers: transfers, transfersPerOrigin: transfersPerOrigin)
  }

  deinit {
    loop.stop()
  }

  /// Carries out a request and returns the whole answer, whatever its status.
  ///
  /// - Parameter request: What to fetch and within which bounds.
  /// - Returns: The answer, after redirects.
  /// - Throws: As ``HTTPTransport/send(_:)`` says.
  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    // A year: beyond that, adding to an instant could overflow.
    let deadline = ContinuousClock.now.advanced(by: min(request.timeout, .seconds(31_536_000)))
    var redirect = HTTPRedirect()
    var request = request
    while true {
      let response = try await exchange(request, deadline: deadline)
      guard !request.isVerbatim, let next = try redirect.next(after: response, to: request) else { return response }
      request = next
    }
  }

  /// One request and its answer, redirects not followed.
  private func exchange(_ request: TransportRequest, deadline: ContinuousClock.Instant) async throws
    -> TransportResponse
  {
    let transfer = CurlTransfer(request, address: try HTTPAddress(request.url), deadline: deadline)
    let loop = loop
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if transfer.reply.await(continuation) { loop.submit(transfer) }
      }
    } onCancel: {
      // The caller returns now; the loop then finds that nobody waits and closes the connection.
      transfer.reply.give(.failure(CancellationError()))
      loop.look(at: transfer)
    }
  }
}
#endif
