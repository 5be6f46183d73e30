#if Proxy
import NIOCore

/// Stops taking connections for a moment when there is no descriptor, or no memory, for another one.
///
/// SwiftNIO puts off only the next time that it is asked to accept: what it was asked before stays registered, and keeps its loop, which
/// answers others, running without a pause.
final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = any Channel

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if error is IOError, let options = context.channel.syncOptions {
      try? options.setOption(.autoRead, value: false)
      context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) {
        try? options.setOption(.autoRead, value: true)
      }
    }
    context.fireErrorCaught(error)
  }
}
#endif
