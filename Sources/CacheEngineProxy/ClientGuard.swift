#if Proxy
import CacheCore
import CacheEngineHTTP
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

  /// How long a client that has its last answer may go on sending: closed at once, the connection would be reset, and the answer
  /// lost on the way (RFC 9112, section 9.6).
  private static let lingering = TimeAmount.seconds(2)

  private let headTimeout: TimeAmount
  private let idleTimeout: TimeAmount
  private let note: @Sendable (ServedRequest) -> Void
  /// When the client has to have done what is expected of it.
  private var deadline: NIODeadline?
  /// What rings no later than that, and is set again when it rings, not with every request.
  private var alarm: (time: NIODeadline, ringing: Scheduled<Void>)?
  /// A request has begun and not ended.
  private var isReading = false
  /// A request has begun and was not answered.
  private var isAwaiting = false
  /// More was written than the client has taken for now.
  private var isFull = false
  /// The bytes that it had not taken when that was looked at last.
  private var untaken = Int.max
  /// Its answer has begun.
  private var hasAnswered = false
  /// An answer has begun and not ended.
  private var isAnswering = false
  /// What was sent is no request, or not to its end: nothing more is read.
  private var hasRefused = false
  /// The answer that is given, or was given last, is the last one of its connection.
  private var isLast = false
  /// The last answer was written.
  private var isOver: Bool { isLast && !isAnswering }
  /// The last answer has gone out.
  private var hasEnded = false
  private var context: ChannelHandlerContext?

  /// Whether no request is under way, and another one may be answered.
  var isAtRest: Bool { !isReading && !isAwaiting && !hasRefused && !isLast && !hasEnded }

  /// `note`: Told of what was refused before anybody could read it as a request.
  init(headTimeout: Duration, idleTimeout: Duration, note: @escaping @Sendable (ServedRequest) -> Void) {
    self.headTimeout = .nanoseconds(headTimeout.clampedNanoseconds)
    self.idleTimeout = .nanoseconds(idleTimeout.clampedNanoseconds)
    self.note = note
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// Notes that a request came and was answered without being seen here.
  func noteAnswer() {
    untaken = .max
    if let context { expect(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    expect(context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    alarm?.ringing.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !hasRefused, !isOver else { return }
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
    untaken = isFull ? Self.untaken(context) : .max
    expect(context, isNew: true)
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.outputClosed = event {
      hasEnded = true
      wait(Self.lingering, context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head):
      isAnswering = head.status.code >= 200
      isLast = isAnswering && !head.isKeepAlive
      hasAnswered = hasAnswered || isAnswering
    case .body: untaken = .max
    case .end:
      isAnswering = false
      isAwaiting = false
      expect(context)
    }
    context.write(data, promise: promise)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Nobody reads what comes after the last answer.
    if hasRefused || hasEnded || isOver { return }
    guard let error = error as? HTTPParserError, !(isReading ? hasAnswered : isAnswering) else {
      context.fireErrorCaught(error)
      return context.close(promise: nil)
    }
    hasRefused = true
    // Whoever has begun with a request also answers one that has no end.
    if isReading { return context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    let (status, why): (HTTPResponseStatus, String) =
      switch error {
      case .headerOverflow: (.requestHeaderFieldsTooLarge, "its head is too long")
      // NIO's parser knows a list of methods, and none of them was this.
      case .invalidMethod: (.notImplemented, "its method is not known")
      default: (.badRequest, "what was sent is no request of HTTP/1.1")
      }
    let headers: HTTPHeaders = [
      "Connection": "close", "Content-Length": "0", "Date": HTTPDate(SystemClock().timeSinceEpoch).description,
    ]
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    var served = ServedRequest(
      method: "-", path: "-", status: Int(status.code), cache: nil, age: nil, bytes: 0, duration: .zero,
      isWhole: true, isAnsweredByProxy: true)
    served.explanation = why
    note(served)
    wait(idleTimeout, context)
    context.close(mode: .output, promise: nil)
  }

  /// Sets the alarm for what is the client's to do: to take what is there, to go on with its request, or to begin one.
  private func expect(_ context: ChannelHandlerContext, isNew: Bool = false) {
    // What a client does not take fills up our memory, whatever else it sends meanwhile.
    guard !isFull || isNew, !hasRefused, !hasEnded else { return }
    guard isFull || isReading || !isAwaiting else {
      deadline = nil
      return
    }
    wait(isFull || isReading ? idleTimeout : headTimeout, context)
  }

  private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    let time = context.eventLoop.now + time
    deadline = time
    if let alarm, alarm.time <= time { return }
    setAlarm(at: time, context)
  }

  private func setAlarm(at time: NIODeadline, _ context: ChannelHandlerContext) {
    alarm?.ringing.cancel()
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let ringing = context.eventLoop.scheduleTask(deadline: time) {
      let (guardian, context) = bound.value
      guardian.ring(context)
    }
    alarm = (time, ringing)
  }

  private func ring(_ context: ChannelHandlerContext) {
    alarm = nil
    guard let deadline else { return }
    guard deadline <= context.eventLoop.now else { return setAlarm(at: deadline, context) }
    let left = Self.untaken(context)
    // A slow client is waited for as long as it takes something.
    guard left > 0, left < untaken else { return context.close(promise: nil) }
    untaken = left
    wait(idleTimeout, context)
  }

  private static func untaken(_ context: ChannelHandlerContext) -> Int {
    (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}
#endif
