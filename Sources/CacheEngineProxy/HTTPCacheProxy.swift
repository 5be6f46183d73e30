#if Proxy
public import CacheCore
public import CacheEngineHTTP
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

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
  let settings: ProxySettings
  /// One of the origin's targets, which names it.
  let target: TargetURI
  private let listener: NIOAsyncChannel<Connection, Never>
  private let accepted = AcceptedConnections()
  let tally: ProxyTally
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
  ///   - bodyLimit: The largest content that is stored, in bytes, and the most that all variants of a URI come to. Not negative.
  ///   - clock: The clock whose time of day ages are measured by.
  ///   - report: Notified of failures that do not fail a request.
  ///   - observe: Notified of every request once its answer has been sent. It must not block.
  /// - Throws: `CacheError` with code `unreachable` if it cannot listen on the address, `invalidAddress` if the origin's name
  ///   is invalid, and `invalidSetting` if the proxy's name or port is.
  public init(
    storing store: Store, origin: ServerOrigin, policy: HTTPCachePolicy? = nil,
    settings: ProxySettings = ProxySettings(),
    bodyLimit: Int = 8 << 20, clock: any CacheClock = SystemClock(),
    report: @escaping @Sendable (HTTPCacheFailure) -> Void = { _ in },
    observe: @escaping @Sendable (ServedRequest) -> Void = { _ in }
  ) async throws {
    guard CacheStatus.isName(settings.name) else {
      throw CacheError(
        .invalidSetting,
        "“\(CacheError.shown(settings.name))” cannot be the name of a proxy; take a token such as my-app")
    }
    // The system takes what lies beyond for another port.
    guard UInt16(exactly: settings.port) != nil else {
      throw CacheError(.invalidSetting, "\(settings.port) is no port; take one from 1 to 65535, or 0 for any free one")
    }
    var standard = HTTPCachePolicy(.shared)
    standard.storesCookies = false
    cache = HTTPCache(
      storing: store, policy: policy ?? standard, origin: origin, name: settings.name, bodyLimit: bodyLimit,
      clock: clock, report: report)
    guard let target = TargetURI(scheme: origin.scheme, authority: origin.authority, path: "/") else {
      throw CacheError(.invalidAddress, "\(origin.authority) is no name of a server; mend the origin's host or port")
    }
    self.target = target
    self.settings = settings
    tally = ProxyTally(clock: clock, observe)
    do {
      // What can be answered at once is answered where it was read.
      let group = MultiThreadedEventLoopGroup.singleton
      let instant = InstantAnswers(
        cache: { [cache] in cache.immediateAnswer(for: $0, at: $1, after: $2) }, origin: target, settings: settings,
        note: { [tally] in tally.note($0) }, due: DueFlushes.OfLoops(group))
      listener = try await ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPause()) }
        }
        .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
        // A client that says no more than its request still takes the answer.
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        // Most of what is found in memory goes out in one write, which need not be told twice how far it has got.
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
      let remedy =
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE: "another program listens there; end it, or take another port"
        case EACCES: "this user may not listen at such a port; take one from 1024 on"
        // A name that is not known has no number.
        case nil, EADDRNOTAVAIL: "see whether this machine has that address"
        case let number?: "\(SystemFailure("listen", number).text); see to that first"
        }
      let place = ServerOrigin.authority(settings.host, settings.port)
      throw CacheError(.unreachable, "\(place) cannot be listened at: \(remedy)", underlying: error)
    }
    port = listener.channel.localAddress?.port ?? settings.port
  }

  // One that has never served has not closed it.
  deinit { listener.channel.close(promise: nil) }

  private static func prepare(
    _ channel: any Channel, _ settings: ProxySettings, _ instant: InstantAnswers
  ) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = settings.headBytes
    limits.maxHeaderListSize = settings.headBytes
    limits.maxHeaderFieldCount = settings.fieldCount
    var encoding = HTTPResponseEncoder.Configuration()
    encoding.automaticallySetFramingHeaders = false
    let place = FieldBytes()
    let guardian = ClientGuard(
      headTimeout: settings.headTimeout, idleTimeout: settings.idleTimeout, note: instant.note)
    let due = instant.due[channel.eventLoop]
    try channel.pipeline.syncOperations.addHandlers([
      RepeatedFields(instant, place, guardian, due), HalfClosure(), FieldBytes.Outside(place),
      HTTPResponseEncoder(configuration: encoding),
      ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)),
      FieldBytes.Requests(place),
      HTTPServerPipelineHandler(),
      guardian,
      InstantAnswerHandler(instant, place, due),
    ])
  }

  /// Answers requests until ``stop(within:)``, or until the task is cancelled.
  ///
  /// It returns when the requests under way are finished; if the task is cancelled, these are aborted.
  ///
  /// - Throws: The error of the system if no further connection can be accepted.
  public func serve() async throws {
    try await withTaskCancellationHandler {
      do { try await accept() } catch { if !Task.isCancelled { throw error } }
      accepted.end()
      // One may have begun since.
      if Task.isCancelled { abort() }
      for task in serving.withLock({ Array($0.tasks.values) }) { await task.value }
      // What runs in the background keeps nobody waiting.
      cache.breakOff()
      await cache.close()
    } onCancel: {
      listener.channel.close(promise: nil)
      abort()
    }
  }

  private func accept() async throws {
    try await listener.executeThenClose { connections in
      for try await connection in connections {
        begin(connection)
        await waitForRoom()
      }
    }
  }

  /// Aborts the requests under way.
  private func abort() {
    takeRoom()?.resume()
    for task in serving.withLock({ Array($0.tasks.values) }) { task.cancel() }
    cache.breakOff()
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
      group.addTask { [self] in
        do { try await Task.sleep(for: grace) } catch { return }
        abort()
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// Whether connections close after the answer that they are giving.
  var isStopping: Bool { serving.withLock { $0.isStopping } }

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
    // A client whose connection has ended ends what is done for it.
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
        // Whoever is cancelled later takes this continuation.
        if serving.tasks.count < settings.connections || serving.isStopping || Task.isCancelled { return true }
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
  func note(idle: Bool, _ id: Int) -> Bool {
    serving.withLock { serving in
      if idle, serving.isStopping { return false }
      if idle { serving.idle.insert(id) } else { serving.idle.remove(id) }
      return true
    }
  }
}
#endif
