#if Proxy && (os(Linux) || os(macOS))
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy
import HTTPTypes
import NIOCore
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(
  "The proxy before an https server",
  .enabled(if: TestAuthority.whyNot == nil, Comment(rawValue: TestAuthority.whyNot ?? "")),
  .timeLimit(.minutes(10)), .serialized)
struct SecureOriginTests: ProxySuite {
  private struct Setup {
    var kind = TestAuthority.Kind.valid
    var saysGoodbye = true
    var patience = Duration.seconds(60)
    var connectTimeout = Duration.seconds(30)
    var bodyLimit = 8 << 20
    /// What stands in the place of TLS.
    var first: (@Sendable () -> (any ChannelHandler & Sendable))?
  }

  let log = ServedLog()
  private let authority = TestAuthority.shared

  private func withProxy(
    _ setup: Setup = Setup(), origin answer: @escaping @Sendable (String) -> RawAnswer,
    _ body: (_ port: Int, _ proxy: HTTPCacheProxy<Memory>, _ origin: RawServer) async throws -> Void
  ) async throws {
    let authority = try authority.get()
    let identity = try authority.identity(setup.kind)
    let saysGoodbye = setup.saysGoodbye
    try await withProxy(
      bodyLimit: setup.bodyLimit, first: setup.first ?? { TLSEnd(identity, saysGoodbye: saysGoodbye) },
      reaching: {
        try ServerOrigin(
          secureHost: "127.0.0.1", port: $0, authorities: authority.file, connectTimeout: setup.connectTimeout,
          answerTimeout: setup.patience, idleTime: .seconds(3_600))
      }, origin: answer, body)
  }

  private func content(_ answer: String) -> String {
    answer.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
  }

  @Test("N32: a request is forwarded over TLS, answered from the cache from then on, and the connection is used again")
  func hit() async throws {
    try await withProxy(origin: { _ in Self.fresh("body", "X-Kind: a\r\n") }) { (port, proxy, origin) async throws in
      let first = try await ask(port, get("/a/../b?c", "X-Secret: 1\r\nX-Empty:\r\n"))
      #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n") && first.hasSuffix("\r\n\r\nbody"))
      #expect(first.contains("Cache-Status: cache-explorer; fwd=uri-miss; stored") && first.contains("X-Kind: a\r\n"))
      #expect(try await ask(port, get("/b?c")).contains("Cache-Status: cache-explorer; hit"))
      _ = try await ask(port, get("/c"))
      let asked = origin.requests
      #expect(asked.count == 2 && origin.connections.opened == 1)
      let lines = asked[0].components(separatedBy: "\r\n")
      #expect(lines[0] == "GET /b?c HTTP/1.1")
      let fields = [
        "Host: 127.0.0.1:\(origin.port)", "Via: 1.1 cache-explorer", "X-Empty:", "X-Forwarded-For: 127.0.0.1",
        "X-Secret: 1",
      ]
      #expect(lines.dropFirst().filter { !$0.isEmpty }.sorted() == fields)
      // What was answered over TLS is never what a plain server said.
      let key = "https://127.0.0.1:\(origin.port)/b?c"
      #expect(try await proxy.cache.store.get(key) != nil)
    }
  }

  @Test(
    "A certificate that cannot be trusted is 502, and nothing is sent to the server",
    arguments: [TestAuthority.Kind.expired, .otherHost, .unknownAuthority])
  func untrusted(_ kind: TestAuthority.Kind) async throws {
    try await withProxy(Setup(kind: kind), origin: { _ in Self.fresh("body") }) { (port, proxy, origin) async throws in
      let answer = try await ask(port, get())
      #expect(answer.hasPrefix("HTTP/1.1 502 "))
      #expect(answer.contains("Proxy-Status: cache-explorer; error=tls_certificate_error\r\n"))
      #expect(origin.requests.isEmpty && proxy.cache.store.usage.count == 0)
    }
    #expect(log.all.map(\.fault) == ["tls_certificate_error"])
    #expect(log.all[0].plainLine.contains(" tls_certificate_error: https://127.0.0.1:"))
    #expect(log.all[0].jsonLine.contains("\"fault\":\"tls_certificate_error\""))
  }

  @Test("A HEAD is answered also if there is content with it, which goes no further")
  func headWithContent() async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
    try await withProxy(Setup(patience: .seconds(10)), origin: { _ in RawAnswer(answer) }) {
      (port, _, origin) async throws in
      let head = try await ask(port, "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.contains("Content-Length: 4\r\n"))
      #expect(origin.requests.map { $0.hasPrefix("HEAD / HTTP/1.1\r\n") } == [true])
      #expect(origin.requests.allSatisfy { !$0.contains("Content-Length") && !$0.contains("abc") })
    }
  }

  @Test("Bytes in fields and trailers that are no UTF-8 go to the server, and come from it, as they are")
  func bytes() async throws {
    let authority = try authority.get()
    let identity = try authority.identity()
    let server = try await RawServer(first: { Bytewise(identity) }) { _ in
      RawAnswer(
        "HTTP/1.1 200 OK\r\nX: A\u{E9}\u{FF}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: \u{C3}\u{A9}\u{FF}\r\n\r\n")
    }
    let origin = try ServerOrigin(secureHost: "127.0.0.1", port: server.port, authorities: authority.file)
    let name = try #require(HTTPField.Name("X"))
    var request = HTTPTypes.HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/")
    request.headerFields.append(HTTPField(name: name, value: [0x42, 0xA0, 0xE8, 0x80, 0xFE]))
    let answer = try await origin.send(request, body: HTTPBody()) { _ in }
    #expect(answer.head.headerFields.first { $0.name == name } == HTTPField(name: name, value: [0x41, 0xE9, 0xFF]))
    let trailers = try await answer.body.collect(upTo: 0)?.trailers
    #expect(trailers.map(Array.init) == [HTTPField(name: name, value: [0xC3, 0xA9, 0xFF])])
    #expect(server.requests.map { $0.contains("\r\nX: B\u{A0}\u{E8}\u{80}\u{FE}\r\n") } == [true])
    await server.stop()
  }

  @Test("Without a file it is the system that says who is trusted")
  func system() async throws {
    let identity = try authority.get().identity()
    let server = try await RawServer(first: { TLSEnd(identity, saysGoodbye: true) }) { _ in Self.fresh("body") }
    let origin = try ServerOrigin(secureHost: "127.0.0.1", port: server.port)
    let proxy = try await HTTPCacheProxy(storing: Memory(), origin: origin)
    let serving = Task { try await proxy.serve() }
    #expect(try await ask(proxy.port, get()).contains("tls_certificate_error"))
    await proxy.stop()
    try await serving.value
    await server.stop()
  }

  /// Sends some bytes in the place of TLS, or nothing at all.
  private final class Nonsense: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let text: String

    init(_ text: String) { self.text = text }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if !text.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil) }
    }
  }

  @Test("A server that speaks no TLS is 502, one that never begins to 504, and one that is not there 502")
  func noHandshake() async throws {
    let plain = Setup(first: { Nonsense("HTTP/1.1 400 Bad Request\r\n\r\n") })
    try await withProxy(plain, origin: { _ in RawAnswer("") }) { (port, _, _) async throws in
      let answer = try await ask(port, get())
      #expect(answer.hasPrefix("HTTP/1.1 502 ") && answer.contains("error=tls_protocol_error\r\n"), "\(answer)")
    }
    let silent = Setup(connectTimeout: .milliseconds(200), first: { Nonsense("") })
    try await withProxy(silent, origin: { _ in RawAnswer("") }) { (port, _, origin) async throws in
      let answer = try await ask(port, get())
      #expect(answer.hasPrefix("HTTP/1.1 504 ") && answer.contains("error=connection_timeout\r\n"), "\(answer)")
      await origin.stop()
      let refused = try await ask(port, get())
      #expect(refused.hasPrefix("HTTP/1.1 502 ") && refused.contains("error=connection_refused\r\n"), "\(refused)")
    }
  }

  @Test(
    "N8: an answer that breaks off is delivered as broken, and not kept",
    arguments: [
      ("Content-Length: 9\r\n", "half", true), ("Content-Length: 9\r\n", "half", false),
      ("Transfer-Encoding: chunked\r\n", "4\r\nhalf\r\n", true), ("Transfer-Encoding: chunked\r\n", "4\r\nhal", false),
    ])
  func broken(_ framing: String, _ content: String, _ saysGoodbye: Bool) async throws {
    try await withProxy(
      Setup(saysGoodbye: saysGoodbye),
      origin: { _ in
        RawAnswer("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(framing)\r\n\(content)", closes: true)
      }
    ) { (port, proxy, origin) async throws in
      for count in 1...2 {
        let answer = try await ask(port, get())
        #expect(!answer.hasSuffix("0\r\n\r\n") && answer.contains("fwd=uri-miss"))
        #expect(origin.requests.count == count)
      }
      while proxy.counts.requests < 2 { try await turn() }
      #expect(proxy.cache.store.usage.count == 0)
    }
    #expect(log.all.allSatisfy { !$0.isWhole && $0.fault == "connection_terminated" })
  }

  @Test("What ends with its connection is passed on, and not kept")
  func undelimited() async throws {
    try await withProxy(
      origin: { _ in RawAnswer("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nbody", closes: true) }
    ) { (port, proxy, _) async throws in
      #expect(try await ask(port, get()).contains("4\r\nbody\r\n0\r\n\r\n"))
      #expect(proxy.cache.store.usage.count == 0)
    }
  }

  @Test(
    "An answer that cannot be understood in one way only is 502",
    arguments: [
      ("nonsense\r\n\r\n", "http_protocol_error"), ("", "connection_terminated"),
      ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "http_protocol_error"),
      (
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "http_protocol_error"
      ),
      ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "http_protocol_error"),
      ("HTTP/1.1 200 OK\r\nX : 1\r\nContent-Length: 0\r\n\r\n", "http_protocol_error"),
      ("HTTP/1.1 101 Switching\r\n\r\n", "http_protocol_error"),
      ("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n", "http_response_header_section_size"),
      (String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 400), "http_response_header_section_size"),
    ])
  func nonsense(_ text: String, _ fault: String) async throws {
    try await withProxy(origin: { _ in RawAnswer(text, closes: true) }) { (port, proxy, _) async throws in
      let answer = try await ask(port, "GET / HTTP/1.0\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 502 ") && answer.contains("error=\(fault)\r\n"), "\(answer.prefix(300))")
      #expect(proxy.cache.store.usage.count == 0)
    }
    // Who operates a proxy can set no limits of a library.
    #expect(log.all.allSatisfy { $0.explanation?.contains("HTTPLimits") == false })
  }

  @Test("A server that does not answer is 504; one that stops in the middle breaks its answer off")
  func slow() async throws {
    try await withProxy(
      Setup(patience: .milliseconds(300)),
      origin: { request in
        RawAnswer(
          request.hasPrefix("GET /half")
            ? "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 9\r\n\r\nhalf" : "")
      }
    ) { (port, proxy, origin) async throws in
      let answer = try await ask(port, get())
      #expect(answer.hasPrefix("HTTP/1.1 504 ") && answer.contains("error=http_response_timeout\r\n"))
      #expect(try await ask(port, get("/half")).hasSuffix("\r\n\r\nhalf"))
      while proxy.counts.requests < 2 || origin.connections.closed < 2 { try await turn() }
      #expect(proxy.cache.store.usage.count == 0)
    }
    #expect(log.all.map(\.fault) == ["http_response_timeout", "connection_read_timeout"])
  }

  @Test("N33: interim answers and trailers pass, and answers without content are whole")
  func around() async throws {
    try await withProxy(
      origin: { request in
        let method = request.prefix { $0 != " " }
        switch method {
        case "HEAD": return RawAnswer("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n")
        case "DELETE": return RawAnswer("HTTP/1.1 204 No Content\r\n\r\n")
        default:
          return RawAnswer(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
              + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 9\r\n\r\n")
        }
      }
    ) { (port, _, origin) async throws in
      let answer = try await ask(port, get())
      #expect(
        answer.hasPrefix("HTTP/1.1 103 Early Hints\r\n") && answer.contains("Link: </x>\r\n\r\nHTTP/1.1 200 OK\r\n"))
      #expect(answer.hasSuffix("4\r\nbody\r\n0\r\nX-Sum: 9\r\n\r\n"))
      let head = try await ask(port, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      #expect(head.contains("Content-Length: 7\r\n") && content(head).isEmpty)
      #expect(
        try await ask(port, "DELETE /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").hasPrefix("HTTP/1.1 204"))
      _ = try await ask(port, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      #expect(
        origin.requests.dropFirst().map { $0.components(separatedBy: "\r\n")[0] } == [
          "HEAD / HTTP/1.1", "DELETE /x HTTP/1.1",
        ])
    }
  }

  @Test("What is stale is asked about, and a 304 is taken as the value")
  func validates() async throws {
    try await withProxy(
      origin: { request in
        RawAnswer(
          request.contains("If-None-Match: \"1\"\r\n")
            ? "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n"
            : "HTTP/1.1 200 OK\r\nCache-Control: no-cache\r\nETag: \"1\"\r\nContent-Length: 4\r\n\r\nbody")
      }
    ) { (port, _, origin) async throws in
      _ = try await ask(port, get())
      let answer = try await ask(port, get())
      #expect(answer.contains("fwd=stale; fwd-status=304") && answer.hasSuffix("\r\n\r\nbody"))
      #expect(origin.requests.count == 2 && origin.connections.opened == 1)
    }
  }

  @Test("Content of requests goes through, with a length and in chunks, more of it than anybody holds")
  func content() async throws {
    let large = String(repeating: "0123456789abcdef", count: 1 << 16)
    try await withProxy(
      origin: { request in
        let body = request.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
        return RawAnswer("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      }
    ) { (port, _, origin) async throws in
      for body in ["hello", large] {
        let answer = try await ask(
          port, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        #expect(content(answer) == body)
        #expect(origin.requests.last?.hasPrefix("POST /x HTTP/1.1\r\n") == true)
        #expect(origin.requests.last?.contains("Content-Length: \(body.utf8.count)\r\n") == true)
        #expect(origin.requests.last?.contains("Expect") == false && origin.requests.last?.contains("Type") == false)
      }
      let chunked =
        "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
      #expect(try await ask(port, chunked).contains("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
      #expect(origin.requests.last?.contains("Transfer-Encoding: chunked\r\n") == true)
      let empty = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
      #expect(try await ask(port, empty).hasPrefix("HTTP/1.1 200"))
      #expect(origin.requests.last?.contains("Content-Length: 0\r\n") == true)
      // What may not be done twice never goes over a connection that may just be ending.
      #expect(origin.connections.opened == 4)
    }
  }

  @Test("A client that leaves in the middle of its content breaks the request off")
  func brokenContent() async throws {
    try await withProxy(origin: { _ in Self.fresh("body") }) { (port, proxy, origin) async throws in
      let client = try await RawClient.askAndTakeNothing(
        port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
      while origin.connections.opened == 0 { try await turn() }
      try await client.leave()
      while origin.connections.closed == 0 { try await turn() }
      #expect(origin.requests.isEmpty)
    }
  }

  @Test("A content that nobody takes stays at the server, and comes whole to who takes it")
  func backPressure() async throws {
    let large = String(repeating: "0123456789abcdef", count: 2 << 20)
    // More than a system keeps for connections that are not read: Linux up to 32 MiB for each.
    let huge = String(repeating: "0123456789abcdef", count: 8 << 20)
    try await withProxy(
      Setup(bodyLimit: 1 << 20), origin: { request in Self.fresh(request.hasPrefix("GET /a ") ? huge : large) }
    ) { (port, proxy, origin) async throws in
      let greedy = try await RawClient.askAndTakeNothing(port, get("/a"))
      while origin.requests.isEmpty { try await turn() }
      let answer = try await ask(port, get("/b"))
      #expect(content(answer) == large)
      // The client may have all of it before the server is told that it is out.
      while origin.sent == 0 { try await turn() }
      try await greedy.leave()
      while origin.connections.closed == 0 { try await turn() }
      #expect(origin.sent == 1)
    }
  }

  @Test("A hundred clients at a time, each with an answer of its own; and a hundred for one URL are one request")
  func parallel() async throws {
    try await withProxy(origin: { request in Self.fresh(String(request.split(separator: " ")[1])) }) {
      (port, proxy, origin) async throws in
      try await withThrowingTaskGroup(of: (String, String).self) { group in
        for index in 0..<100 {
          group.addTask { [get = get("/\(index)")] in ("/\(index)", try await RawClient.ask(port, get)) }
        }
        for try await (path, answer) in group { #expect(answer.hasSuffix("\r\n\r\n\(path)")) }
      }
      #expect(origin.requests.count == 100)
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<100 { group.addTask { [get = get("/one")] in try await RawClient.ask(port, get) } }
        for try await answer in group { #expect(answer.hasSuffix("\r\n\r\n/one")) }
      }
      #expect(origin.requests.count == 101)
    }
  }

  @Test("A file that is none, one without certificates and a host that is none are told of")
  func settings() throws {
    let file = try authority.get().file
    let missing = #expect(throws: CacheError.self) {
      try ServerOrigin(secureHost: "a.example", authorities: file + ".missing")
    }
    #expect(missing?.code == .invalidSetting)
    let key = #expect(throws: CacheError.self) {
      try ServerOrigin(secureHost: "a.example", authorities: file.replacing(".pem", with: ".key"))
    }
    #expect(key?.code == .invalidSetting && key?.message.contains("has no certificates") == true)
    let host = #expect(throws: CacheError.self) { try ServerOrigin(secureHost: "a b") }
    #expect(host?.code == .invalidAddress)
    #expect(try ServerOrigin(secureHost: "::1").authority == "[::1]")
    #expect(try ServerOrigin(secureHost: "a.example", port: 8443).authority == "a.example:8443")
  }

  /// Lets others go on; a test whose time is over ends here.
  private func turn() async throws {
    try Task.checkCancellation()
    await Task.yield()
  }
}
#endif
