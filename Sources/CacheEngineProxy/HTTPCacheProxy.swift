#if Proxy
public import CacheEngine
public import CacheEngineHTTP
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A reverse proxy in front of one HTTP server, which answers from a shared cache where it may.
///
/// ```swift
/// let memory = MemoryCacheLevel<String, StoredVariants>(capacity: 256 << 20) { $1.cost }
/// let proxy = try await HTTPCacheProxy(
///   storing: memory, origin: ServerOrigin(host: "127.0.0.1", port: 3000), settings: settings)
/// try await proxy.serve()
/// ```
///
/// It speaks HTTP/1.1 and 1.0 with clients and HTTP/1.1 with the server, over http or https. Requests that two readers could
/// understand differently are refused. Every request goes to the one server and has its authority, whatever `Host` a client sends.
public final class HTTPCacheProxy<Store: CacheLevel>: Sendable
where Store.Key == String, Store.Value == StoredVariants {
  typealias Connection = AcceptedConnections.Connection

  private struct Serving {
    var nextID = 0
    var tasks: [Int: Task<Void, Never>] = [:]
    var channels: [Int: any Channel] = [:]
    /// Connections that wait for a request.
    var idle: Set<Int> = []
    var isStopping = false
    var room: CheckedContinuation<Void, Never>?
  }

  /// The cache that answers.
  public let cache: HTTPCache<Store>
  /// The port on which it listens.
  public let port: Int
  private let settings: ProxySettings
  /// A target of the origin's.
  private let target: TargetURI
  private let listener: NIOAsyncChannel<Connection, Never>
  private let accepted = AcceptedConnections()
  private let tally: ProxyTally
  private let serving = Mutex(Serving())

  /// The requests answered so far, by outcome.
  public var counts: ProxyCounts { tally.counts }

  /// Creates a proxy that listens; it answers once ``serve()`` is called.
  ///
  /// - Parameters:
  ///   - store: The level in which responses are stored.
  ///   - origin: The server behind the proxy.
  ///   - policy: The rules by which it decides; by default those of a shared cache that stores no response that sets cookies.
  ///   - settings: Where it listens and how much it accepts.
  ///   - bodyLimit: The largest content that is stored, in bytes.
  ///   - clock: The clock whose time of day ages are measured by.
  ///   - report: Is told of failures that do not fail a request.
  ///   - observe: Is told of every request once its answer has been sent. It must not block.
  /// - Throws: `CacheError` with code `unreachable` if it cannot listen on the address, and `invalidAddress` if the origin's name
  ///   is invalid.
  public init(
    storing store: Store, origin: ServerOrigin, policy: HTTPCachePolicy? = nil,
    settings: ProxySettings = ProxySettings(),
    bodyLimit: Int = 8 << 20, clock: any CacheClock = SystemClock(),
    report: @escaping @Sendable (HTTPCacheFailure) -> Void = { _ in },
    observe: @escaping @Sendable (ServedRequest) -> Void = { _ in }
  ) async throws {
    var standard = HTTPCachePolicy(.shared)
    standard.storesCookies = false
    cache = HTTPCache(
      storing: store, policy: policy ?? standard, origin: origin, bodyLimit: bodyLimit, clock: clock, report: report)
    guard let target = TargetURI(scheme: origin.scheme, authority: origin.authority, path: "/") else {
      throw CacheError(.invalidAddress, "\(origin.authority) is no name of a server; mend the origin's host or port")
    }
    self.target = target
    self.settings = settings
    tally = ProxyTally(clock: clock, observe)
    do {
      // What can be answered at once is, where it was read.
      let instant = InstantAnswers(
        cache: { [cache] in cache.immediateAnswer(for: $0, at: $1) }, origin: target, settings: settings,
        note: { [tally] in tally.note($0) })
      listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
        // Of what is found in memory most goes out with one write, which need not be told twice how far it has come.
        .childChannelOption(
          .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 64 << 10, high: 256 << 10)
        )
        .bind(host: settings.host, port: settings.port) { [accepted] channel in
          channel.eventLoop.makeCompletedFuture {
            try Self.prepare(channel, settings, instant)
            let connection = try Connection(
              wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
            accepted.add(connection)
            return connection
          }
        }
    } catch {
      throw CacheError(
        .unreachable,
        "\(settings.host):\(settings.port) cannot be listened at; see whether another program does, or take another port",
        underlying: error)
    }
    port = listener.channel.localAddress?.port ?? settings.port
  }

  private static func prepare(
    _ channel: any Channel, _ settings: ProxySettings, _ instant: InstantAnswers
  ) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = settings.headBytes
    limits.maxHeaderListSize = settings.headBytes
    limits.maxHeaderFieldCount = settings.fieldCount
    var encoding = HTTPResponseEncoder.Configuration()
    encoding.automaticallySetFramingHeaders = false
    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
      withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: true,
      withEncoderConfiguration: encoding, withDecoderLimitConfiguration: limits)
    try channel.pipeline.syncOperations.addHandler(
      ClientGuard(headTimeout: settings.headTimeout, idleTimeout: settings.idleTimeout))
    try channel.pipeline.syncOperations.addHandler(InstantAnswerHandler(instant))
  }

  /// Answers requests until ``stop(within:)``, or until the task is cancelled.
  public func serve() async throws {
    try await withTaskCancellationHandler {
      try await listener.executeThenClose { connections in
        for try await connection in connections {
          begin(connection)
          await waitForRoom()
        }
      }
    } onCancel: {
      listener.channel.close(promise: nil)
    }
    accepted.end()
    if Task.isCancelled { cache.breakOff() }
    for task in serving.withLock({ Array($0.tasks.values) }) {
      if Task.isCancelled { task.cancel() }
      await task.value
    }
    // What runs in the background keeps nobody waiting.
    cache.breakOff()
    await cache.close()
  }

  /// Stops the proxy: no new connection is accepted, and requests under way are finished.
  ///
  /// - Parameter grace: How long that may take; anything left after that is aborted.
  public func stop(within grace: Duration = .seconds(10)) async {
    let idle = serving.withLock { serving in
      serving.isStopping = true
      return serving.idle.compactMap { serving.channels[$0] }
    }
    for channel in idle { Self.end(channel) }
    takeRoom()?.resume()
    listener.channel.close(promise: nil)
    let tasks = serving.withLock { Array($0.tasks.values) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for task in tasks { await task.value }
      }
      group.addTask { [cache] in
        do { try await Task.sleep(for: grace) } catch { return }
        for task in tasks { task.cancel() }
        cache.breakOff()
      }
      await group.next()
      group.cancelAll()
    }
  }

  private func begin(_ connection: Connection) {
    accepted.take(connection)
    let task = serving.withLock { serving -> Task<Void, Never> in
      serving.nextID += 1
      let id = serving.nextID
      let task = Task { [self] in
        await carry(connection, id)
        let room = self.serving.withLock { serving in
          (serving.tasks[id], serving.channels[id]) = (nil, nil)
          serving.idle.remove(id)
          defer { serving.room = nil }
          return serving.room
        }
        room?.resume()
      }
      (serving.tasks[id], serving.channels[id]) = (task, connection.channel)
      return task
    }
    // A client that leaves ends what is done for it.
    connection.channel.closeFuture.whenComplete { _ in task.cancel() }
  }

  /// Ends a connection once its answers have gone out.
  private static func end(_ channel: any Channel) {
    channel.eventLoop.execute {
      let left = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
      channel.close(mode: left > 0 ? .output : .all, promise: nil)
    }
  }

  private func waitForRoom() async {
    await withCheckedContinuation { continuation in
      let hasRoom = serving.withLock { serving in
        if serving.tasks.count < settings.connections || serving.isStopping { return true }
        serving.room = continuation
        return false
      }
      if hasRoom { continuation.resume() }
    }
  }

  private func takeRoom() -> CheckedContinuation<Void, Never>? {
    serving.withLock { serving in
      defer { serving.room = nil }
      return serving.room
    }
  }

  /// Notes whether a connection waits for a request.
  ///
  /// - Returns: Whether it may go on.
  private func note(idle: Bool, _ id: Int) -> Bool {
    serving.withLock { serving in
      if idle, serving.isStopping { return false }
      if idle { serving.idle.insert(id) } else { serving.idle.remove(id) }
      return true
    }
  }

  private func carry(_ connection: Connection, _ id: Int) async {
    let peer = connection.channel.remoteAddress?.ipAddress
    do {
      try await connection.executeThenClose { inbound, outbound in
        var parts = inbound.makeAsyncIterator()
        while note(idle: true, id), case .head(let head)? = try await parts.next(isolation: #isolation) {
          _ = note(idle: false, id)
          let exchange = Exchange(head: head, start: .now, outbound: outbound)
          let goesOn: Bool
          switch RequestCheck(head, origin: target, peer: peer, settings: settings) {
          case .refuse(let status):
            try await answer(exchange, status, [], "", isLast: true)
            goesOn = false
          case .answer(let status, let fields, let body):
            // Content with it means nothing, and is for who takes what comes behind the last answer.
            let isEnd = if case .end? = try await parts.next(isolation: #isolation) { true } else { false }
            goesOn = head.isKeepAlive && isEnd
            try await answer(exchange, status, fields, body, isLast: !goesOn)
          case .forward(let request, _, let expectsContinue):
            goesOn = try await forward(request, exchange, expectsContinue, connection.channel, &parts)
          }
          if !goesOn { break }
        }
        try await linger(outbound, &parts)
      }
    } catch {
      // The client left, or its answer broke off: the connection is closed, which is all that can still be said.
    }
  }

  /// Takes what a client still sends that was given its last answer, until ``ClientGuard`` ends that.
  private func linger(
    _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
    _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
  ) async throws {
    outbound.finish()
    while try await parts.next(isolation: #isolation) != nil {}
  }

  /// What ends the content of a request that has more than is accepted, and did not say so before.
  private struct TooMuchContent: Error {}

  private struct Exchange: Sendable {
    let head: HTTPRequestHead
    let start: ContinuousClock.Instant
    let outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
  }

  /// Forwards a request with its content.
  ///
  /// - Returns: Whether the connection can carry another one.
  private func forward(
    _ request: HTTPTypes.HTTPRequest, _ exchange: Exchange, _ expectsContinue: Bool, _ channel: any Channel,
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
    let feed = BodyFeed()
    let body = HTTPBody(length: length) { try await feed.next() }
    async let response = respond(to: request, body, exchange, then: { abandon(feed, exchange, channel) })
    var count = 0
    var isWhole = false
    var failure: any Error = CacheError(.invalidResponse, "the request's content broke off")
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
            failure = TooMuchContent()
            break reading
          }
          guard await feed.put(.bytes(Data(bytes.readableBytesView))) else { break reading }
        }
      }
      feed.put(end: isWhole ? .success(()) : .failure(failure))
    } catch {
      feed.put(end: .failure(error))
    }
    return try await response && isWhole
  }

  /// Lets a client go that has its answer before it has sent everything, and may send nothing more.
  private func abandon(_ feed: BodyFeed, _ exchange: Exchange, _ channel: any Channel) {
    feed.abandon()
    guard !feed.isPut else { return }
    let outbound = exchange.outbound
    // An origin may answer what it has read by its length a moment before the end is read here.
    channel.eventLoop.scheduleTask(in: .milliseconds(100)) {
      if !feed.isPut { outbound.finish() }
    }
  }

  private func respond(
    to request: HTTPTypes.HTTPRequest, _ body: HTTPBody, _ exchange: Exchange, then ended: @Sendable () -> Void = {}
  ) async throws -> Bool {
    defer { ended() }
    let takesInterim = exchange.head.version == .http1_1
    let outbound = exchange.outbound
    let answer: HTTPCacheAnswer
    do {
      answer = try await cache.answer(request, body) { interim in
        guard takesInterim else { return }
        // A client that is gone shows with the final answer.
        try? await outbound.write(.head(HTTPResponseHead(interim)))
      }
    } catch {
      let failure = error as? ForwardFailure
      switch failure?.error ?? error {
      case is CancellationError: throw error
      case is TooMuchContent: try await self.answer(exchange, 413, [], "", isLast: true)
      case let error as CacheError where error.code == .invalidAddress:
        try await self.answer(exchange, 400, [], "", isLast: true)
      case let cause: try await self.answer(exchange, to: cause, failure?.status)
      }
      return false
    }
    return try await send(answer, exchange)
  }

  /// Sends an answer.
  ///
  /// - Returns: Whether the connection can carry another one.
  private func send(_ answer: HTTPCacheAnswer, _ exchange: Exchange) async throws -> Bool {
    var served = ServedRequest(answer, to: exchange.head)
    let framed = FramedHead(answer, to: exchange.head, mayStay: serving.withLock { !$0.isStopping })
    let (head, isKept, isChunked) = (framed.head, framed.isKept, framed.isChunked)
    let announced = isChunked ? nil : head.headers["content-length"].first.flatMap { Int($0) }
    defer {
      // A client that has all that was announced may leave before we say that this was all.
      if framed.mayHaveBody, served.bytes > 0, served.bytes == announced { served.isWhole = true }
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
        case .trailers(let fields): trailers = isChunked ? HTTPHeaders(fields) : nil
        }
      }
    } catch let error as CacheError {
      served.note(error)
      throw error
    }
    try await exchange.outbound.write(.end(trailers))
    served.isWhole = true
    return isKept
  }

  /// Answers that the origin does not.
  private func answer(_ exchange: Exchange, to error: any Error, _ status: CacheStatus?) async throws {
    let fault = ProxyFault(error)
    let fields = [("Cache-Status", status?.text), ("Proxy-Status", fault.field)]
      .compactMap { name, value in value.map { (name, $0) } }
    try await answer(exchange, fault.status, fields, "", isLast: true, error: error)
  }

  /// Answers by itself.
  private func answer(
    _ exchange: Exchange, _ status: Int, _ fields: [(String, String)], _ body: String, isLast: Bool,
    error: (any Error)? = nil
  ) async throws {
    var headers = HTTPHeaders(fields)
    let content = exchange.head.method == .HEAD ? "" : body
    headers.add(name: "Content-Length", value: String(body.utf8.count))
    headers.add(name: "Date", value: HTTPDate(SystemClock().timeSinceEpoch).description)
    if isLast { headers.add(name: "Connection", value: "close") }
    let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
    try await exchange.outbound.write(
      contentsOf: [.head(head), .body(.byteBuffer(ByteBuffer(string: content))), .end(nil)])
    var served = ServedRequest(
      method: exchange.head.methodName, path: exchange.head.uri, status: status, cache: nil, age: nil,
      bytes: content.utf8.count, duration: exchange.start.duration(to: .now), isWhole: true)
    if let error { served.note(error) }
    tally.note(served)
  }
}
#endif
