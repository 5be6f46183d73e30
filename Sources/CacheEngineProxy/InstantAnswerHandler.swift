#if Proxy
import CacheCore
import CacheEngineHTTP
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What it takes to answer from memory, with the types of the level hidden.
struct InstantAnswers: Sendable {
  let cache: @Sendable (HTTPTypes.HTTPRequest, TargetURI) -> HTTPCacheAnswer?
  /// A target of the origin's.
  let origin: TargetURI
  let settings: ProxySettings
  let note: @Sendable (ServedRequest) -> Void
  let files = ContentFiles()
}

/// Answers on the event loop what the cache can answer at once; everything else goes on to a task.
///
/// Requests come here one after the other, each when the one before is answered, so no answer overtakes another one. The last one of
/// a connection goes on, too: its answer has to be taken before the end.
final class InstantAnswerHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// More content than this is not copied behind its head.
  private static let mostCopied = 16 << 10
  /// Stands for the head of every answer, which goes out as bytes.
  private static let head = HTTPResponseHead(version: .http1_1, status: .ok)

  private let answers: InstantAnswers
  private let fields: FieldBytes
  private var peer: String?
  /// The head of a request that has no content, until its end, which stands right behind it.
  private var pending: HTTPRequestHead?

  init(_ answers: InstantAnswers, _ fields: FieldBytes) {
    self.answers = answers
    self.fields = fields
  }

  func channelActive(context: ChannelHandlerContext) {
    peer = context.remoteAddress?.ipAddress
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head) where Self.mayBeAnsweredHere(head):
      pending = head
      return
    case .end:
      guard let head = pending.take() else { break }
      if answer(head, context) { return }
      context.fireChannelRead(wrapInboundOut(.head(head)))
    case .head, .body: break
    }
    context.fireChannelRead(data)
  }

  private static func mayBeAnsweredHere(_ head: HTTPRequestHead) -> Bool {
    head.isPersistent && (head.method == .GET || head.method == .HEAD)
      && !head.headers.contains(name: "content-length") && !head.headers.contains(name: "transfer-encoding")
  }

  /// Answers a request if that can be done at once.
  private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) -> Bool {
    let start = ContinuousClock.now
    // What answers wrote a moment ago may only have to be sent.
    if !context.channel.isWritable { context.flush() }
    // A client that asks but does not take has to wait, and only a task can make it wait.
    guard context.channel.isWritable,
      case .forward(let request, let target, _) = RequestCheck(
        head, origin: answers.origin, peer: peer, settings: answers.settings),
      let answer = answers.cache(request, target), let content = answer.body.bytes
    else { return false }
    let framed = FramedHead(answer, to: head, from: answers.origin, mayStay: true)
    var served = ServedRequest(answer, to: head)
    served.bytes = framed.mayHaveBody ? content.count : 0
    let copied = served.bytes <= Self.mostCopied ? served.bytes : 0
    var bytes = context.channel.allocator.buffer(capacity: 512 + copied)
    bytes.write(framed.head)
    if copied > 0 { bytes.writeBytes(content) }
    fields.prepare(bytes)
    context.write(wrapOutboundOut(.head(Self.head)), promise: nil)
    if served.bytes > copied { write(content, isPart: framed.head.status == .partialContent, context) }
    context.write(wrapOutboundOut(.end(nil)), promise: nil)
    // Once all that have asked by now have their answers: each is sent quickly then, and a client that reads is not woken for each.
    context.eventLoop.assumeIsolated().execute { context.flush() }
    served.isWhole = true
    served.duration = start.duration(to: .now)
    answers.note(served)
    return true
  }

  private func write(_ content: Data, isPart: Bool, _ context: ChannelHandlerContext) {
    // A part would keep the whole, as large as that is.
    guard !isPart, let place = answers.files.place(of: content) else {
      return context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: content)))), promise: nil)
    }
    let sent = context.eventLoop.makePromise(of: Void.self)
    // Until then the file must not be closed.
    sent.futureResult.whenComplete { _ in withExtendedLifetime(place) {} }
    context.write(wrapOutboundOut(.body(.fileRegion(place.region))), promise: sent)
  }
}

/// Adds up what was served, and tells whoever wants to know.
final class ProxyTally: Sendable {
  private let observe: @Sendable (ServedRequest) -> Void
  private let clock: any CacheClock
  private let counted = Mutex(ProxyCounts())

  init(clock: any CacheClock, _ observe: @escaping @Sendable (ServedRequest) -> Void) {
    self.clock = clock
    self.observe = observe
  }

  var counts: ProxyCounts { counted.withLock { $0 } }

  func note(_ served: ServedRequest) {
    var served = served
    served.time = clock.timeSinceEpoch
    counted.withLock { $0.count(served) }
    observe(served)
  }
}

extension ServedRequest {
  init(_ answer: HTTPCacheAnswer, to head: HTTPRequestHead) {
    self.init(
      method: head.methodName, path: head.uri, status: answer.head.status.code, cache: answer.status,
      age: answer.head.headerFields.first { $0.name == .age }.flatMap { Int($0.value) }, bytes: 0, duration: .zero,
      isWhole: false, isAnsweredByProxy: answer.status.detail == "only-if-cached")
  }
}
#endif
