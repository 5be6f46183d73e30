#if Proxy
import CacheCore
import CacheEngineHTTP
import HTTPTypes
import NIOCore
import NIOHTTP1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What happens on a connection: requests come and are answered, one after the other.
extension HTTPCacheProxy {
  func carry(_ connection: Connection, _ id: Int) async {
    let peer = connection.channel.remoteAddress?.ipAddress
    do {
      try await connection.executeThenClose { inbound, outbound in
        var parts = inbound.makeAsyncIterator()
        while note(idle: true, id), case .head(let head)? = try await parts.next(isolation: #isolation) {
          _ = note(idle: false, id)
          let exchange = Exchange(head: head, start: .now, channel: connection.channel, outbound: outbound)
          let goesOn: Bool
          switch RequestCheck(head, origin: target, peer: peer, settings: settings) {
          case .refuse(let status, let why):
            try await answer(exchange, status, [:], "", isLast: true, why: why)
            goesOn = false
          case .answer(let status, let fields, let body):
            // Content means nothing here; linger(_:_:) takes what comes after the last answer.
            let isEnd = if case .end? = try await parts.next(isolation: #isolation) { true } else { false }
            goesOn = head.isPersistent && isEnd
            try await answer(exchange, status, fields, body, isLast: !goesOn)
          case .forward(let request, _, let expectsContinue):
            goesOn = try await forward(request, exchange, expectsContinue, &parts)
          }
          if !goesOn { break }
        }
        try await linger(connection.channel, outbound, &parts)
      }
    } catch {
      // The client left, or its answer broke off: the connection is closed, which is all that can still be said.
    }
  }

  /// Takes what a client still sends after its last answer, until ``ClientGuard`` ends that.
  private func linger(
    _ channel: any Channel, _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
    _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
  ) async throws {
    outbound.finish()
    while try await parts.next(isolation: #isolation) != nil {}
    // A client that sends nothing more may still be taking its answers.
    try await withTaskCancellationHandler {
      try await channel.closeFuture.get()
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  /// What ends the content of a request before its time, with the status that its client is told.
  private enum ContentFault: Int, Error {
    /// There is more than is accepted, and it was not announced.
    case tooMuch = 413
    /// The client sends no more of it.
    case cutShort = 400
  }

  private struct Exchange: Sendable {
    let head: HTTPRequestHead
    let start: ContinuousClock.Instant
    let channel: any Channel
    let outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

    /// What is told of a request that has no answer from the cache, as long as nothing of one has gone out.
    func served(_ status: Int, cache: CacheStatus? = nil, isAnsweredByProxy: Bool) -> ServedRequest {
      ServedRequest(
        method: head.methodName, path: head.uri, status: status, cache: cache, age: nil, bytes: 0,
        duration: start.duration(to: .now), isWhole: false, isAnsweredByProxy: isAnsweredByProxy)
    }
  }

  /// Forwards a request with its content.
  ///
  /// - Returns: Whether the connection can carry another one.
  private func forward(
    _ request: HTTPTypes.HTTPRequest, _ exchange: Exchange, _ expectsContinue: Bool,
    _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
  ) async throws -> Bool {
    let length = request.headerFields[.contentLength].flatMap { Int($0) }
    let isChunked = exchange.head.headers.contains(name: "transfer-encoding")
    guard isChunked || length ?? 0 > 0 else {
      guard case .end? = try await parts.next(isolation: #isolation) else { return false }
      var request = request
      if request.method == .get || request.method == .head { request.headerFields[.contentLength] = nil }
      return try await respond(to: request, HTTPBody(), exchange)
    }
    if expectsContinue {
      try await exchange.outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .continue)))
    }
    let feed = BodyFeed(length: length)
    let body = HTTPBody(length: length) { try await feed.next() }
    async let response = respond(to: request, body, exchange, from: feed)
    var count = 0
    var isWhole = false
    var fault = ContentFault.cutShort
    do {
      reading: while let part = try await parts.next(isolation: #isolation) {
        switch part {
        case .head: break reading
        case .end:
          isWhole = true
          break reading
        case .body(let bytes):
          count += bytes.readableBytes
          guard count <= settings.bodyBytes else {
            fault = .tooMuch
            break reading
          }
          guard await feed.put(Data(bytes.readableBytesView)) else { break reading }
        }
      }
      // A connection that is closed has nobody to be told of a fault.
      feed.put(end: isWhole ? .success(()) : .failure(exchange.channel.isActive ? fault : CancellationError()))
    } catch {
      feed.put(end: .failure(CancellationError()))
    }
    return try await response && isWhole
  }

  /// Answers a request.
  ///
  /// `feed`: Whence its content comes. A client that has its answer before it has sent that may send nothing more: it is let go.
  ///
  /// - Returns: Whether the connection can carry another one.
  private func respond(
    to request: HTTPTypes.HTTPRequest, _ body: HTTPBody, _ exchange: Exchange, from feed: BodyFeed? = nil
  ) async throws -> Bool {
    defer {
      feed?.abandon()
      if feed?.isPut == false { exchange.outbound.finish() }
    }
    let takesInterim = exchange.head.version == .http1_1
    let outbound = exchange.outbound
    let answer: HTTPCacheAnswer
    do {
      answer = try await cache.answer(request, body, knownAs: exchange.head.headers["host"].first) { interim in
        guard takesInterim else { return }
        // A client that is gone shows with the final answer.
        try? await outbound.write(.head(HTTPResponseHead(interim)))
      }
    } catch {
      let failure = error as? ForwardFailure
      switch failure?.error ?? error {
      case is CancellationError:
        tally.note(exchange.served(ServedRequest.unanswered, isAnsweredByProxy: false))
        throw error
      case let fault as ContentFault:
        let why =
          switch fault {
          case .tooMuch: "its content has more than the \(settings.bodyBytes) bytes that are accepted"
          case .cutShort: "its content broke off, or is not framed as HTTP wants it"
          }
        try await self.answer(exchange, fault.rawValue, [:], "", isLast: true, why: why)
      case let error as CacheError where error.code == .invalidAddress:
        try await self.answer(exchange, 400, [:], "", isLast: true, why: error.message)
      case let cause: try await self.answer(exchange, to: cause, failure?.status)
      }
      return false
    }
    return try await send(answer, exchange, mayStay: !isStopping && feed?.isPut != false)
  }

  /// Sends an answer.
  ///
  /// - Returns: Whether the connection can carry another one.
  private func send(_ answer: HTTPCacheAnswer, _ exchange: Exchange, mayStay: Bool) async throws -> Bool {
    var served = ServedRequest(answer, to: exchange.head)
    let framed = FramedHead(answer, to: exchange.head, from: target, via: settings.via, mayStay: mayStay)
    let (head, isKept) = (HTTPResponseHead(framed.head), framed.isKept)
    let announced = framed.isChunked ? nil : framed.head.headerFields[.contentLength].flatMap { Int($0) }
    defer {
      served.noteEnd(of: announced)
      served.duration = exchange.start.duration(to: .now)
      tally.note(served)
    }
    guard framed.mayHaveBody else {
      try await exchange.outbound.write(contentsOf: [.head(head), .end(nil)])
      served.isWhole = true
      return isKept
    }
    if let bytes = answer.body.bytes {
      let body: [HTTPServerResponsePart] = bytes.isEmpty ? [] : [.body(.byteBuffer(ByteBuffer(bytes: bytes)))]
      try await exchange.outbound.write(contentsOf: [.head(head)] + body + [.end(nil)])
      served.bytes = bytes.count
      served.isWhole = true
      return isKept
    }
    try await exchange.outbound.write(.head(head))
    var trailers: HTTPHeaders?
    // A body that breaks off throws here, and the connection is closed without an end of the message.
    do {
      for try await part in answer.body {
        switch part {
        case .bytes(let bytes):
          try await exchange.outbound.write(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
          served.bytes += bytes.count
        case .trailers(let fields): trailers = HTTPHeaders(fields)
        }
      }
    } catch {
      if error is CacheError { served.note(error) }
      // Content that ends with its connection would be whole if that ended in order.
      if announced == nil, !framed.isChunked { await exchange.channel.endAbruptly() }
      throw error
    }
    try await exchange.outbound.write(.end(trailers))
    served.isWhole = true
    return isKept
  }

  /// Says that the origin does not answer.
  private func answer(_ exchange: Exchange, to error: any Error, _ status: CacheStatus?) async throws {
    let fault = ProxyFault(error)
    var fields: HTTPFields = [:]
    fields[.cacheStatus] = status?.description
    fields[.proxyStatus] = fault.field(of: settings.name)
    try await answer(exchange, fault.status, fields, "", isLast: true, cache: status, error: error)
  }

  /// Answers without the origin.
  private func answer(
    _ exchange: Exchange, _ status: Int, _ fields: HTTPFields, _ body: String, isLast: Bool,
    cache: CacheStatus? = nil, error: (any Error)? = nil, why: String? = nil
  ) async throws {
    var fields = fields
    fields[.contentLength] = String(body.utf8.count)
    fields[.date] = HTTPDate(SystemClock().timeSinceEpoch).description
    if isLast { fields[.connection] = "close" }
    let head = HTTPResponseHead(HTTPTypes.HTTPResponse(status: .init(code: status), headerFields: fields))
    var served = exchange.served(status, cache: cache, isAnsweredByProxy: true)
    served.explanation = why
    if let error { served.note(error) }
    defer { tally.note(served) }
    try await exchange.outbound.write(
      contentsOf: [.head(head), .body(.byteBuffer(ByteBuffer(string: body))), .end(nil)])
    served.bytes = body.utf8.count
    served.isWhole = true
  }
}

extension Channel {
  /// Ends it so that the other side sees an error, and not an end.
  fileprivate func endAbruptly() async {
    // What has no time to linger is reset.
    try? await (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
    try? await close()
  }
}
#endif
