#if Proxy
import NIOCore

/// Lets what was written go out to a client that has closed its own side of the connection, before the other one is closed.
///
/// Once both sides are to be closed, SwiftNIO ends the connection at once. Stands next to the network.
final class HalfClosure: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private var isInputClosed = false

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event { isInputClosed = true }
    context.fireUserInboundEventTriggered(event)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output, isInputClosed else { return context.close(mode: mode, promise: promise) }
    let bound = context.loopBound
    // An empty write, behind everything else.
    context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).whenComplete { _ in
      bound.value.close(promise: promise)
    }
  }
}
#endif
