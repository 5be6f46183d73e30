#if Proxy
import CacheEngine
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CacheEngineProxy

@Suite struct OriginConnectionTests {
  /// Keeps a connection from ending, as a busy event loop does for a while.
  private final class Unending: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = Never
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {}
  }

  @Test("a client that leaves as the last of its answer comes leaves to others no connection that is about to end")
  func leavesAtTheEnd() async throws {
    let connection = OriginConnection()
    let channel = await NIOAsyncTestingChannel(handlers: [Unending(), connection])
    try await connection.send([.end(nil)], beginning: true)
    try await channel.writeInbound(HTTPClientResponsePart.end(nil))
    #expect(connection.isLive)
    let reader = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await connection.next(within: .seconds(1))
    }
    reader.cancel()
    #expect(try await reader.value == .end(nil))
    #expect(!connection.isLive)
  }

  /// Fails to send anything.
  private final class Broken: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = Never
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      promise?.fail(IOError(errnoCode: 32, reason: "write"))
    }
  }

  @Test("a connection that is reset has been ended by the server, which does not speak wrongly for that")
  func reset() async throws {
    let read = OriginConnection()
    let channel = await NIOAsyncTestingChannel(handler: read)
    try await read.send([.end(nil)], beginning: true)
    channel.pipeline.fireErrorCaught(IOError(errnoCode: 104, reason: "read"))
    let written = OriginConnection()
    let other = await NIOAsyncTestingChannel(handlers: [Broken(), written])
    let ofRead = await #expect(throws: CacheError.self) { try await read.next(within: .seconds(1)) }
    let ofWrite = await #expect(throws: CacheError.self) { try await written.send([.end(nil)], beginning: true) }
    for error in [ofRead, ofWrite] { #expect(ProxyFault(try #require(error)).name == "connection_terminated") }
    withExtendedLifetime((channel, other)) {}
  }

  @Test("what was of no use before anything was sent over it says so, and why; then another connection can be asked")
  func notBegun() async throws {
    let (ended, talkative) = (OriginConnection(), OriginConnection())
    let channels = (await NIOAsyncTestingChannel(handler: ended), await NIOAsyncTestingChannel(handler: talkative))
    channels.0.pipeline.fireErrorCaught(IOError(errnoCode: 104, reason: "read"))
    try await channels.1.writeInbound(
      HTTPClientResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
    for connection in [ended, talkative] {
      let error = await #expect(throws: OriginConnection.NotBegun.self) {
        try await connection.send([.end(nil)], beginning: true)
      }
      #expect(error?.why is CacheError && !connection.isLive)
      // What has begun is not begun anew.
      await #expect(throws: CacheError.self) { try await connection.send([.end(nil)], beginning: false) }
    }
    withExtendedLifetime(channels) {}
  }

  @Test("a head that is too long is told of as such")
  func longHead() async throws {
    let connection = OriginConnection()
    let channel = await NIOAsyncTestingChannel(handler: connection)
    try await connection.send([.end(nil)], beginning: true)
    channel.pipeline.fireErrorCaught(HTTPParserError.headerOverflow)
    let error = await #expect(throws: CacheError.self) { try await connection.next(within: .seconds(1)) }
    #expect(ProxyFault(try #require(error)).name == "http_response_header_section_size")
    withExtendedLifetime(channel) {}
  }

  @Test("a content that broke off was not put whole: its connection carries nothing more", arguments: [true, false])
  func brokenOff(isWhole: Bool) {
    let feed = BodyFeed(length: nil)
    feed.put(end: isWhole ? .success(()) : .failure(CancellationError()))
    #expect(feed.isPut == isWhole)
  }
}
#endif
