import CacheCore
#if os(Linux) || os(macOS)
/// What is asked of one server, with content that may come in parts.
package struct StreamRequest: Sendable {
  package var method: String
  /// As it stands in the request line.
  package var target: String
  /// All fields but those that say where the content ends; each byte of a value is a character, as in ISO 8859-1.
  package var headers: [HTTPHeader]
  /// How many bytes of content there will be; `nil` if that is not known.
  package var contentLength: Int?
  /// A file of certificates to trust in place of the system's.
  package var authorities: String?
  package var connectTimeout: Duration
  /// How long the server may send nothing while it has to, and take nothing.
  package var patience: Duration
  /// How long a connection may have been idle that is used again.
  package var idleTime: Duration
  package var limits = HTTPLimits()
  /// How many bytes of an answer are held at least before the server has to wait.
  package var buffer = 128 << 10

  package init(
    method: String, target: String, headers: [HTTPHeader], contentLength: Int?, authorities: String?,
    connectTimeout: Duration, patience: Duration, idleTime: Duration
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.contentLength = contentLength
    self.authorities = authorities
    // A year: beyond that, adding to an instant could overflow.
    self.connectTimeout = min(connectTimeout, .seconds(31_536_000))
    self.patience = min(patience, .seconds(31_536_000))
    self.idleTime = idleTime
  }
}

/// Exchanges with one server whose content streams, over libcurl and connections that are kept.
package final class StreamTransport: Sendable {
  private let address: HTTPAddress
  private let loop: CurlLoop

  /// Names the server; nothing is connected yet.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress`.
  package init(scheme: String, authority: String) throws {
    address = try HTTPAddress(text: "\(scheme)://\(authority)/")
    loop = CurlLoop(transfers: 4096, transfersPerOrigin: 4096, keptConnections: 256)
  }

  deinit {
    loop.stop()
  }

  /// Begins an exchange.
  ///
  /// Who releases it before its end has to cancel it.
  package func begin(_ request: StreamRequest) throws -> CurlStream {
    guard request.headers.allSatisfy(\.isWellFormed) else {
      throw CacheError(.invalidAddress, "a header field is malformed; mend its name or value")
    }
    let stream = CurlStream(request, address: address, loop: loop)
    loop.submit(stream)
    return stream
  }
}
#endif
