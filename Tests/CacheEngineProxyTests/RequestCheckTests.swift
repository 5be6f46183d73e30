#if Proxy
import HTTPTypes
import NIOHTTP1
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@testable import CacheEngineHTTP
@testable import CacheEngineProxy

@Suite struct RequestCheckTests {
  @Test(
    "N35: blanks around what says where the content ends are none of it, and what they stand in is refused",
    arguments: [
      ("Content-Length", "3 ", true), ("Content-Length", "\t3", true), ("Transfer-Encoding", " Chunked\t", true),
      ("Content-Length", "3 3", false), ("Content-Length", " ", false), ("Transfer-Encoding", "chun ked", false),
    ])
  func blanks(_ name: String, _ value: String, _ isTaken: Bool) throws {
    let head = HTTPRequestHead(
      version: .http1_1, method: .POST, uri: "/", headers: HTTPHeaders([("Host", "a"), (name, value)]))
    let origin = try #require(TargetURI(scheme: "http", authority: "a", path: "/"))
    let check = RequestCheck(head, origin: origin, peer: nil, settings: ProxySettings())
    let wasTaken = if case .forward = check { true } else { false }
    #expect(wasTaken == isTaken)
  }

  @Test(
    "N35: what says twice where the content ends is refused",
    arguments: [
      ["Content-Length", "Content-Length"], ["Content-Length", "Transfer-Encoding"],
      ["Transfer-Encoding", "Transfer-Encoding"],
    ])
  func twice(_ names: [String]) throws {
    let fields = names.map { ($0, $0 == "Content-Length" ? "3" : "chunked") }
    let head = HTTPRequestHead(
      version: .http1_1, method: .POST, uri: "/", headers: HTTPHeaders([("Host", "a")] + fields))
    let origin = try #require(TargetURI(scheme: "http", authority: "a", path: "/"))
    let check = RequestCheck(head, origin: origin, peer: nil, settings: ProxySettings())
    let isRefused = if case .refuse(400, _) = check { true } else { false }
    #expect(isRefused)
  }

  @Test(
    "N35: of the methods that the parser knows, those of other protocols are refused",
    arguments: [
      (HTTPMethod.RAW(value: "QUERY"), true), (.PROPFIND, true), (.RAW(value: "DESCRIBE"), false),
      (.RAW(value: "SOURCE"), false),
    ])
  func methods(_ method: HTTPMethod, _ isTaken: Bool) throws {
    let head = HTTPRequestHead(version: .http1_1, method: method, uri: "/", headers: ["Host": "a"])
    let origin = try #require(TargetURI(scheme: "http", authority: "a", path: "/"))
    let check = RequestCheck(head, origin: origin, peer: nil, settings: ProxySettings())
    let wasTaken = if case .forward = check { true } else { false }
    #expect(wasTaken == isTaken)
  }

  @Test("N33: an expectation of HTTP/1.0 is none", arguments: [HTTPVersion.http1_0, .http1_1])
  func expectation(_ version: HTTPVersion) throws {
    let head = HTTPRequestHead(
      version: version, method: .POST, uri: "/", headers: ["Host": "a", "Expect": "100-continue"])
    let origin = try #require(TargetURI(scheme: "http", authority: "a", path: "/"))
    guard case .forward(_, _, let isExpected) = RequestCheck(head, origin: origin, peer: nil, settings: ProxySettings())
    else {
      Issue.record("it is refused")
      return
    }
    #expect(isExpected == (version == .http1_1))
  }

  /// An answer of which the length is known, or not.
  private func answer(_ bytes: Bool) -> HTTPCacheAnswer {
    HTTPCacheAnswer(
      head: .init(status: .ok), body: bytes ? HTTPBody(.init("body".utf8)) : HTTPBody { nil }, status: CacheStatus())
  }

  @Test(
    "N35: where an answer ends is said so that its client understands it, and whether the connection stays",
    arguments: [
      (HTTPVersion.http1_1, true, true, ["content-length: 4"]),
      (HTTPVersion.http1_1, true, false, ["connection: close", "content-length: 4"]),
      (HTTPVersion.http1_1, false, true, ["transfer-encoding: chunked"]),
      (HTTPVersion.http1_0, true, true, ["connection: keep-alive", "content-length: 4"]),
      (HTTPVersion.http1_0, false, true, ["connection: close"]),
    ])
  func framing(_ version: HTTPVersion, _ isLengthKnown: Bool, _ mayStay: Bool, _ expected: [String]) throws {
    let origin = try #require(TargetURI(scheme: "http", authority: "a", path: "/"))
    let request = HTTPRequestHead(version: version, method: .GET, uri: "/", headers: ["Connection": "keep-alive"])
    let framed = FramedHead(
      answer(isLengthKnown), to: request, from: origin, via: ProxySettings().via, mayStay: mayStay)
    let fields = framed.head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }.filter {
      !$0.hasPrefix("via")
    }
    #expect(fields.sorted() == expected)
    #expect(framed.isKept == !expected.contains("connection: close"))
  }

  @Test("of a content that nobody reads any more nothing is waited for, and its first end stays")
  func feed() async throws {
    let left = BodyFeed(length: nil)
    left.abandon()
    #expect(await !left.put(.init("more".utf8)))
    let ended = BodyFeed(length: nil)
    ended.put(end: .success(()))
    ended.put(end: .failure(CancellationError()))
    #expect(try await ended.next() == nil)
  }

  @Test("what is answered at the end of its life was fresh, and a moment later stale", arguments: [(0, 0), (-1, 1)])
  func staleHits(_ left: Int, _ count: Int) {
    var answer = answer(true)
    answer.status.timeToLive = left
    var counts = ProxyCounts()
    counts.count(ServedRequest(answer, to: HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")))
    #expect(counts.hits == 1 && counts.staleHits == count)
  }
}
#endif
