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
  /// A request has begun and was not answered.
  private var isAwaiting = false
  /// More was written than the client has taken for now.
  private var isFull = false
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
    expect(context)
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
      isAwaiting = true
      hasAnswered = false
    case .body: break
    case .end: isReading = false
    }
    expect(context)
    context.fireChannelRead(data)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isFull = !context.channel.isWritable
    expect(context, isNew: true)
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
      isAwaiting = false
      expect(context)
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

  /// Sets the alarm for what is the client's to do: to take what is there, to go on with its request, or to begin one.
  private func expect(_ context: ChannelHandlerContext, isNew: Bool = false) {
    // What a client does not take fills up our memory, whatever else it sends meanwhile.
    guard !isFull || isNew else { return }
    alarm?.cancel()
    let channel = context.channel
    guard isFull || isReading || !isAwaiting else { return }
    alarm = context.eventLoop.scheduleTask(in: isFull || isReading ? idleTimeout : headTimeout) {
      channel.close(promise: nil)
    }
  }
}
#endif
