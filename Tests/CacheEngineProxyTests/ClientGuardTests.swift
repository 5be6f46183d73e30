#if Proxy
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CacheEngineProxy

/// How long clients are waited for, by a clock that the tests turn.
@Suite struct ClientGuardTests {
  /// A connection whose client has asked once; what was not flushed to it counts as not taken.
  private func asked() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    let sync = channel.pipeline.syncOperations
    try sync.addHandlers(
      HTTPResponseEncoder(), ClientGuard(headTimeout: .seconds(30), idleTimeout: .seconds(60)) { _ in })
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try channel.writeInbound(HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")))
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    return channel
  }

  private func answer(_ length: Int, _ channel: EmbeddedChannel) {
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": String(length)])
    for part in [.head(head), .body(.byteBuffer(ByteBuffer(repeating: 7, count: length))), .end(nil)]
      as [HTTPServerResponsePart]
    { channel.write(part, promise: nil) }
  }

  private func pass(_ seconds: Int64, _ channel: EmbeddedChannel) {
    channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
  }

  @Test("who takes an answer slowly is waited for, and who has stopped to take it is not", arguments: [true, false])
  func slow(isFull: Bool) throws {
    let channel = try asked()
    answer(1_000, channel)
    if isFull {
      channel.isWritable = false
      channel.pipeline.fireChannelWritabilityChanged()
    }
    for left in [500, 250] {
      channel.flush()
      answer(left, channel)
      pass(60, channel)
      #expect(channel.isActive)
    }
    pass(120, channel)
    #expect(!channel.isActive)
  }

  @Test("who takes nothing of an answer is let go in time")
  func stalled() throws {
    let channel = try asked()
    answer(1_000, channel)
    channel.isWritable = false
    channel.pipeline.fireChannelWritabilityChanged()
    pass(59, channel)
    #expect(channel.isActive)
    pass(1, channel)
    #expect(!channel.isActive)
  }

  @Test("after the last answer has gone out its client may go on sending for two seconds, whatever it sends")
  func lingering() throws {
    let channel = try asked()
    answer(1_000, channel)
    pass(29, channel)
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
    channel.flush()
    pass(1, channel)
    try channel.writeInbound(HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")))
    #expect(channel.isActive)
    pass(1, channel)
    #expect(!channel.isActive)
  }

  @Test("what comes behind the last answer is not answered, and does not cut that off, whatever it is")
  func behindTheLast() throws {
    let channel = try asked()
    let head = HTTPResponseHead(
      version: .http1_1, status: .ok, headers: ["connection": "close", "content-length": "0"])
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    while try channel.readOutbound(as: IOData.self) != nil {}
    channel.pipeline.fireErrorCaught(HTTPParserError.closedConnection)
    channel.pipeline.fireErrorCaught(
      ByteToMessageDecoderError.dataReceivedInErrorState(HTTPParserError.closedConnection, ByteBuffer()))
    #expect(try channel.readOutbound(as: IOData.self) == nil)
    #expect(channel.isActive)
  }
}
#endif
