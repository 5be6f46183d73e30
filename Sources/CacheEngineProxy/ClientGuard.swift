#if Proxy
  import CacheEngine
  import NIOCore
  import NIOHTTP1

  /// Answers what is no HTTP, and closes connections of clients that take their time: over a request, or to take an answer.
  ///
  /// Stands behind the handler that puts pipelined requests in order.
  final class ClientGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let headTimeout: TimeAmount
    private let idleTimeout: TimeAmount
    private var alarm: Scheduled<Void>?
    /// A request has begun and not ended.
    private var isReading = false
    /// Its answer has begun.
    private var hasAnswered = false
    /// An answer has begun and not ended.
    private var isAnswering = false
    private var hasRefused = false

    init(headTimeout: Duration, idleTimeout: Duration) {
      self.headTimeout = .nanoseconds(headTimeout.clampedNanoseconds)
      self.idleTimeout = .nanoseconds(idleTimeout.clampedNanoseconds)
    }

    func channelActive(context: ChannelHandlerContext) {
      expect(within: headTimeout, context)
      context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
      alarm?.cancel()
      context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head:
        isReading = true
        hasAnswered = false
        expect(within: idleTimeout, context)
      case .body: expect(within: idleTimeout, context)
      case .end:
        isReading = false
        alarm?.cancel()
      }
      context.fireChannelRead(data)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      // What a client does not take fills up our memory.
      if context.channel.isWritable { alarm?.cancel() } else { expect(within: idleTimeout, context) }
      context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      // What was refused here is not answered again by who has read its beginning.
      guard !hasRefused else {
        promise?.fail(ChannelError.ioOnClosedChannel)
        return
      }
      switch unwrapOutboundIn(data) {
      case .head(let head):
        isAnswering = head.status.code >= 200
        hasAnswered = hasAnswered || isAnswering
      case .body: break
      case .end:
        isAnswering = false
        expect(within: headTimeout, context)
      }
      context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if let error = error as? HTTPParserError, !hasRefused, !(isReading ? hasAnswered : isAnswering) {
        hasRefused = true
        let isTooLarge = error == .headerOverflow
        let headers: HTTPHeaders = ["Connection": "close", "Content-Length": "0"]
        let status: HTTPResponseStatus = isTooLarge ? .requestHeaderFieldsTooLarge : .badRequest
        context.write(
          wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      }
      context.fireErrorCaught(error)
      context.close(promise: nil)
    }

    private func expect(within time: TimeAmount, _ context: ChannelHandlerContext) {
      alarm?.cancel()
      let channel = context.channel
      alarm = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
  }
#endif
