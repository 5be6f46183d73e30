#if HTTP
import CacheCore
public import CacheEngineNetwork
public import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The origin that a client's cache asks: any http or https server, over one of the engine's transports.
///
/// It carries out GETs, as the transports do, and takes the answer whole. Redirects are answers: they are cached as such, and
/// following them is up to the caller.
public struct TransportOrigin: HTTPOrigin {
  private let transport: any HTTPTransport
  private let timeout: Duration
  private let connectTimeout: Duration
  private let limits: HTTPLimits

  /// Creates an origin.
  ///
  /// - Parameters:
  ///   - transport: What carries out the requests; `nil` for the platform's own, whose connections everyone shares.
  ///   - timeout: How long one request may take together.
  ///   - connectTimeout: How long connecting may take, including the name look-up.
  ///   - limits: The limits within which an answer is accepted.
  public init(
    transport: (any HTTPTransport)? = nil, timeout: Duration = .seconds(30), connectTimeout: Duration = .seconds(10),
    limits: HTTPLimits = .default
  ) {
    self.transport = transport ?? StandardTransport()
    self.timeout = timeout
    self.connectTimeout = connectTimeout
    self.limits = limits
  }

  /// Sends a GET.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: Has to be empty.
  ///   - interim: Is not called: the transports skip interim responses.
  /// - Returns: The complete answer.
  /// - Throws: `CacheError` as `HTTPTransport.send(_:)`, and with code `CacheError.Code.unsupported` for other methods than GET.
  public func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer {
    guard request.method == .get, body.length == 0 else {
      throw CacheError(
        .unsupported,
        "the engine's transports send GET without content only; send \(request.method) by an origin of your own")
    }
    guard let url = URL(string: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")") else {
      throw CacheError(.invalidAddress, "the request's target is no address; mend scheme, authority or path")
    }
    var plain = TransportRequest(
      url: url, headers: request.headerFields.map { HTTPHeader($0.name.rawName, $0.value) }, timeout: timeout,
      connectTimeout: connectTimeout, limits: limits)
    plain.isVerbatim = true
    let received = try await transport.send(plain)
    guard (200...999).contains(received.status) else {
      throw CacheError(.invalidResponse, "the server answered with the status \(received.status), which is invalid")
    }
    var fields = HTTPFields()
    for header in received.headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      fields.append(HTTPField(name: name, value: header.value))
    }
    return HTTPAnswer(
      head: HTTPTypes.HTTPResponse(status: .init(code: received.status), headerFields: fields),
      body: HTTPBody(received.body))
  }
}
#endif
