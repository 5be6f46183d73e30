#if Proxy
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
}
#endif
