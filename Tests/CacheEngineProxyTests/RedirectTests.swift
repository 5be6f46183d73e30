#if Proxy
import CacheEngineProxy
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Redirects", .timeLimit(.minutes(3)))
struct RedirectTests: ProxySuite {
  let log = ServedLog()

  @Test(
    "N35: a redirect within the server leads through the proxy, and no other one is changed",
    arguments: [
      ("http://origin/a/?b#c", "/a/?b#c"), ("HTTP://origin/a", "/a"), ("http://origin", "/"),
      ("http://origin?b", "/?b"), ("/a", "/a"), ("https://origin/a", "https://origin/a"),
      ("http://origin.example/", "http://origin.example/"),
      // A client would take the next name for a server.
      ("http://origin//b.example/", "http://origin//b.example/"),
      ("http://origin//\u{FE0F}b.example/", "http://origin//\u{FE0F}b.example/"),
      ("http://origin/\u{301}/", "/\u{301}/"),
      ("http://origin/\\b.example/", "http://origin/\\b.example/"),
      ("http://origin/\t/b.example/", "http://origin/\t/b.example/"),
    ])
  func within(_ sent: String, _ received: String) async throws {
    try await withProxy(origin: { request in
      let place = request.components(separatedBy: "Host: ")[1].components(separatedBy: "\r\n")[0]
      let location = sent.replacing("origin", with: place)
      return RawAnswer(
        "HTTP/1.1 301 Moved\r\nCache-Control: max-age=60\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
    }) { (port, _, origin) async throws in
      let expected = received.replacing("origin", with: "127.0.0.1:\(origin.port)")
      for _ in 0..<2 { #expect(try await ask(port, get()).contains("\r\nLocation: \(expected)\r\n")) }
      #expect(origin.requests.count == 1)
    }
  }
}
#endif
