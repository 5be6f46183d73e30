#if Proxy
import CacheCore
public import CacheEngineHTTP
import CacheEngineNetwork
public import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One http or https server as an origin, with streaming in both directions and persistent connections.
public final class ServerOrigin: HTTPOrigin {
  /// The server's name or address.
  public let host: String
  /// The server's port.
  public let port: Int
  private let connectTimeout: Duration
  private let answerTimeout: Duration
  private let idleTime: Duration
  private let secure: SecureServer?
  private let idle = Mutex<[(connection: OriginConnection, since: ContinuousClock.Instant)]>([])

  /// `http` or `https`.
  public var scheme: String { secure == nil ? "http" : "https" }

  /// The authority of the origin: its host, and its port if that is not the default of its scheme.
  public let authority: String

  /// Creates an http origin; nothing is connected yet.
  ///
  /// - Parameters:
  ///   - host: The server's name or address.
  ///   - port: The server's port.
  ///   - connectTimeout: How long connecting may take.
  ///   - answerTimeout: How long to wait for the head of an answer, and for each part of its body.
  ///   - idleTime: How long a connection is kept for the next request; shorter than the server keeps it.
  public init(
    host: String, port: Int, connectTimeout: Duration = .seconds(5), answerTimeout: Duration = .seconds(60),
    idleTime: Duration = .seconds(4)
  ) {
    self.host = host
    self.port = port
    self.connectTimeout = connectTimeout
    self.answerTimeout = answerTimeout
    self.idleTime = idleTime
    authority = Self.authority(host, port, standard: 80)
    secure = nil
  }

  /// Creates an https origin; nothing is connected yet.
  ///
  /// It is asked through libcurl, in HTTP/1.1. Its certificate has to be valid for the host and signed by an authority that the system
  /// trusts or, if a file is given, by one of those in the file; otherwise requests fail.
  ///
  /// - Parameters:
  ///   - host: The server's name or address.
  ///   - port: The server's port.
  ///   - authorities: A file of certificates (PEM) that are trusted instead of the system's. Apple's libcurl, on macOS, trusts those
  ///     of the system as well.
  ///   - connectTimeout: How long connecting may take, including TLS.
  ///   - answerTimeout: How long to wait for the head of an answer, and for each part of its body.
  ///   - idleTime: How long a connection is kept for the next request, in whole seconds; shorter than the server keeps it.
  /// - Throws: `CacheError` with code `invalidAddress` for an invalid host or port, `invalidSetting` for a file without
  ///   certificates, and `unsupported` on systems other than Linux and macOS.
  public init(
    secureHost host: String, port: Int = 443, authorities: String? = nil, connectTimeout: Duration = .seconds(5),
    answerTimeout: Duration = .seconds(60), idleTime: Duration = .seconds(4)
  ) throws {
    self.host = host
    self.port = port
    self.connectTimeout = connectTimeout
    self.answerTimeout = answerTimeout
    self.idleTime = idleTime
    authority = Self.authority(host, port, standard: 443)
    if let authorities { try Self.checkAuthorities(authorities) }
    secure = try SecureServer(
      authority: authority, authorities: authorities, connectTimeout: connectTimeout, answerTimeout: answerTimeout,
      idleTime: idleTime)
  }

  static func authority(_ host: String, _ port: Int, standard: Int? = nil) -> String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == standard ? name : "\(name):\(port)"
  }

  private static func checkAuthorities(_ file: String) throws {
    do {
      let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
      guard text.contains("-----BEGIN CERTIFICATE-----") else {
        throw CacheError(.invalidSetting, "\(file) has no certificates; give a file in PEM")
      }
    } catch let error as CacheError {
      throw error
    } catch {
      throw CacheError(.invalidSetting, "\(file) cannot be read; give a file of certificates in PEM", underlying: error)
    }
  }

  deinit {
    for (connection, _) in idle.withLock({ $0 }) { connection.close() }
  }

  /// The idempotent methods: RFC 9110, section 9.2.2.
  private static let repeatable: Set<HTTPTypes.HTTPRequest.Method> = [.get, .head, .options, .trace, .put, .delete]

  /// Sends a request.
  ///
  /// An idempotent request without content is sent once more if the server closed a persistent connection instead of answering; any
  /// request goes over another connection if nothing of it was sent over that one.
  ///
  /// - Parameters:
  ///   - request: The request; it goes to this server, whatever its authority is.
  ///   - body: The content to send with it, part by part.
  ///   - interim: Notified of every interim response but 100 and 101.
  /// - Returns: The final answer, as soon as its head is there.
  /// - Throws: `CacheError` with code `unreachable`, `timedOut` or `invalidResponse`; `CancellationError`.
  public func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer {
    if let secure { return try await secure.send(request, as: authority, body: body, interim: interim) }
    var (exchange, part) = try await begin(request, body)
    var interimAnswers = 0
    while case .head(let head)? = part {
      let answer = try Self.response(head)
      guard head.status.code < 200 else { return try await self.answer(answer, head, to: request, exchange) }
      interimAnswers += 1
      try Self.checkInterim(Int(head.status.code), interimAnswers)
      if head.status.code != 100 { await interim(answer) }
      part = try await exchange.connection.next(within: answerTimeout)
    }
    throw CacheError(.invalidResponse, "the origin sent a body without a head")
  }

  /// Sends a request over a kept connection if there is one, and waits for the first part of the answer.
  private func begin(
    _ request: HTTPTypes.HTTPRequest, _ body: HTTPBody
  ) async throws -> (Exchange, HTTPClientResponsePart?) {
    if let kept = keptConnection() {
      do {
        return try await begin(request, body, over: kept)
      } catch is OriginConnection.NotBegun {
        // It ended, or brought what nobody had asked for, just before.
      } catch let error as CacheError
        where error.underlying as? OriginFault == .terminated && body.length == 0
        && Self.repeatable.contains(request.method)
      {
        // It was ended before the request had come there, most likely.
      }
    }
    do {
      return try await begin(request, body, over: try await connect())
    } catch let fault as OriginConnection.NotBegun {
      throw fault.why
    }
  }

  private func begin(
    _ request: HTTPTypes.HTTPRequest, _ body: HTTPBody, over connection: OriginConnection
  ) async throws -> (Exchange, HTTPClientResponsePart?) {
    let exchange = Exchange(connection)
    try await connection.send([.head(head(of: request, body))] + (body.length == 0 ? [.end(nil)] : []), beginning: true)
    if body.length != 0 { exchange.upload(body) }
    return (exchange, try await connection.next(within: answerTimeout))
  }

  /// Whether an interim answer may be followed by another one.
  private static func checkInterim(_ status: Int, _ count: Int) throws {
    guard status != 101 else {
      throw CacheError(.invalidResponse, "the origin switches to a protocol that it was not asked for")
    }
    guard count <= 64 else {
      throw CacheError(.invalidResponse, "the origin sends interim answers (1xx) and no other; mend it")
    }
  }

  private func head(of request: HTTPTypes.HTTPRequest, _ body: HTTPBody) -> HTTPRequestHead {
    var headers = HTTPHeaders([("Host", request.authority ?? authority)])
    for field in request.headerFields { headers.add(name: field.name.rawName, value: field.latin1) }
    if body.length != 0, !request.headerFields.contains(.contentLength) {
      if let length = body.length {
        headers.add(name: "Content-Length", value: String(length))
      } else {
        headers.add(name: "Transfer-Encoding", value: "chunked")
      }
    }
    return HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: request.method.rawValue), uri: request.path ?? "/",
      headers: headers)
  }

  /// The answer whose head has come; the connection goes with its body.
  private func answer(
    _ answer: HTTPTypes.HTTPResponse, _ head: HTTPResponseHead, to request: HTTPTypes.HTTPRequest, _ exchange: Exchange
  ) async throws -> HTTPAnswer {
    let hasBody = request.method != .head && head.status.mayHaveResponseBody
    let lengths = head.headers["content-length"]
    let length = lengths.count == 1 ? Int(FieldList.trimmed(lengths[0][...])) : nil
    let isDelimited = length != nil || !head.headers["transfer-encoding"].isEmpty
    let isKept = head.isKeepAlive && (isDelimited || !hasBody)
    guard hasBody, length != 0 else {
      guard case .end? = try await exchange.connection.next(within: answerTimeout) else {
        throw CacheError(.invalidResponse, "the origin sent content where there must be none")
      }
      await end(exchange, isKept: isKept)
      return HTTPAnswer(head: answer)
    }
    let body = HTTPBody(length: length, isDelimited: isDelimited) { [self] in
      guard !exchange.hasEnded else { return nil }
      switch try await exchange.connection.next(within: answerTimeout) {
      case .body(let bytes)?: return .bytes(Data(bytes.readableBytesView))
      case .end(let trailers)?:
        await end(exchange, isKept: isKept)
        let fields = trailers.map(Self.fields) ?? [:]
        return fields.isEmpty ? nil : .trailers(fields)
      case .head?, nil:
        throw CacheError(.invalidResponse, "the origin sent a head within a body")
      }
    }
    return HTTPAnswer(head: answer, body: body)
  }

  /// A connection that carries a request and its answer; it is closed with the last holder of an answer that has not ended.
  private final class Exchange: Sendable {
    let connection: OriginConnection
    private let state = Mutex((upload: nil as Task<Void, Never>?, isUploading: false, hasEnded: false))

    init(_ connection: OriginConnection) { self.connection = connection }

    deinit {
      let (upload, isUploading, hasEnded) = state.withLock { $0 }
      // Cancelling what it has left would close a connection that others use by now.
      if isUploading || !hasEnded { upload?.cancel() }
      if !hasEnded { connection.close() }
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Sends the request's content, while the answer may already come.
    func upload(_ body: HTTPBody) {
      state.withLock { $0.isUploading = true }
      connection.noteUpload(.begins)
      let task = Task { [weak self, connection] in
        do {
          for try await case .bytes(let part) in body {
            try await connection.send([.body(.byteBuffer(ByteBuffer(bytes: part)))], beginning: false)
          }
          self?.state.withLock { $0.isUploading = false }
          try await connection.send([.end(nil)], beginning: false)
          connection.noteUpload(.ends)
        } catch {
          // A server that takes no more may have answered already; whoever reads will see that.
          connection.noteUpload(.breaks(error))
        }
      }
      state.withLock { $0.upload = task }
    }

    /// Ends it.
    ///
    /// - Returns: Whether the request has gone out whole.
    func end() async -> Bool {
      let (upload, isWhole) = state.withLock { state in
        state.hasEnded = true
        return (state.upload, !state.isUploading)
      }
      // An origin that goes by lengths may answer before the end has gone out.
      if isWhole { await upload?.value }
      return isWhole
    }
  }

  private func end(_ exchange: Exchange, isKept: Bool) async {
    // A server that has answered before it has read everything cannot be asked anything else over this connection.
    if await exchange.end(), isKept { giveBack(exchange.connection) } else { exchange.connection.close() }
  }

  private func keptConnection() -> OriginConnection? {
    let now = ContinuousClock.now
    let (found, old) = idle.withLock { idle -> (OriginConnection?, [OriginConnection]) in
      var old: [OriginConnection] = []
      while let (connection, since) = idle.popLast() {
        if connection.isLive, since.duration(to: now) < idleTime { return (connection, old) }
        old.append(connection)
      }
      return (nil, old)
    }
    for connection in old { connection.close() }
    return found
  }

  private func connect() async throws -> OriginConnection {
    try Task.checkCancellation()
    let connection = OriginConnection()
    do {
      // The system takes what lies beyond for another port.
      guard UInt16(exactly: port) != nil else { throw SocketAddressError.unsupported }
      _ = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.nanoseconds(connectTimeout.clampedNanoseconds))
        .channelOption(.autoRead, value: false)
        .channelOption(.socketOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = 128 << 10
            limits.maxHeaderListSize = 128 << 10
            var encoding = HTTPRequestEncoder.Configuration()
            encoding.automaticallySetFramingHeaders = false
            let place = FieldBytes()
            try channel.pipeline.syncOperations.addHandlers([
              FieldBytes.Outside(place),
              HTTPRequestEncoder(configuration: encoding),
              ByteToMessageHandler(
                HTTPResponseDecoder(
                  leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward,
                  limitConfiguration: limits)),
              FieldBytes.Responses(place),
              connection,
            ])
          }
        }
        .connect(host: host, port: port).get()
      return connection
    } catch {
      if error is CancellationError { throw error }
      let remedy =
        ProxyFault.shortage(error).map { "\($0.text); see to that first" }
        ?? "check that the server runs and that host and port are right"
      throw CacheError(.unreachable, "\(authority) cannot be reached; \(remedy)", underlying: error)
    }
  }

  private func giveBack(_ connection: OriginConnection) {
    guard connection.isLive else { return }
    let excess = idle.withLock { idle -> OriginConnection? in
      idle.append((connection, .now))
      return idle.count > 256 ? idle.removeFirst().connection : nil
    }
    excess?.close()
  }

  private static func response(_ head: HTTPResponseHead) throws -> HTTPTypes.HTTPResponse {
    guard (100...999).contains(Int(head.status.code)) else {
      throw CacheError(.invalidResponse, "the origin answers with the status \(head.status.code), which is invalid")
    }
    let lengths = head.headers["content-length"]
    let codings = head.headers["transfer-encoding"]
    guard lengths.count <= 1, lengths.isEmpty || codings.isEmpty else {
      throw CacheError(.invalidResponse, "the origin announces two lengths, or a length and chunks; mend it")
    }
    // RFC 9112, section 6.1: of HTTP/1.0, such framing is faulty, and what is behind it may be somebody else's.
    guard head.version != .http1_0 || codings.isEmpty else {
      throw CacheError(.invalidResponse, "the origin sends chunks in HTTP/1.0, which has none; mend it")
    }
    // What is coded otherwise nobody behind us would know to be coded. A name that was never registered is no coding: that content
    // ends with its connection, and is complete if that was closed in order (RFC 9112, sections 6.3 and 8).
    let names = codings.flatMap { FieldList.members(of: $0) }.map { $0.lowercased() }
    guard names.isEmpty || names == ["chunked"] || names.allSatisfy({ !Self.transferCodings.contains($0) }) else {
      throw CacheError(.invalidResponse, "the origin uses a transfer coding that it was not asked for; mend it")
    }
    return HTTPTypes.HTTPResponse(
      status: .init(code: Int(head.status.code), reasonPhrase: head.status.reasonPhrase),
      headerFields: fields(head.headers))
  }

  /// The names that the registry of RFC 9112, section 7.3, has, and the one that it had.
  private static let transferCodings: Set<String> = [
    "chunked", "compress", "deflate", "gzip", "identity", "trailers", "x-compress", "x-gzip",
  ]

  private static func fields(_ headers: HTTPHeaders) -> HTTPFields {
    var fields = HTTPFields()
    fields.reserveCapacity(headers.count)
    for header in headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      fields.append(HTTPField(name: name, latin1: header.value))
    }
    return fields
  }
}
#endif
