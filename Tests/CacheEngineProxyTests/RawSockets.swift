#if Proxy
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What an origin sends for a request, byte for byte.
struct RawAnswer: Sendable {
  var text: String
  var closes: Bool

  init(_ text: String, closes: Bool = false) {
    self.text = text
    self.closes = closes
  }
}

/// An origin that knows no HTTP but where a request ends.
final class RawServer: Sendable {
  let port: Int
  private let listener: any Channel
  private let notes = Notes()

  var requests: [String] { notes.kept.withLock { $0.requests } }
  /// How many connections have begun and ended.
  var connections: (opened: Int, closed: Int) { notes.kept.withLock { ($0.opened, $0.closed) } }
  /// How many answers have gone out whole.
  var sent: Int { notes.kept.withLock { $0.sent } }

  /// Listens; `first` stands between a connection and what answers, and with `answersHeads` no content is waited for.
  init(
    first: (@Sendable () -> (any ChannelHandler & Sendable))? = nil, answersHeads: Bool = false,
    _ answer: @escaping @Sendable (String) -> RawAnswer
  ) async throws {
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { [notes] channel in
        notes.kept.withLock { $0.opened += 1 }
        channel.closeFuture.whenComplete { _ in notes.kept.withLock { $0.closed += 1 } }
        return channel.eventLoop.makeCompletedFuture {
          if let first { try channel.pipeline.syncOperations.addHandler(first()) }
          try channel.pipeline.syncOperations.addHandler(Handler(answer, notes, answersHeads))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = listener.localAddress?.port ?? 0
  }

  private init(listener: any Channel) {
    self.listener = listener
    port = listener.localAddress?.port ?? 0
  }

  /// One that takes connections and reads nothing.
  static func deaf() async throws -> RawServer {
    RawServer(
      listener: try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelOption(.autoRead, value: false)
        .bind(host: "127.0.0.1", port: 0).get())
  }

  func stop() async { try? await listener.close() }

  private final class Notes: Sendable {
    struct Kept {
      var requests: [String] = []
      var (opened, closed, sent) = (0, 0, 0)
    }

    let kept = Mutex(Kept())
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var text = ""
    private let answer: @Sendable (String) -> RawAnswer
    private let notes: Notes
    private let answersHeads: Bool

    init(_ answer: @escaping @Sendable (String) -> RawAnswer, _ notes: Notes, _ answersHeads: Bool) {
      self.answer = answer
      self.notes = notes
      self.answersHeads = answersHeads
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      text += String(buffer: unwrapInboundIn(data))
      while let end = end(of: text) {
        let request = String(text.utf8.prefix(end)) ?? ""
        text = String(text.utf8.dropFirst(end)) ?? ""
        notes.kept.withLock { $0.requests.append(request) }
        let answer = answer(request)
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenSuccess { [notes] in notes.kept.withLock { $0.sent += 1 } }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer.text)), promise: promise)
        if answer.closes { context.close(promise: nil) }
      }
    }

    /// How many bytes the first request has; `nil` if it is not all there.
    private func end(of text: String) -> Int? {
      let bytes = Array(text.utf8)
      guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
      if answersHeads { return head }
      let lines = String(decoding: bytes[..<head], as: UTF8.self).lowercased()
      if lines.contains("transfer-encoding: chunked") {
        return bytes[head...].firstRange(of: Array("0\r\n\r\n".utf8))?.upperBound
      }
      let length =
        lines.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) }
        ?? 0
      return bytes.count >= head + length ? head + length : nil
    }
  }
}

/// A connection that nothing is read from, until it is.
struct Greedy: Sendable {
  fileprivate let channel: any Channel

  /// Reads until the other side has ended it.
  func takeAll() async throws -> String {
    let taken = channel.eventLoop.makePromise(of: ByteBuffer.self)
    try await channel.pipeline.addHandler(Collector(taken)).get()
    try await channel.setOption(.autoRead, value: true).get()
    return String(buffer: try await taken.futureResult.get())
  }

  private final class Collector: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let taken: Mutex<ByteBuffer>
    private let promise: EventLoopPromise<ByteBuffer>

    init(_ promise: EventLoopPromise<ByteBuffer>) {
      self.promise = promise
      taken = Mutex(ByteBuffer())
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      taken.withLock { _ = $0.writeImmutableBuffer(bytes) }
    }

    func channelInactive(context: ChannelHandlerContext) { promise.succeed(taken.withLock { $0 }) }
  }

  func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)).get() }

  /// Says that nothing more is sent over it.
  func halfClose() async throws { try await channel.close(mode: .output) }

  /// Ends it.
  func leave() async throws { try await channel.close() }

  /// Breaks it off, of which the other side is told: it cannot be mistaken for the end of what is sent.
  func breakOff() async throws {
    // What has no time to linger is reset.
    try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
    try await channel.close()
  }

  /// Waits until the other side has ended it.
  func closed() async {
    // Writing shows the end; what comes is never read.
    while channel.isActive {
      do {
        try await channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")).get()
      } catch {
        return
      }
      await Task.yield()
    }
  }
}

/// A client that sends bytes and takes what comes until the connection ends.
enum RawClient {
  static func askAndTakeNothing(_ port: Int, _ text: String) async throws -> Greedy {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: false)
      .connect(host: "127.0.0.1", port: port).get()
    try await channel.writeAndFlush(ByteBuffer(string: text)).get()
    return Greedy(channel: channel)
  }

  /// `halfCloses`: Whether it says at once that it sends nothing more; `reset`: what to note behind an answer whose connection was reset.
  static func ask(
    _ port: Int, _ text: String, halfCloses: Bool = false, noting reset: String = ""
  ) async throws -> String {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      var answer = ""
      do {
        try await outbound.write(ByteBuffer(string: text))
      } catch {
        // Who has answered need not take everything.
      }
      if halfCloses { outbound.finish() }
      do {
        for try await bytes in inbound { answer += String(buffer: bytes) }
      } catch {
        // A connection that is reset has ended as well.
        answer += reset
      }
      return answer
    }
  }
}
#endif
