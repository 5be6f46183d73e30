#if Proxy
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CacheEngineProxy

@Suite("Bytes of fields that are no UTF-8")
struct FieldBytesTests {
  /// The parser of a proxy's clients.
  private func server() throws -> EmbeddedChannel {
    let place = FieldBytes()
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers([
      FieldBytes.Outside(place), ByteToMessageHandler(HTTPRequestDecoder()),
      FieldBytes.Requests(place),
    ])
    return channel
  }

  /// What fields named `X` say, by requests, each as characters.
  private func fields(in channel: EmbeddedChannel) throws -> [[UInt32]] {
    var values: [[UInt32]] = []
    while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
      guard case .head(let head) = part else { continue }
      values += head.headers["X"].map { $0.unicodeScalars.map(\.value) }
    }
    return values
  }

  @Test(
    "they come out as they went in, behind any content, and wherever the bytes are divided",
    arguments: [
      "GET / HTTP/1.1\r\nX: A\u{E9}\u{FF}\r\n\r\n",
      "PUT / HTTP/1.1\r\nX: A\u{E9}\u{FF}\r\nContent-Length: 4\r\n\r\n\u{E9}\n\r\n",
      "PUT / HTTP/1.1\r\nX: A\u{E9}\u{FF}\r\nContent-Length: 30\r\n\r\n\(String(repeating: "\n", count: 29))\u{E9}",
      "PUT / HTTP/1.1\r\nX: A\u{E9}\u{FF}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\n\n\u{E9}\u{C3}\r\n0\r\nT: \u{E9}\r\n\r\n",
      "PUT / HTTP/1.1\r\nX: A\u{E9}\u{FF}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ])
  func unchanged(request: String) throws {
    let bytes = Array((request + request + request).unicodeScalars.map { UInt8($0.value) })
    for size in [1, 2, 3, 7, 50, bytes.count] {
      let channel = try server()
      for start in stride(from: 0, to: bytes.count, by: size) {
        try channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(try fields(in: channel) == Array(repeating: [0x41, 0xE9, 0xFF], count: 3), "in pieces of \(size)")
    }
  }

  @Test("chunks come in as few pieces as they can, however many empty lines there are in them")
  func pieces() throws {
    let channel = try server()
    let lines = String(repeating: "\n", count: 0xFFF)
    let head = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    try channel.writeInbound(ByteBuffer(string: head))
    try channel.writeInbound(ByteBuffer(string: "FFF\r\n\(lines)\r\n2\r\né\r\n0\r\n\r\n"))
    var sizes: [Int] = []
    while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
      if case .body(let bytes) = part { sizes.append(bytes.readableBytes) }
    }
    #expect(sizes == [0xFFF, 2])
  }

  @Test("they are the bytes of the field in between, and go out again as they are")
  func between() throws {
    let name = try #require(HTTPField.Name("X"))
    let field = HTTPField(name: name, latin1: "A\u{E9}\u{FF}")
    #expect(field == HTTPField(name: name, value: [0x41, 0xE9, 0xFF]) && field.latin1 == "A\u{E9}\u{FF}")
    // What is UTF-8 can be read.
    #expect(HTTPField(name: name, latin1: "\u{C3}\u{A9}").value == "é")
    let place = FieldBytes()
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers([
      FieldBytes.Outside(place), HTTPResponseEncoder(), FieldBytes.Requests(place),
    ])
    var fields: HTTPFields = [.contentLength: "2"]
    fields.append(field)
    // Of this character's number, the last byte is that of a line's end.
    let status = HTTPTypes.HTTPResponse.Status(code: 299, reasonPhrase: "\u{10A}")
    let head = HTTPResponseHead(HTTPTypes.HTTPResponse(status: status, headerFields: fields))
    try channel.writeOutbound(HTTPServerResponsePart.head(head))
    let content = ByteBuffer(string: "é")
    try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(content)))
    let sent = try #require(try channel.readOutbound(as: IOData.self))
    guard case .byteBuffer(let bytes) = sent else { throw CancellationError() }
    #expect(Array(bytes.readableBytesView).firstRange(of: Array("\r\nX: A".utf8) + [0xE9, 0xFF, 0x0D, 0x0A]) != nil)
    #expect(bytes.readableBytesView.starts(with: "HTTP/1.1 299 \u{10A}\r\n".utf8))
    #expect(try channel.readOutbound(as: IOData.self) == .byteBuffer(content))
  }
}
#endif
