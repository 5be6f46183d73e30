#if Proxy
import CacheEngineTesting
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@testable import CacheEngineHTTP
@testable import CacheEngineProxy

@Suite("Requests whose fields are those of the one before", .timeLimit(.minutes(3)))
struct RepeatedFieldsTests {
  private static let head = "GET /a HTTP/1.1\r\nHost: a\r\nX: é\r\nY:1\r\n\r\n"

  /// A memory that has every path but those that begin with `/miss`, whatever the query, and counts how often it was asked.
  private final class Memory: Sendable {
    private let stored = Mutex<[String: StoredResponse]>([:])
    let asked = Mutex(0)

    func answer(_ request: HTTPTypes.HTTPRequest, _ target: TargetURI, _ mark: AnswerMark?) -> ImmediateAnswer? {
      asked.withLock { $0 += 1 }
      guard !target.path.hasPrefix("/miss") else { return nil }
      let path = String(target.path.prefix { $0 != "?" })
      let response = stored.withLock { stored in
        let response =
          stored[path]
          ?? StoredResponse(
            head: .init(status: .ok, headerFields: [.eTag: path]), body: Data(path.utf8), requestTime: .zero,
            responseTime: .zero)
        stored[path] = response
        return response
      }
      let now = AnswerMark(response, timeToLive: 1, at: .zero)
      if mark == now { return .again(response.body) }
      return .new(HTTPCacheAnswer(head: response.head, body: HTTPBody(response.body), status: CacheStatus()), now)
    }
  }

  /// Notes what nobody has answered, and answers it when it is told to.
  private final class Rest: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private(set) var parts: [String] = []
    private var isWaiting = false
    private var isLast = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        parts.append("\(head)")
        isWaiting = true
        isLast = !head.isPersistent
      case .body(let bytes): parts.append(String(buffer: bytes))
      case .end(let trailers): parts.append("end \(trailers ?? [:])")
      }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { parts.append("\(event)") }

    /// Answers a request, if one waits.
    func answer(_ given: HTTPResponseHead) {
      guard isWaiting else { return }
      var head = given
      if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
      isWaiting = false
      context?.write(wrapOutboundOut(.head(head)), promise: nil)
      context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }

  /// A connection of a proxy, up to what answers by a task.
  private struct Client {
    let channel = EmbeddedChannel()
    let memory = Memory()
    let place = FieldBytes()
    let log = ServedLog()
    private let rest = Rest()

    /// `reads`: Whether every request is read.
    init(reads: Bool = false) throws {
      let origin = try #require(TargetURI(scheme: "http", authority: "origin", path: "/"))
      let answers = InstantAnswers(
        cache: { [memory] in memory.answer($0, $1, $2) }, origin: origin, settings: ProxySettings(), note: log.note,
        due: DueFlushes.OfLoops(channel.eventLoop))
      let due = answers.due[channel.eventLoop]
      let guardian = ClientGuard(headTimeout: .seconds(30), idleTimeout: .seconds(60), note: log.note)
      var encoding = HTTPResponseEncoder.Configuration()
      encoding.automaticallySetFramingHeaders = false
      let sync = channel.pipeline.syncOperations
      if !reads { try sync.addHandler(RepeatedFields(answers, place, guardian, due)) }
      try sync.addHandlers([
        HalfClosure(), FieldBytes.Outside(place), HTTPResponseEncoder(configuration: encoding),
        ByteToMessageHandler(HTTPRequestDecoder()), FieldBytes.Requests(place), HTTPServerPipelineHandler(), guardian,
        InstantAnswerHandler(answers, place, due), rest,
      ])
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func send(_ bytes: some Sequence<UInt8>) {
      // An error is for those who handle it.
      _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
      channel.embeddedEventLoop.run()
    }

    /// Answers the request that waits.
    func answer(_ fields: HTTPHeaders = ["Content-Length": "0"]) {
      rest.answer(HTTPResponseHead(version: .http1_1, status: .accepted, headers: fields))
      channel.embeddedEventLoop.run()
    }

    func take(_ step: Step) {
      switch step {
      case .bytes(let bytes): send(bytes)
      case .answer(let isLast):
        answer(isLast ? ["Content-Length": "0", "Connection": "close"] : ["Content-Length": "0"])
      case .time(let seconds): channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
      case .takes(let takes):
        guard takes != channel.isWritable else { return }
        channel.isWritable = takes
        channel.pipeline.fireChannelWritabilityChanged()
      case .saysNoMore: channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      }
    }

    /// All that came of what was sent: answers, what waits, and what was told.
    func outcome() throws -> [String] {
      var answers = ""
      while let bytes = try channel.readOutbound(as: IOData.self) {
        if case .byteBuffer(let bytes) = bytes { answers += String(buffer: bytes) }
      }
      // The time of day is not the same in two of them.
      let lines = answers.components(separatedBy: "\r\n").filter { !$0.hasPrefix("Date: ") }
      return lines + rest.parts + log.all.map { "\($0.method) \($0.path) \($0.status) \($0.bytes)" }
        + ["\(channel.isActive)"]
    }
  }

  @Test("they are answered without being read, also for another path, and as if they had been read")
  func answered() throws {
    let (client, reader) = (try Client(), try Client(reads: true))
    for path in ["/a", "/a", "/a?b", "/b/../c", "/a"] {
      let bytes = Self.head.replacing("/a", with: path).utf8
      client.send(bytes)
      reader.send(bytes)
    }
    #expect(client.place.heads == 1 && reader.place.heads == 5)
    #expect(
      client.memory.asked.withLock { $0 } == 5 && client.log.all.map(\.path) == ["/a", "/a", "/a?b", "/b/../c", "/a"])
    #expect(try client.outcome() == reader.outcome())
  }

  /// Expects pieces to come to the same for a client whose last request is known as for one that is always read.
  private func expectAlike(_ pieces: [[UInt8]], answering: Bool = false, _ comment: Comment? = nil) throws {
    let outcomes = try [false, true].map { reads in
      let client = try Client(reads: reads)
      client.send(Self.head.utf8)
      for piece in pieces { client.send(piece) }
      client.send(Self.head.utf8)
      if answering { client.answer() }
      client.send(Self.head.utf8)
      return try client.outcome()
    }
    #expect(outcomes[0] == outcomes[1], comment)
  }

  @Test("a head with any other byte, without one or with one more is what it is")
  func bytes() throws {
    let head = Array(Self.head.utf8)
    for place in head.indices {
      for byte: UInt8 in [0, 0x09, 0x0A, 0x0D, 0x20, 0x23, 0x2F, 0x3A, 0x3F, 0x41, 0x7F, 0x80, 0xFF] {
        var (other, longer) = (head, head)
        other[place] = byte
        longer.insert(byte, at: place)
        try expectAlike([other], "\(byte) in place of byte \(place)")
        try expectAlike([longer], "\(byte) before byte \(place)")
      }
      var shorter = head
      shorter.remove(at: place)
      try expectAlike([shorter], "without byte \(place)")
    }
  }

  @Test("any byte in a path is what it is")
  func pathBytes() throws {
    for byte in UInt8.min...UInt8.max {
      for path in [[0x2F, byte], [0x2F, byte, 0x62], [byte, 0x61], [0x2F, 0x3F, byte]] as [[UInt8]] {
        try expectAlike([Array("GET ".utf8) + path + Self.head.utf8.dropFirst(6)], "\(path)")
      }
    }
  }

  @Test("a head in pieces, or with more before or behind it, is read as such")
  func pieces() throws {
    let head = Array(Self.head.utf8)
    for place in head.indices.dropFirst() {
      try expectAlike([Array(head[..<place]), Array(head[place...])], "in pieces of \(place)")
      // A known one stands in the middle of another one.
      try expectAlike([Array(head[..<place])], "behind \(place) bytes")
      try expectAlike([head + head[..<place], Array(head[place...])], "with \(place) of the next")
    }
    try expectAlike([head + head, head + head])
    try expectAlike([Array("\r\n\r\n".utf8), head, Array("\r\n".utf8)])
  }

  @Test(
    "what looks like a known head is content where it is content, and waits where another one is being answered",
    arguments: [
      "POST /miss HTTP/1.1\r\nHost: a\r\nContent-Length: \(2 * head.utf8.count)\r\n\r\n",
      "POST /miss HTTP/1.1\r\nHost: a\r\nContent-Length: \(head.utf8.count)\r\n\r\n",
      "POST /miss HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(String(head.utf8.count, radix: 16))\r\n",
      "GET /miss HTTP/1.1\r\nHost: a\r\nX: é\r\nY:1\r\n\r\n", "GET /miss HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /b HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /a HTTP/1.1\r\nHost: a\r\nX: é\r\nY:1\r\n\r\n",
      "GET /a HTTP/1.0\r\nHost: a\r\nX: é\r\nY:1\r\n\r\n", "GET http://a/a HTTP/1.1\r\nHost: a\r\nX: é\r\nY:1\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: b\r\n\r\n",
    ], [true, false])
  func order(_ first: String, answering: Bool) throws {
    try expectAlike([Array(first.utf8)], answering: answering)
  }

  /// What happens on a connection.
  private enum Step: CustomStringConvertible {
    case bytes([UInt8])
    case answer(isLast: Bool)
    case time(Int64)
    case takes(Bool)
    case saysNoMore

    var description: String {
      switch self {
      case .bytes(let bytes): "bytes \(String(decoding: bytes, as: UTF8.self).debugDescription)"
      case .answer(let isLast): isLast ? "last answer" : "answer"
      case .time(let seconds): "\(seconds) s"
      case .takes(let takes): takes ? "takes" : "takes nothing"
      case .saysNoMore: "says no more"
      }
    }

    /// What one request, or something like it, is sent as.
    static func request(_ random: inout SeededGenerator) -> [Step] {
      let path = ["/a", "/a", "/a", "/a", "/b", "/b", "/a?b", "/miss"].randomElement(using: &random) ?? "/"
      let head = RepeatedFieldsTests.head.replacing("/a", with: path)
      var text =
        switch Int.random(in: 0..<24, using: &random) {
        case 0: head.replacing("Y:1", with: "Y:2")
        case 1: head.replacing("GET", with: "HEAD")
        case 2: head.replacing("1.1", with: "1.0")
        case 3: head + head.replacing(path, with: "/a")
        case 4: "POST /miss HTTP/1.1\r\nHost: a\r\nContent-Length: \(head.utf8.count)\r\n\r\n\(head)"
        case 5:
          "POST /miss HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "\(String(head.utf8.count, radix: 16))\r\n\(head)\r\n0\r\n\r\n"
        case 6: "\r\n" + head
        case 7: head + "\r\n"
        default: head
        }
      if Int.random(in: 0..<60, using: &random) == 0 { text.replace("a\r\n", with: "a\r\nConnection: close\r\n") }
      if Int.random(in: 0..<60, using: &random) == 0 { text.replace("Host", with: "Ho st") }
      let bytes = Array(text.utf8)
      guard Int.random(in: 0..<6, using: &random) == 0 else { return [.bytes(bytes)] }
      let place = Int.random(in: 0...bytes.count, using: &random)
      return [.bytes(Array(bytes[..<place])), .bytes(Array(bytes[place...]))]
    }

    static func some(_ random: inout SeededGenerator) -> [Step] {
      switch Int.random(in: 0..<60, using: &random) {
      case 0..<12: [.answer(isLast: false)]
      case 12: [.answer(isLast: Int.random(in: 0..<4, using: &random) == 0)]
      case 13..<17: [.time(Int64.random(in: 1...25, using: &random))]
      case 17: [.takes(false)]
      case 18, 19: [.takes(true)]
      case 20: Int.random(in: 0..<8, using: &random) == 0 ? [.saysNoMore] : []
      default: request(&random)
      }
    }
  }

  @Test("whatever happens on a connection, it comes to the same", arguments: 0..<8 as Range<UInt64>)
  func random(seed: UInt64) throws {
    var (random, spared) = (SeededGenerator(seed: seed), 0)
    for _ in 0..<100 {
      let steps = (0..<40).flatMap { _ in Step.some(&random) }
      var alive: [[Bool]] = []
      var outcomes: [[String]] = []
      for reads in [false, true] {
        let client = try Client(reads: reads)
        var saysMore = true
        alive.append(
          steps.map { step in
            switch step {
            case .bytes where !saysMore: break
            case .saysNoMore where !saysMore: break
            case .saysNoMore:
              saysMore = false
              client.take(step)
            default: if client.channel.isActive { client.take(step) }
            }
            return client.channel.isActive
          })
        outcomes.append(try client.outcome())
        spared += reads ? client.place.heads : -client.place.heads
      }
      try #require(alive[0] == alive[1], "\(steps)")
      try #require(outcomes[0] == outcomes[1], "\(steps)")
    }
    #expect(spared > 100)
  }

  @Test("behind the last answer, and on a connection that is being closed, there is none")
  func last() throws {
    for closes in [true, false] {
      let client = try Client()
      client.send(Self.head.utf8)
      client.send(Self.head.utf8)
      if closes {
        client.channel.pipeline.close(mode: .output, promise: nil)
      } else {
        client.send("GET /miss HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        client.answer(["Connection": "close"])
      }
      client.send(Self.head.utf8)
      #expect(client.log.all.count == 2)
    }
  }

  @Test("an answer from memory that came late says nothing of the request behind it")
  func late() throws {
    let unread = "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
    let outcomes = try [false, true].map { reads in
      let client = try Client(reads: reads)
      client.send("GET /miss HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
      client.send("GET /a HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n".utf8)
      client.answer()
      for _ in 1...2 {
        client.send(unread.utf8)
        client.answer()
      }
      return try client.outcome()
    }
    #expect(outcomes[0] == outcomes[1])
  }

  @Test("what is longer than what is kept is read")
  func long() throws {
    let client = try Client()
    for path in ["/a", "/\(String(repeating: "a", count: 4_096))", "/b"] {
      client.send(Self.head.replacing("/a", with: path).utf8)
    }
    #expect(client.place.heads == 2 && client.log.all.count == 3)
  }

  @Test("what is not in memory is looked for once, and read")
  func once() throws {
    let client = try Client()
    for path in ["/a", "/miss"] { client.send(Self.head.replacing("/a", with: path).utf8) }
    #expect(client.memory.asked.withLock { $0 } == 2 && client.place.heads == 2)
  }

  @Test("a client that does not take its answers has none in advance")
  func full() throws {
    let client = try Client()
    client.send(Self.head.utf8)
    client.channel.isWritable = false
    client.send(Self.head.utf8)
    #expect(client.log.all.count == 1)
  }

  @Test("who was answered so is waited for as long as anybody")
  func waiting() throws {
    let client = try Client()
    client.send(Self.head.utf8)
    for seconds in [29, 29, 29] {
      client.channel.embeddedEventLoop.advanceTime(by: .seconds(Int64(seconds)))
      #expect(client.channel.isActive)
      client.send(Self.head.utf8)
    }
    #expect(client.place.heads == 1)
    client.channel.embeddedEventLoop.advanceTime(by: .seconds(30))
    #expect(!client.channel.isActive)
  }
}
#endif
