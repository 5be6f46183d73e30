#if Redis
import CacheEngine
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One connection, on which many tasks ask at once.
///
/// Commands are sent in the order in which they were asked, and replies come in that order: each belongs to the command at
/// the head of the line. A cancelled task leaves its place in the line, and the reply is thrown away. Anything that could
/// put the two lines out of step (bytes that are no reply, a reply that nobody waits for, a late one) ends the connection,
/// and every command that waits fails.
final class RedisConnection: Sendable {
  /// What it is for; what is no reply comes in among the replies in another form for each.
  enum Use: Sendable {
    case commands
    /// It does nothing but listen to channels.
    case channels
    /// It is told every command that the server is given.
    case monitor
  }

  private struct Waiting {
    var replies: [RESPValue] = []
    let count: Int
    let deadline: CacheInstant
    var continuation: CheckedContinuation<[RESPValue], any Error>?
  }

  private struct State {
    var outbox: [UInt8] = []
    var isFlushing = false
    var line = CircularBuffer<Waiting>()
    /// The number of the command at the head of the line.
    var head = 0
    var lastHeard: CacheInstant
    var hasHeard = false
    /// Until then only those who ask are told of its end; of several addresses, only one is connected to in the end.
    var isHandedOut = false
    var end: CacheError?
  }

  private let channel: any Channel
  /// With the user and the password that it was made with.
  let settings: RedisSettings
  private let use: Use
  private let clock = SystemClock()
  let began = SystemClock().now
  /// Whether a call was answered on it.
  let hasServed = Atomic(false)
  private let state: Mutex<State>
  private let mode = Mutex(false)
  private let onPush: @Sendable ([RESPValue]) -> Void
  private let onClose: @Sendable (RedisConnection, CacheError) -> Void

  private init(
    _ channel: any Channel, _ settings: RedisSettings, use: Use,
    onPush: @escaping @Sendable ([RESPValue]) -> Void,
    onClose: @escaping @Sendable (RedisConnection, CacheError) -> Void
  ) {
    self.channel = channel
    self.settings = settings
    self.use = use
    state = Mutex(State(lastHeard: SystemClock().now))
    self.onPush = onPush
    self.onClose = onClose
  }

  /// Connects; nothing is said yet.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.unreachable`.
  static func connect(
    _ settings: RedisSettings, for use: Use = .commands, onPush: @escaping @Sendable ([RESPValue]) -> Void,
    onClose: @escaping @Sendable (RedisConnection, CacheError) -> Void
  ) async throws -> RedisConnection {
    let settings = try await settings.identified()
    let secrecy = try RedisSecrecy(settings)
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(.nanoseconds(settings.connectLimit.clampedNanoseconds))
    // A server that is full says so and hangs up at once: somebody has to be there by then to read it.
    let begin: @Sendable (any Channel) -> EventLoopFuture<RedisConnection> = { channel in
      let connection = RedisConnection(channel, settings, use: use, onPush: onPush, onClose: onClose)
      let limits = RESPParser.Limits(bytes: settings.largestReply, depth: 16)
      let interval = min(settings.pingInterval, settings.commandLimit)
      // What it has yet to send when it is given up would arrive after what the next one says, and be carried out then.
      let prepared =
        if case .host = settings.place, let options = channel as? any SocketOptionProvider {
          options.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        } else {
          channel.eventLoop.makeSucceededVoidFuture()
        }
      return prepared.flatMapThrowing {
        try secrecy?.add(to: channel.pipeline.syncOperations)
        try channel.pipeline.syncOperations.addHandler(
          RedisHandler(connection, limits, every: .nanoseconds(max(1_000_000, interval.clampedNanoseconds / 2))) {
            connection.look(pingAfter: settings.pingInterval)
          })
        return connection
      }
    }
    do {
      let connection =
        switch settings.place {
        // The system takes what lies beyond for another port.
        case .host(_, let port) where UInt16(exactly: port) == nil: throw SocketAddressError.unsupported
        case .host(let host, let port): try await bootstrap.connect(host: host, port: port, channelInitializer: begin)
        case .socket(let path): try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: begin)
        }
      connection.state.withLock { $0.isHandedOut = true }
      return connection
    } catch {
      throw CacheError(
        .unreachable, "\(settings.address) cannot be reached; check that the server runs and that the address is right",
        level: settings.name, underlying: error)
    }
  }

  /// When something was heard last.
  var lastHeard: CacheInstant { state.withLock { $0.lastHeard } }

  /// Whether the server has ever said anything.
  var hasHeard: Bool { state.withLock { $0.hasHeard } }

  /// Whether the server greeted as one of a cluster.
  var isCluster: Bool {
    get { mode.withLock(\.self) }
    set { mode.withLock { $0 = newValue } }
  }

  /// Why it has ended, if it has.
  var end: CacheError? { state.withLock { $0.end } }

  /// Sends commands together, and waits for as many replies.
  ///
  /// - Throws: `CacheError`: why the connection ended; `CancellationError`.
  func ask(_ commands: [[[UInt8]]]) async throws -> [RESPValue] {
    // No reply comes of nothing, and the next one is another's.
    if commands.isEmpty { return [] }
    var bytes: [UInt8] = []
    for command in commands { RESPCommand.append(command, to: &bytes) }
    let number = Mutex<Int?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let deadline = clock.now.advanced(by: settings.commandLimit)
        let (error, flushes) = state.withLock { state -> ((any Error)?, Bool) in
          if let end = state.end { return (end, false) }
          guard state.line.count < settings.mostWaiting else {
            let message = "\(settings.mostWaiting) commands wait for their replies"
            return (CacheError(.overloaded, message, level: settings.name), false)
          }
          number.withLock { $0 = state.head + state.line.count }
          state.line.append(Waiting(count: commands.count, deadline: deadline, continuation: continuation))
          state.outbox += bytes
          defer { state.isFlushing = true }
          return (nil, !state.isFlushing)
        }
        if let error { return continuation.resume(throwing: error) }
        if flushes { channel.eventLoop.execute { self.flush() } }
        if Task.isCancelled { self.leave(number.withLock { $0 }) }
      }
    } onCancel: {
      leave(number.withLock { $0 })
    }
  }

  private func leave(_ number: Int?) {
    guard let number else { return }
    let continuation = state.withLock { state -> CheckedContinuation<[RESPValue], any Error>? in
      let place = number - state.head
      guard place >= 0, place < state.line.count else { return nil }
      let index = state.line.index(state.line.startIndex, offsetBy: place)
      return state.line[index].continuation.take()
    }
    continuation?.resume(throwing: CancellationError())
  }

  private func flush() {
    let bytes = state.withLock { state in
      defer {
        state.outbox = []
        state.isFlushing = false
      }
      return state.outbox
    }
    channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  func hears() {
    let now = clock.now
    state.withLock { state in
      state.lastHeard = now
      state.hasHeard = true
    }
  }

  /// Hands a reply to the command at the head of the line.
  func received(_ value: RESPValue) {
    switch (use, value) {
    // A command that was given to the server begins with the time; no reply does.
    case (.monitor, .text(let text)) where text.utf8.first.map { 0x30...0x39 ~= $0 } ?? false: return onPush([value])
    // The reply that a channel is listened to comes as a push or, as all of them did before version 6, as a list.
    case (.channels, .push(let values)), (.channels, .array(let values)):
      if values.first?.string == "message" { return onPush(values) }
    case (.channels, _): break
    case (_, .push(let values)): return onPush(values)
    default: break
    }
    let (isExpected, done) = state.withLock {
      state -> (Bool, (CheckedContinuation<[RESPValue], any Error>?, [RESPValue])?) in
      guard !state.line.isEmpty else { return (false, nil) }
      let index = state.line.startIndex
      state.line[index].replies.append(value)
      guard state.line[index].replies.count == state.line[index].count else { return (true, nil) }
      state.head += 1
      let waiting = state.line.removeFirst()
      return (true, (waiting.continuation, waiting.replies))
    }
    if !isExpected {
      // A server that is full or in protected mode says so before it is asked anything, and hangs up.
      if case .error(let text) = value { return close(RedisRefusal.error(text, settings)) }
      return close(CacheError(.invalidResponse, "the server sent a reply that nobody asked for", level: settings.name))
    }
    if let (continuation, replies) = done { continuation?.resume(returning: replies) }
  }

  /// Looks whether the head of the line is late, and asks for a sign of life if nothing is heard.
  private func look(pingAfter interval: Duration) {
    let now = clock.now
    enum Finding { case late, quiet, fine }
    let finding = state.withLock { state -> Finding in
      if let first = state.line.first { return first.deadline <= now ? .late : .fine }
      guard state.lastHeard.duration(to: now) >= interval, state.end == nil else { return .fine }
      state.line.append(Waiting(count: 1, deadline: now.advanced(by: settings.commandLimit)))
      RESPCommand.append([Array("PING".utf8)], to: &state.outbox)
      return .quiet
    }
    switch finding {
    case .late:
      let message = "the server did not answer within \(settings.commandLimit.text)"
      close(CacheError(.timedOut, message, level: settings.name))
    case .quiet: flush()
    case .fine: break
    }
  }

  /// Ends the connection: all who wait fail.
  func close(_ error: CacheError) {
    let ended = state.withLock { state -> (waiting: CircularBuffer<Waiting>, isTold: Bool)? in
      guard state.end == nil else { return nil }
      state.end = error
      defer { state.line = [] }
      return (state.line, state.isHandedOut)
    }
    guard let (waiting, isTold) = ended else { return }
    channel.close(promise: nil)
    if isTold { onClose(self, error) }
    for command in waiting { command.continuation?.resume(throwing: error) }
  }

  func closed(by error: any Error) {
    if let malformed = error as? RESPParser.Malformed {
      return close(
        CacheError(
          .invalidResponse,
          "what answers at \(settings.address) sent something that is not a Redis reply: \(malformed.message); see whether it is a Redis server",
          level: settings.name))
    }
    let message = RedisSecrecy.explain(error) ?? "the connection was lost"
    close(CacheError(.unreachable, message, level: settings.name, underlying: error))
  }
}

/// Reads what the server sends, on the event loop.
private final class RedisHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: RedisConnection
  private var parser: RESPParser
  private let interval: TimeAmount
  private let onTick: @Sendable () -> Void
  private var ticks: RepeatedTask?

  init(
    _ connection: RedisConnection, _ limits: RESPParser.Limits, every interval: TimeAmount,
    onTick: @escaping @Sendable () -> Void
  ) {
    self.connection = connection
    self.interval = interval
    self.onTick = onTick
    parser = RESPParser(limits: limits)
  }

  func channelActive(context: ChannelHandlerContext) {
    let onTick = onTick
    ticks = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in onTick() }
  }

  func handlerRemoved(context: ChannelHandlerContext) { ticks?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    connection.hears()
    parser.append(unwrapInboundIn(data).readableBytesView)
    do {
      while let value = try parser.next() { connection.received(value) }
    } catch {
      connection.closed(by: error)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    ticks?.cancel()
    connection.close(CacheError(.unreachable, "the server closed the connection"))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { connection.closed(by: error) }
}
#endif
