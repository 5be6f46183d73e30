#if Proxy
import CacheCore
import CacheEngineHTTP
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Answers from memory what can be understood without reading it: a GET whose fields are, byte for byte, those of the one that was
/// answered from memory before it on the same connection.
///
/// Clients send the same fields with every request, and what these mean takes longer to find out than the answer. Everything else goes
/// on to the parser, as it came. Stands next to the network, and is passed by all that others write.
final class RepeatedFields: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private let answers: InstantAnswers
  private let place: FieldBytes
  private let guardian: ClientGuard
  private let due: DueFlushes
  /// Longer heads go to the parser: those that are kept take little memory, and none of them is nearly too long.
  private let mostKept: Int
  private var known: KnownHead?
  /// All that went to the parser ended with an empty line, so that nothing of a request waits there.
  private var isLineEmpty = true
  private var hasPassedOn = false
  private var isEnding = false

  init(_ answers: InstantAnswers, _ place: FieldBytes, _ guardian: ClientGuard, _ due: DueFlushes) {
    self.answers = answers
    self.place = place
    self.guardian = guardian
    self.due = due
    mostKept = min(4 << 10, answers.settings.headBytes / 2)
  }

  /// Whether a request begins with the next byte, and every one before it was answered.
  private var isAtRest: Bool { isLineEmpty && place.isBetweenMessages && guardian.isAtRest && !isEnding }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    let isAtRest = isAtRest
    var wasTried = false
    if isAtRest, var known = known.take() {
      defer { self.known = known }
      wasTried = known.become(bytes, upTo: mostKept)
      if wasTried, answer(&known.request, context) { return }
    }
    hasPassedOn = true
    let heads = place.heads
    place.wasTried = wasTried
    place.answered = nil
    context.fireChannelRead(data)
    place.wasTried = false
    isLineEmpty = KnownHead.endsWithEmptyLine(bytes)
    guard let answered = place.answered.take(), isAtRest, isLineEmpty, place.isBetweenMessages,
      place.heads == heads &+ 1, bytes.readableBytes <= mostKept
    else { return }
    // It is the one head that was read in these bytes.
    known = KnownHead(bytes, answered)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // Who was given nothing has nothing to finish.
    guard hasPassedOn else { return }
    hasPassedOn = false
    context.fireChannelReadComplete()
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    isEnding = true
    context.close(mode: mode, promise: promise)
  }

  /// Answers a request, if that can be done at once.
  private func answer(_ request: inout KnownRequest, _ context: ChannelHandlerContext) -> Bool {
    guard let answer = answers.answer(&request, since: .now, context) else { return false }
    context.write(wrapOutboundOut(.byteBuffer(answer.bytes)), promise: nil)
    if let (rest, sent) = answer.rest { context.write(wrapOutboundOut(rest), promise: sent) }
    guardian.noteAnswer()
    due.add(context)
    answers.note(answer.served)
    return true
  }
}

/// The head of a request as it came, with what it means.
private struct KnownHead {
  private static let (start, end) = (ByteBuffer(string: "GET "), ByteBuffer(string: " HTTP/1.1\r\n"))
  private static let emptyLine = Array("\r\n\r\n".utf8)

  private var whole: ByteBuffer
  /// How many bytes stand behind the first line, those of the empty line among them.
  private let fieldBytes: Int
  var request: KnownRequest

  /// Keeps a head; `nil` if it is not a GET of a path, as that stands there.
  init?(_ bytes: ByteBuffer, _ request: KnownRequest) {
    // A copy: what comes next is read into the same memory if nobody keeps it.
    whole = ByteBuffer(bytes: bytes.readableBytesView)
    self.request = request
    var rest = whole
    let path = request.head.uri.utf8
    guard request.head.method == .GET, path.first == UInt8(ascii: "/"),
      rest.readSlice(length: Self.start.readableBytes) == Self.start,
      rest.readSlice(length: path.count)?.readableBytesView.elementsEqual(path) == true,
      rest.readSlice(length: Self.end.readableBytes) == Self.end
    else { return nil }
    fieldBytes = rest.readableBytes
  }

  private var fields: ByteBuffer? { whole.getSlice(at: whole.writerIndex - fieldBytes, length: fieldBytes) }

  static func endsWithEmptyLine(_ bytes: ByteBuffer) -> Bool {
    bytes.readableBytesView.suffix(emptyLine.count).elementsEqual(emptyLine)
  }

  /// Makes this the head of the next request, if nothing but its path is another one.
  mutating func become(_ bytes: ByteBuffer, upTo limit: Int) -> Bool {
    if bytes == whole { return true }
    var rest = bytes
    guard bytes.readableBytes <= limit, var line = rest.readSlice(length: max(0, bytes.readableBytes - fieldBytes)),
      rest == fields, line.readSlice(length: Self.start.readableBytes) == Self.start,
      let path = line.readString(length: max(0, line.readableBytes - Self.end.readableBytes)), line == Self.end,
      // Of the bytes of a path, none ends a line.
      path.utf8.first == UInt8(ascii: "/"), request.ask(for: path)
    else { return false }
    whole = ByteBuffer(bytes: bytes.readableBytesView)
    return true
  }
}
#endif
