#if Proxy
import CacheEngine
import CacheEngineTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@testable import CacheEngineHTTP
@testable import CacheEngineProxy

/// What clients, logs and the origin see of requests that are answered without being read, beside requests that are all read.
@Suite("Exchanges of clients that repeat their fields", .timeLimit(.minutes(5)))
struct RepeatedExchangesTests {
  private typealias Memory = MemoryCacheLevel<String, StoredVariants>

  /// An origin whose answers tell what they were made of, and on what terms they may be kept.
  private final class Origin: Sendable {
    static let paths = [
      "/kept", "/kept?a", "/./kept", "/user", "/cookie", "/asked", "/private", "/stale", "/sets", "/aged", "/missing",
      "/moved", "/trailers", "/long", "/heuristic", "/tagless",
    ]

    private let clock: ManualClock
    private let version = Mutex(0)

    init(_ clock: ManualClock) { self.clock = clock }

    func change() { version.withLock { $0 += 1 } }

    func answer(_ request: String) -> RawAnswer {
      let lines = request.components(separatedBy: "\r\n")
      let words = (lines.first ?? "").split(separator: " ").map(String.init)
      func value(_ name: String) -> String {
        lines.first { $0.lowercased().hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) } ?? ""
      }
      if !["GET", "HEAD"].contains(words.first) { change() }
      let path = words.count > 1 ? words[1] : "/"
      let tag = "\"\(version.withLock { $0 })\""
      let told = "\(path) \(tag) \(value("x-user")) \(value("cookie")) \(value("authorization"))"
      let (status, fields) =
        switch path.prefix(while: { $0 != "?" }) {
        case "/kept": ("200 OK", "Cache-Control: max-age=5\r\nETag: \(tag)\r\n")
        case "/user": ("200 OK", "Cache-Control: max-age=20\r\nVary: X-User\r\n")
        case "/cookie":
          ("200 OK", "Cache-Control: public, max-age=20\r\nVary: Cookie, Authorization\r\nETag: \(tag)\r\n")
        case "/asked": ("200 OK", "Cache-Control: no-cache\r\nETag: \(tag)\r\n")
        case "/private": ("200 OK", "Cache-Control: private, max-age=20\r\n")
        case "/stale": ("200 OK", "Cache-Control: max-age=2, stale-while-revalidate=5\r\nETag: W/\(tag)\r\n")
        case "/sets": ("200 OK", "Cache-Control: max-age=20\r\nSet-Cookie: s=\(value("x-user"))\r\n")
        case "/aged": ("200 OK", "Cache-Control: s-maxage=6\r\nAge: 2\r\n")
        case "/missing": ("404 Not Found", "Cache-Control: max-age=9\r\n")
        case "/moved": ("301 Moved Permanently", "Cache-Control: max-age=9\r\nLocation: http://origin/kept\r\n")
        case "/heuristic": ("200 OK", "Last-Modified: Tue, 30 Dec 2025 00:00:00 GMT\r\n")
        default: ("200 OK", "Cache-Control: max-age=8\r\n")
        }
      let date = "Date: \(HTTPDate(clock.timeSinceEpoch))\r\n"
      if fields.contains("ETag"), value("if-none-match").contains(tag) {
        return RawAnswer("HTTP/1.1 304 Not Modified\r\n\(date)\(fields)\r\n")
      }
      if path == "/trailers" {
        let end = words.first == "HEAD" ? "" : "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n"
        return RawAnswer("HTTP/1.1 \(status)\r\n\(date)\(fields)Transfer-Encoding: chunked\r\n\r\n\(end)")
      }
      let body = path == "/long" ? told + String(repeating: "a", count: 40_000) : told
      return RawAnswer(
        "HTTP/1.1 \(status)\r\n\(date)\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
          + (words.first == "HEAD" ? "" : body))
    }
  }

  /// A connection over which one request at a time is sent.
  private final class Connection: Sendable {
    private let channel: any Channel

    init(to port: Int) async throws {
      channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Taker()) }
        }
        .connect(host: "127.0.0.1", port: port).get()
    }

    var isOpen: Bool { channel.isActive }

    /// Sends bytes and returns the answer.
    func ask(_ request: String, isHead: Bool) async throws -> String {
      let bytes = ByteBuffer(string: request)
      let taken = channel.eventLoop.makePromise(of: String.self)
      try await channel.eventLoop.submit { [channel] in
        try channel.pipeline.syncOperations.handler(type: Taker.self).expect(taken, isHead: isHead)
        channel.writeAndFlush(bytes, promise: nil)
      }.get()
      return try await taken.futureResult.get()
    }

    func end() async { try? await channel.close() }

    private final class Taker: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer

      private var bytes: [UInt8] = []
      private var expected: (promise: EventLoopPromise<String>, isHead: Bool)?

      func expect(_ promise: EventLoopPromise<String>, isHead: Bool) { expected = (promise, isHead) }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytesView
        if isWhole { give() }
      }

      func channelInactive(context: ChannelHandlerContext) { give() }

      private func give() {
        expected.take()?.promise.succeed(String(decoding: bytes, as: UTF8.self))
        bytes = []
      }

      private var isWhole: Bool {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return false }
        let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
        // What closes its connection is taken with its end, so that nothing more is sent over it.
        if head.contains("connection: close") { return false }
        if expected?.isHead == true || head.contains(" 304 ") { return true }
        if head.contains("transfer-encoding: chunked") { return bytes[end...].reversed().starts(with: "\n\r\n\r".utf8) }
        let length = head.components(separatedBy: "content-length: ").dropFirst().first.flatMap {
          Int($0.prefix { $0.isNumber })
        }
        return bytes.count >= end + (length ?? 0)
      }
    }
  }

  /// A proxy with two clients, on a clock of its own.
  private final class World: Sendable {
    let clock = ManualClock()
    let proxy: HTTPCacheProxy<Memory>
    let origin: Origin
    let server: RawServer
    private let log = ServedLog()
    /// Whether a byte of each request is another one than in the request before it.
    private let differs: Bool
    private let state = Mutex((clients: [Int: Connection](), asked: 0))

    init(differs: Bool) async throws {
      self.differs = differs
      origin = Origin(clock)
      server = try await RawServer(origin.answer)
      proxy = try await HTTPCacheProxy(
        storing: Memory(capacity: 200_000, clock: clock) { $1.cost },
        origin: ServerOrigin(host: "127.0.0.1", port: server.port, idleTime: .seconds(3_600)), clock: clock,
        observe: log.note)
    }

    /// What is told of the requests, but for how long they took.
    var told: [String] {
      log.all.map { served in
        var served = served
        served.duration = .zero
        return served.jsonLine
      }
    }

    /// The requests that reached the origin, but for the byte.
    var forwarded: [String] {
      server.requests.map { request in
        request.components(separatedBy: "\r\n").filter { !$0.hasPrefix("X-Pad") && !$0.hasPrefix("Host") }
          .joined(separator: "\n")
      }
    }

    /// Sends a request over a client's connection, and waits until everything that it began has ended.
    func ask(_ client: Int, _ method: String, _ path: String, _ fields: String) async throws -> [String] {
      let (known, count) = state.withLock { state in
        state.asked += 1
        return (state.clients[client], state.asked)
      }
      let connection = if let known, known.isOpen { known } else { try await Connection(to: proxy.port) }
      state.withLock { $0.clients[client] = connection }
      let length = ["GET", "HEAD"].contains(method) ? "" : "Content-Length: 0\r\n"
      let answer = try await connection.ask(
        "\(method) \(path) HTTP/1.1\r\nHost: proxy\r\n\(fields)\(length)X-Pad: \(differs ? count % 2 : 0)\r\n\r\n",
        isHead: method == "HEAD")
      while log.all.count < count { await Task.yield() }
      await settle()
      let lines = answer.components(separatedBy: "\r\n")
      // What never reached the cache has the time of day of the system.
      return answer.contains("Cache-Status") ? lines : lines.filter { !$0.hasPrefix("Date: ") }
    }

    func settle() async {
      repeat {
        await proxy.cache.settle()
        await Task.yield()
      } while !proxy.cache.turns.isIdle || !proxy.cache.flights.isIdle
    }

    func serve(_ body: () async throws -> Void) async throws {
      let serving = Task { try await proxy.serve() }
      let result: Result<Void, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      for client in state.withLock({ $0.clients.values.map(\.self) }) { await client.end() }
      await proxy.stop(within: .seconds(1))
      try await serving.value
      await server.stop()
      try result.get()
    }
  }

  private static let fields = [
    "", "", "", "X-User: 1\r\n", "X-User: 2\r\n", "Cookie: s=1\r\n", "Cookie: s=2\r\nX-User: 1\r\n",
    "Authorization: Basic YTpi\r\n", "Cache-Control: no-cache\r\n", "Cache-Control: max-age=2\r\n",
    "Cache-Control: max-stale=4\r\n", "Cache-Control: min-fresh=3\r\n", "Cache-Control: only-if-cached\r\n",
    "Cache-Control: no-store\r\n", "Pragma: no-cache\r\n", "Range: bytes=0-2\r\n", "Range: bytes=0-\r\n",
    "Range: bytes=9-2\r\n", "If-None-Match: \"0\", \"1\"\r\n", "If-None-Match: *\r\n",
    "If-Modified-Since: Thu, 01 Jan 2026 00:00:03 GMT\r\n", "If-Match: \"0\"\r\n", "Connection: keep-alive\r\n",
    "Connection: X-User\r\nX-User: 3\r\n", "Connection: close\r\n", "Expect: 100-continue\r\n", "TE: trailers\r\n",
    "X-User: é\r\n", "X-User:\r\n", "X-User: 1\r\nX-User: 2\r\n", "X-User : 1\r\n", "Content-Length: 0\r\n",
  ]

  @Test(
    "Whether a client repeats its fields changes no answer, no line of the log and no request to the origin",
    arguments: 0..<4 as Range<UInt64>)
  func alike(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let worlds = [try await World(differs: false), try await World(differs: true)]
    try await worlds[0].serve {
      try await worlds[1].serve {
        var (repeated, paths) = (["", ""], ["/kept", "/kept"])
        for step in 0..<400 {
          let client = Int.random(in: 0..<2, using: &random)
          if Int.random(in: 0..<4, using: &random) == 0 {
            repeated[client] = Self.fields.randomElement(using: &random)!
          }
          if Int.random(in: 0..<3, using: &random) == 0 { paths[client] = Origin.paths.randomElement(using: &random)! }
          let path = paths[client]
          let (event, time) = (Int.random(in: 0..<100, using: &random), Int.random(in: 0...2_000, using: &random))
          var answers: [[String]] = []
          for world in worlds {
            switch event {
            case 0..<14: world.clock.advance(by: .milliseconds(time))
            case 14: world.clock.stepWallClock(by: .milliseconds(time - 1_000))
            case 15: try await world.proxy.cache.removeAll()
            case 16..<18: try await world.proxy.cache.store.remove("http://127.0.0.1:\(world.server.port)\(path)")
            case 18: world.origin.change()
            case 19..<24:
              answers.append(try await world.ask(client, event % 2 == 0 ? "POST" : "DELETE", path, repeated[client]))
            case 24..<30: answers.append(try await world.ask(client, "HEAD", path, repeated[client]))
            default: answers.append(try await world.ask(client, "GET", path, repeated[client]))
            }
            await world.settle()
          }
          try #require(answers.first == answers.last, "step \(step): \(path) \(repeated[client])")
        }
      }
    }
    #expect(worlds[0].told == worlds[1].told)
    #expect(worlds[0].forwarded == worlds[1].forwarded)
    #expect(worlds[0].proxy.counts == worlds[1].proxy.counts)
    #expect(worlds[0].proxy.counts.hits > 60)
  }
}
#endif
