#if Proxy
import NIOCore
import NIOPosix
import Synchronization

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
  private let asked = Mutex<[String]>([])

  var requests: [String] { asked.withLock { $0 } }

  init(_ answer: @escaping @Sendable (String) -> RawAnswer) async throws {
    let notes = Notes()
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Handler(answer, notes.note))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = listener.localAddress?.port ?? 0
    notes.receiver.withLock { $0 = { [weak self] request in self?.asked.withLock { $0.append(request) } } }
  }

  func stop() async { try? await listener.close() }

  private final class Notes: Sendable {
    let receiver = Mutex<(@Sendable (String) -> Void)?>(nil)
    func note(_ request: String) { receiver.withLock { $0 }?(request) }
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var text = ""
    private let answer: @Sendable (String) -> RawAnswer
    private let note: @Sendable (String) -> Void

    init(_ answer: @escaping @Sendable (String) -> RawAnswer, _ note: @escaping @Sendable (String) -> Void) {
      self.answer = answer
      self.note = note
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      text += String(buffer: unwrapInboundIn(data))
      while let end = Self.end(of: text) {
        let request = String(text.utf8.prefix(end)) ?? ""
        text = String(text.utf8.dropFirst(end)) ?? ""
        note(request)
        let answer = answer(request)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer.text)), promise: nil)
        if answer.closes { context.close(promise: nil) }
      }
    }

    /// How many bytes the first request has; `nil` if it is not all there.
    private static func end(of text: String) -> Int? {
      let bytes = Array(text.utf8)
      guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
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

/// A connection that nothing is read from.
struct Greedy: Sendable {
  fileprivate let channel: any Channel

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

  static func ask(_ port: Int, _ text: String) async throws -> String {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(string: text))
      var answer = ""
      do {
        for try await bytes in inbound { answer += String(buffer: bytes) }
      } catch {
        // A connection that is reset has ended as well.
      }
      return answer
    }
  }
}
#endif
