#if Proxy
import CacheEngineHTTP
import CacheEngineNetwork
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Takes the bytes of fields through NIO's parser and its encoders, which take fields for text and would change what is not UTF-8.
///
/// Between them and ``Inside``, each byte of a head is a character, as in ISO 8859-1; `HTTPField.latin1` and its initializer know that.
/// The parser alone decides where a head begins and ends, so nothing is read in two ways.
final class FieldBytes {
  /// The parser is in a head.
  fileprivate var isHead = true
  /// The bytes of content that are still to come; `nil` if that is not known.
  fileprivate var contentLeft: Int?
  fileprivate var hasFailed = false
  /// The parser reads nothing behind a request to upgrade.
  fileprivate var hasStopped = false
  fileprivate var isWritingFields = false
  /// An answer as bytes, which goes out in place of the head that is written next.
  private var prepared: ByteBuffer?
  /// How many heads the parser has read.
  fileprivate(set) var heads = 0
  /// What was answered from memory last, until somebody takes it.
  var answered: KnownRequest?
  /// Nothing in memory answers the request that comes now.
  var wasTried = false

  /// The parser is in no message, as far as it has told.
  var isBetweenMessages: Bool { isHead && !hasFailed && !hasStopped }

  /// Lets bytes go out in place of the head that is written next: that of an answer, whose content may follow it.
  func prepare(_ answer: ByteBuffer) { prepared = answer }

  /// Stands between the network and the parser.
  final class Outside: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let place: FieldBytes

    init(_ place: FieldBytes) { self.place = place }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var bytes = unwrapInboundIn(data)
      while bytes.readableBytes > 0, !place.hasFailed {
        let piece = place.isHead ? Self.headPiece(of: &bytes) : place.contentPiece(of: &bytes)
        context.fireChannelRead(wrapInboundOut(piece))
      }
    }

    /// A line with bytes beyond ASCII as text, or what stands before it: that may end the head.
    private static func headPiece(of bytes: inout ByteBuffer) -> ByteBuffer {
      let view = bytes.readableBytesView
      guard let first = view.firstIndex(where: { $0 >= 0x80 }) else { return bytes.take(upTo: view.endIndex) }
      if let end = view[..<first].lastIndex(of: 0x0A) { return bytes.take(upTo: end + 1) }
      let line = bytes.take(upTo: view[first...].firstIndex(of: 0x0A).map { $0 + 1 } ?? view.endIndex)
      return ByteBuffer(string: String(latin1: line.readableBytesView))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if let prepared = place.prepared.take() {
        return context.write(wrapOutboundOut(.byteBuffer(prepared)), promise: promise)
      }
      guard place.isWritingFields, case .byteBuffer(let head) = unwrapOutboundIn(data),
        head.readableBytesView.contains(where: { $0 >= 0x80 })
      else { return context.write(data, promise: promise) }
      let bytes = String(buffer: head).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
      context.write(wrapOutboundOut(.byteBuffer(ByteBuffer(bytes: bytes))), promise: promise)
    }
  }

  /// Stands behind the parser and the encoder.
  ///
  /// It is no generic class, of which every call would look up the types.
  protocol Inside: ChannelDuplexHandler
  where
    InboundIn == HTTPPart<InHead, ByteBuffer>, InboundOut == InboundIn, OutboundIn == HTTPPart<OutHead, IOData>,
    OutboundOut == OutboundIn
  {
    associatedtype InHead: Sendable & Equatable
    associatedtype OutHead: Sendable & Equatable

    var place: FieldBytes { get }

    /// Notes what follows a head.
    func note(_ head: InHead)
  }

  /// Stands behind the parser of requests and the encoder of answers.
  final class Requests: Inside {
    typealias InHead = HTTPRequestHead
    typealias OutHead = HTTPResponseHead

    let place: FieldBytes

    init(_ place: FieldBytes) { self.place = place }

    func note(_ head: HTTPRequestHead) {
      place.heads &+= 1
      place.isHead = false
      if head.headers.contains(name: "upgrade") { place.hasStopped = true }
      place.contentLeft = head.headers.first(name: "content-length").flatMap { Int(FieldList.trimmed($0[...])) }
    }
  }

  /// Stands behind the parser of responses and the encoder of requests.
  final class Responses: Inside {
    typealias InHead = HTTPResponseHead
    typealias OutHead = HTTPRequestHead

    let place: FieldBytes

    init(_ place: FieldBytes) { self.place = place }

    func note(_ head: HTTPResponseHead) {
      guard head.status.code >= 200 else { return }
      place.isHead = false
      // No other response is awaited behind it.
      place.contentLeft = .max
    }
  }

  /// What can be content, and of a head that follows nothing but ASCII, which is the same in both.
  private func contentPiece(of bytes: inout ByteBuffer) -> ByteBuffer {
    let view = bytes.readableBytesView
    if let left = contentLeft, left > 0 {
      return bytes.take(upTo: view.startIndex + min(left, view.count))
    }
    // Chunks end with an empty line, of which a part may have come before.
    var start = view.startIndex
    while let end = view[start...].firstIndex(of: 0x0A), !view[start..<end].allSatisfy({ $0 == 0x0D }) {
      start = end + 1
    }
    let first = view[start...].firstIndex { $0 >= 0x80 } ?? view.endIndex
    let last = first < view.endIndex ? view[start..<first].lastIndex(of: 0x0A) : nil
    return bytes.take(upTo: last.map { $0 + 1 } ?? view.endIndex)
  }
}

extension FieldBytes.Inside {
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): note(head)
    case .body(let content): place.contentLeft? -= content.readableBytes
    case .end(let trailers):
      place.isHead = true
      // These came with the content, as they were.
      if let trailers {
        let whole = trailers.filter { !$0.value.unicodeScalars.contains("\u{FFFD}") }
        let fields = whole.map { ($0.name, String(latin1: $0.value.utf8)) }
        return context.fireChannelRead(wrapInboundOut(.end(HTTPHeaders(fields))))
      }
    }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    place.hasFailed = true
    context.fireErrorCaught(error)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head, .end(.some): place.isWritingFields = true
    case .body, .end: break
    }
    context.write(data, promise: promise)
    place.isWritingFields = false
  }
}

extension ByteBuffer {
  /// Takes out what stands before a place of its readable bytes.
  fileprivate mutating func take(upTo end: Int) -> ByteBuffer {
    readSlice(length: end - readerIndex) ?? ByteBuffer()
  }
}

extension HTTPField {
  /// A field from a text of a character for each byte.
  init(name: Name, latin1 text: String) {
    if text.isASCII {
      self.init(name: name, value: text)
    } else {
      self.init(name: name, value: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }
  }

  /// Its value as a text of a character for each byte.
  var latin1: String {
    let text = value
    return text.isASCII ? text : unsafe withUnsafeBytesOfValue { unsafe String(latin1: $0) }
  }
}

extension String {
  /// A text of a character for each of its bytes.
  var latin1: String { isASCII ? self : String(latin1: utf8) }

  fileprivate var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
#endif
