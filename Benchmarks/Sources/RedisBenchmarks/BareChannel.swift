import NIOCore
import NIOPosix
import Synchronization

/// The least that a question costs with swift-nio: a task hands bytes to a channel, and goes on when so many have come back.
final class BareChannel: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private struct State {
    var missing = 0
    var continuation: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// A channel to a server's socket, and what reads from it.
  static func connect(_ socket: String) async throws -> (channel: any Channel, reader: BareChannel) {
    let reader = BareChannel()
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(reader) }
      }
      .connect(unixDomainSocketPath: socket).get()
    return (channel, reader)
  }

  /// Asks, and returns when so many bytes have come.
  func ask(_ request: [UInt8], on channel: any Channel, _ answer: Int) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0 = State(missing: answer, continuation: continuation) }
      channel.writeAndFlush(ByteBuffer(bytes: request), promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let count = unwrapInboundIn(data).readableBytes
    let done = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.missing -= count
      return state.missing == 0 ? state.continuation.take() : nil
    }
    done?.resume()
  }
}
