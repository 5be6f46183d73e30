#if Proxy
import CacheEngineHTTP
import NIOHTTP1
import Testing

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
}
#endif
