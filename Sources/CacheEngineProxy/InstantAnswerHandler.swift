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

/// A request without content, with what it means and the answer that it was given last.
struct KnownRequest {
  private(set) var head: HTTPRequestHead
  private(set) var request: HTTPTypes.HTTPRequest
  private(set) var target: TargetURI
  fileprivate var given: GivenAnswer?

  /// Understands a request; `nil` if it is not to be forwarded.
  init?(_ head: HTTPRequestHead, from peer: String?, _ answers: InstantAnswers) {
    guard
      case .forward(let request, let target, _) = RequestCheck(
        head, origin: answers.origin, peer: peer, settings: answers.settings)
    else { return nil }
    (self.head, self.request, self.target) = (head, request, target)
  }

  /// Makes this the same request for another path, which begins with a slash.
  ///
  /// - Returns: Whether that is one.
  mutating func ask(for path: String) -> Bool {
    guard let target = target.with(path: path) else { return false }
    head.uri = path
    request.path = target.path
    self.target = target
    given = nil
    return true
  }
}

/// An answer without its content, as it was given once.
private struct GivenAnswer {
  let mark: AnswerMark?
  let head: [UInt8]
  let served: ServedRequest
  let mayHaveBody: Bool
  let isPart: Bool
}

/// An answer as it goes out.
struct InstantAnswer {
  /// Its head, with the content if little is copied.
  let bytes: ByteBuffer
  /// The content that is not there, with what is told when it was sent.
  let rest: (IOData, sent: EventLoopPromise<Void>?)?
  let served: ServedRequest
}

/// What it takes to answer from memory, with the types of the level hidden.
struct InstantAnswers: Sendable {
  /// More content than this is not copied behind its head.
  private static let mostCopied = 16 << 10
  /// A longer head is not kept for the next answer, so that connections which wait take little memory.
  private static let mostKept = 4 << 10

  let cache: @Sendable (HTTPTypes.HTTPRequest, TargetURI, AnswerMark?) -> ImmediateAnswer?
  /// A target of the origin's.
  let origin: TargetURI
  let settings: ProxySettings
  let note: @Sendable (ServedRequest) -> Void
  let files = ContentFiles()
  let due: DueFlushes.OfLoops

  /// Answers a request that has come at a time, if that can be done at once.
  func answer(
    _ known: inout KnownRequest, since start: ContinuousClock.Instant, _ context: ChannelHandlerContext
  ) -> InstantAnswer? {
    // What answers wrote a moment ago may only have to be sent.
    if !context.channel.isWritable { context.flush() }
    // A client that asks but does not take has to wait, and only a task can make it wait.
    guard context.channel.isWritable, let found = cache(known.request, known.target, known.given?.mark),
      let (given, content) = given(found, to: known)
    else { return nil }
    known.given = given.mark == nil || given.head.count > Self.mostKept ? nil : given
    var served = given.served
    served.bytes = given.mayHaveBody ? content.count : 0
    let copied = served.bytes <= Self.mostCopied ? served.bytes : 0
    var bytes = context.channel.allocator.buffer(capacity: given.head.count + copied)
    bytes.writeBytes(given.head)
    if copied > 0 { bytes.writeBytes(content) }
    let rest = served.bytes > copied ? self.rest(content, isPart: given.isPart, context) : nil
    served.isWhole = true
    served.duration = start.duration(to: .now)
    return InstantAnswer(bytes: bytes, rest: rest, served: served)
  }

  private func given(_ answer: ImmediateAnswer, to known: KnownRequest) -> (GivenAnswer, Data)? {
    switch answer {
    case .again(let content): return known.given.map { ($0, content) }
    case .new(let answer, let mark):
      guard let content = answer.body.bytes else { return nil }
      let framed = FramedHead(answer, to: known.head, from: origin, via: settings.via, mayStay: true)
      let given = GivenAnswer(
        mark: mark, head: framed.head.bytes, served: ServedRequest(answer, to: known.head),
        mayHaveBody: framed.mayHaveBody, isPart: framed.head.status == .partialContent)
      return (given, content)
    }
  }

  private func rest(
    _ content: Data, isPart: Bool, _ context: ChannelHandlerContext
  ) -> (IOData, sent: EventLoopPromise<Void>?) {
    // A part would keep the whole, as large as that is.
    guard !isPart, let place = files.place(of: content) else { return (.byteBuffer(ByteBuffer(bytes: content)), nil) }
    let sent = context.eventLoop.makePromise(of: Void.self)
    // Until then the file must not be closed.
    sent.futureResult.whenComplete { _ in withExtendedLifetime(place) {} }
    return (.fileRegion(place.region), sent)
  }
}

/// Answers on the event loop what the cache can answer at once; everything else goes on to a task.
///
/// Requests come here one after the other, each when the one before is answered, so no answer overtakes another one. The last one of
/// a connection goes on, too: its answer has to be taken before the end.
final class InstantAnswerHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// Stands for the head of every answer, which goes out as bytes.
  private static let head = HTTPResponseHead(version: .http1_1, status: .ok)

  private let answers: InstantAnswers
  private let fields: FieldBytes
  private let due: DueFlushes
  private var peer: String?
  /// The head of a request that has no content, until its end, which stands right behind it.
  private var pending: HTTPRequestHead?

  init(_ answers: InstantAnswers, _ fields: FieldBytes, _ due: DueFlushes) {
    self.answers = answers
    self.fields = fields
    self.due = due
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
    guard !fields.wasTried, var known = KnownRequest(head, from: peer, answers),
      let answer = answers.answer(&known, since: start, context)
    else { return false }
    fields.prepare(answer.bytes)
    context.write(wrapOutboundOut(.head(Self.head)), promise: nil)
    if let (rest, sent) = answer.rest { context.write(wrapOutboundOut(.body(rest)), promise: sent) }
    context.write(wrapOutboundOut(.end(nil)), promise: nil)
    due.add(context)
    fields.answered = known
    answers.note(answer.served)
    return true
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
