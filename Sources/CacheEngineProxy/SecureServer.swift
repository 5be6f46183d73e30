#if Proxy
import CacheCore
import CacheEngineHTTP
import CacheEngineNetwork
import HTTPTypes
import Synchronization

/// One https server: exchanges over libcurl, which verifies its certificate.
final class SecureServer: Sendable {
  #if os(Linux) || os(macOS)
  private let transport: StreamTransport
  private let authorities: String?
  private let connectTimeout: Duration
  private let answerTimeout: Duration
  private let idleTime: Duration

  /// Names the server; nothing is connected yet.
  ///
  /// - Throws: `CacheError` with code `invalidAddress`.
  init(
    authority: String, authorities: String?, connectTimeout: Duration, answerTimeout: Duration, idleTime: Duration
  ) throws {
    transport = try StreamTransport(scheme: "https", authority: authority)
    self.authorities = authorities
    self.connectTimeout = connectTimeout
    self.answerTimeout = answerTimeout
    self.idleTime = idleTime
  }

  func send(
    _ request: HTTPTypes.HTTPRequest, as authority: String, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer {
    var (request, body) = (request, body)
    if request.method == .head {
      // Content means nothing with it (RFC 9110, section 9.3.2), and libcurl, having sent some, waits for some of the answer.
      request.headerFields[.contentLength] = nil
      body = HTTPBody()
    }
    let exchange = Exchange(try transport.begin(outgoing(request, authority, body)))
    let stream = exchange.stream
    if body.length != 0 { exchange.upload(body) }
    while true {
      let head = try await stream.nextHead()
      let answer = try Self.response(head)
      guard head.isInterim else {
        let body = HTTPBody(length: head.length, isDelimited: head.isDelimited) { try await exchange.next() }
        guard head.length == 0 || request.method == .head || [204, 304].contains(head.status) else {
          return HTTPAnswer(head: answer, body: body)
        }
        guard try await stream.nextPart() == nil else {
          throw CacheError(.invalidResponse, "the origin sent content where there must be none")
        }
        return HTTPAnswer(head: answer)
      }
      if head.status != 100 { await interim(answer) }
    }
  }

  private func outgoing(_ request: HTTPTypes.HTTPRequest, _ authority: String, _ body: HTTPBody) -> StreamRequest {
    var headers = [HTTPHeader("Host", request.authority ?? authority)]
    for field in request.headerFields where body.length == 0 || field.name != .contentLength {
      headers.append(HTTPHeader(field.name.rawName, field.latin1))
    }
    return StreamRequest(
      method: request.method.rawValue, target: request.path ?? "/", headers: headers, contentLength: body.length,
      authorities: authorities, connectTimeout: connectTimeout, patience: answerTimeout, idleTime: idleTime)
  }

  private static func response(_ head: CurlStream.Head) throws -> HTTPTypes.HTTPResponse {
    guard head.status >= 100, head.status != 101 else {
      throw CacheError(
        .invalidResponse,
        head.status == 101
          ? "the origin switches to a protocol that it was not asked for"
          : "the origin answers with the status \(head.status), which is invalid")
    }
    return HTTPTypes.HTTPResponse(
      status: .init(code: head.status, reasonPhrase: head.reason), headerFields: fields(head.headers))
  }

  private static func fields(_ headers: [HTTPHeader]) -> HTTPFields {
    var fields = HTTPFields()
    fields.reserveCapacity(headers.count)
    for header in headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      fields.append(HTTPField(name: name, latin1: header.value))
    }
    return fields
  }

  /// Breaks an exchange off when its last holder releases it.
  private final class Exchange: Sendable {
    let stream: CurlStream
    private let state = Mutex((upload: nil as Task<Void, Never>?, hasEnded: false))

    init(_ stream: CurlStream) { self.stream = stream }

    deinit {
      state.withLock { $0.upload }?.cancel()
      stream.cancel()
    }

    /// Sends the request's content, while the answer may already come.
    func upload(_ body: HTTPBody) {
      let task = Task { [stream] in
        do {
          for try await case .bytes(let part) in body {
            guard try await stream.put(part) else { return }
          }
          stream.endContent()
        } catch {
          stream.cancel(error)
        }
      }
      state.withLock { $0.upload = task }
    }

    func next() async throws -> HTTPBody.Part? {
      guard !state.withLock({ $0.hasEnded }) else { return nil }
      if let bytes = try await stream.nextPart() { return .bytes(bytes) }
      state.withLock { $0.hasEnded = true }
      let trailers = SecureServer.fields(stream.trailingHeaders)
      return trailers.isEmpty ? nil : .trailers(trailers)
    }
  }
  #else
  /// There is none on this platform.
  ///
  /// - Throws: `CacheError` with code `unsupported`.
  init(
    authority: String, authorities: String?, connectTimeout: Duration, answerTimeout: Duration, idleTime: Duration
  ) throws {
    throw CacheError(
      .unsupported,
      "https servers are asked through libcurl, on Linux and macOS only; put what ends TLS before \(authority)")
  }

  func send(
    _ request: HTTPTypes.HTTPRequest, as authority: String, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer {
    preconditionFailure("there is no such server on this platform")
  }
  #endif
}
#endif
