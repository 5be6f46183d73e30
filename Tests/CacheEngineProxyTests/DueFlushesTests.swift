#if Proxy
import NIOCore
import NIOEmbedded
import Testing

@testable import CacheEngineProxy

@Suite struct DueFlushesTests {
  private let loop = EmbeddedEventLoop()
  private let due = DueFlushes()
  private let networks = (0..<3).map { _ in Network() }
  private let channels: [EmbeddedChannel]

  init() throws {
    let (loop, due) = (loop, due)
    channels = try networks.map { network in
      let channel = EmbeddedChannel(handlers: [network, Answering(due)], loop: loop)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      return channel
    }
  }

  private func ask(_ number: Int) throws { try channels[number].writeInbound(ByteBuffer(string: "\(number)")) }
  private func sent(_ number: Int) throws -> [String] {
    var sent: [String] = []
    while let answer = try channels[number].readOutbound(as: ByteBuffer.self) { sent.append(String(buffer: answer)) }
    return sent
  }

  @Test("the answers of a round go out at its end, those of each connection at once, and of the next round again")
  func rounds() throws {
    for _ in 1...2 {
      for number in [0, 1, 1, 2, 0] { try ask(number) }
      #expect(try (0..<3).map(sent) == [[], [], []])
      loop.run()
      #expect(try (0..<3).map(sent) == [["0", "0"], ["1", "1"], ["2"]])
    }
    // Twice in a row is once.
    #expect(networks.map(\.flushes) == [4, 2, 2])
  }

  @Test("a connection that closes while another is flushed keeps nobody from an answer")
  func closing() throws {
    for number in 0..<3 { try ask(number) }
    networks[0].flushing = { [channels] in channels[1].close(promise: nil) }
    loop.run()
    #expect(try [0, 2].map(sent) == [["0"], ["2"]])
    #expect(!channels[1].isActive)
  }

  @Test("what is written while answers are flushed goes out as well")
  func writing() throws {
    try ask(0)
    networks[0].flushing = { [networks, channels] in
      networks[0].flushing = {}
      _ = try? channels[2].writeInbound(ByteBuffer(string: "late"))
    }
    loop.run()
    #expect(try [0, 2].map(sent) == [["0"], ["late"]])
  }
}

/// Gives back what it is sent, once a round is over.
private final class Answering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let due: DueFlushes

  init(_ due: DueFlushes) { self.due = due }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.write(data, promise: nil)
    due.add(context)
  }
}

/// Counts flushes, and does something in each.
private final class Network: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  var flushes = 0
  var flushing = {}

  func flush(context: ChannelHandlerContext) {
    flushes += 1
    flushing()
    context.flush()
  }
}
#endif
