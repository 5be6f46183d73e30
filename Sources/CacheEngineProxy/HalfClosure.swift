#if Proxy
import NIOCore

/// Lets what was written go out before the connection is closed, also to a client that has closed its own side.
///
/// Once both sides are to be closed, SwiftNIO ends the connection at once, and what was not flushed is lost. Stands next to the network.
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
    context.flush()
    guard mode == .output, isInputClosed else { return context.close(mode: mode, promise: promise) }
    let bound = context.loopBound
    // An empty write, behind everything else.
    context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).whenComplete { _ in
      bound.value.close(promise: promise)
    }
  }
}
#endif
