import CacheEngine
@testable import CacheEngineNetwork
import Foundation
import Testing

/// The rules as plain values: what no server on loopback can show.
struct NetworkRulesTests {
  private func next(_ from: String, _ location: String, headers: [HTTPHeader] = []) throws -> TransportRequest? {
    let request = TransportRequest(url: try #require(URL(string: from)), headers: headers)
    var redirect = HTTPRedirect()
    return try redirect.next(
      after: TransportResponse(status: 302, headers: [HTTPHeader("Location", location)]), to: request)
  }

  @Test("P11 A redirect never leads from https to http")
  func downgrade() throws {
    #expect(throws: CacheError.self) { try next("https://host/a", "http://host/a") }
    #expect(try next("http://host/a", "https://host/a")?.url.absoluteString == "https://host/a")
    #expect(try next("https://host/a", "//other/b")?.url.absoluteString == "https://other/b")
  }

  @Test(
    "P11 Another scheme, host or port is another origin",
    arguments: [
      "https://host/", "http://other/", "http://host:81/", "http://host.:80/",
    ])
  func origins(location: String) throws {
    let request = try next("http://host/a", location, headers: [HTTPHeader("authorization", "x")])
    #expect(request?.headers == [])
  }

  @Test("P11 Case and default port make no other origin")
  func sameOrigin() throws {
    let request = try next("http://host/a", "HTTP://HOST:80/b", headers: [HTTPHeader("Authorization", "x")])
    #expect(request?.headers == [HTTPHeader("Authorization", "x")])
  }

  @Test("Credentials in the address go along within the origin only")
  func credentialsInAddress() throws {
    #expect(try next("http://a:b@host/a", "/b")?.headers.first?.name == "Authorization")
    #expect(try next("http://a:b@host/a", "http://other/b")?.headers == [])
    #expect(try next("http://a:b@host/a", "/b")?.url.absoluteString == "http://host/b")
  }

  @Test("Two places to go to are none")
  func twoLocations() throws {
    let request = TransportRequest(url: try #require(URL(string: "http://host/")))
    let answer = TransportResponse(status: 301, headers: [HTTPHeader("Location", "/a"), HTTPHeader("location", "/b")])
    var redirect = HTTPRedirect()
    #expect(throws: CacheError.self) { try redirect.next(after: answer, to: request) }
  }

  @Test(
    "An address is put together again from its parts",
    arguments: [
      ("HTTP://Host:80", "http://host/"), ("https://host:443/a?b#c", "https://host/a?b"),
      ("http://[::1]:8080/x", "http://[::1]:8080/x"), ("http://host:/", "http://host/"),
      ("http://host?q", "http://host/?q"), ("http://u:p@host/@x", "http://host/@x"),
    ])
  func addresses(text: String, expected: String) throws {
    #expect(try HTTPAddress(text: text).text == expected)
  }

  @Test(
    "An address that parsers could understand differently is refused",
    arguments: [
      "http://host\\@evil/", "http://ho%73t/", "http://host /", "http://[::1", "http://[::1]x/", "http://[::1%25eth0]/",
      "http://host:80a/", "http://h\u{F6}st/", "http:/host", "http://u:%zz@host/", "http://u:%0d%0a@host/", "http://",
    ])
  func ambiguousAddresses(text: String) {
    #expect(throws: CacheError.self) { try HTTPAddress(text: text) }
  }

  @Test("The head of the last answer counts, and trailers add nothing to it")
  func heads() throws {
    var head = HTTPHead(limits: .default)
    for line in ["HTTP/1.1 103 Early\r\n", "A: 1\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "B:  2 \r\n", "\r\n", "C: 3\r\n"]
    {
      try head.append(line: Array(line.utf8))
    }
    #expect(head.isComplete && head.status == 200)
    #expect(head.headers == [HTTPHeader("B", "2")])
  }

  @Test("Exactly as many header lines as allowed pass")
  func headerCount() throws {
    var head = HTTPHead(limits: HTTPLimits(headerCount: 2))
    for line in ["HTTP/1.1 200 OK", "A: 1", "B: 2", ""] { try head.append(line: Array(line.utf8)) }
    #expect(head.isComplete)
    #expect(throws: HTTPViolation.self) { try head.append(line: Array("C: 3".utf8)) }
  }

  @Test(
    "Chunks pass in HTTP/1.1 and not in HTTP/1.0, which has none",
    arguments: [
      ("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", true), ("HTTP/1.0 200 OK", "Transfer-Encoding: chunked", false),
      ("HTTP/1.0 200 OK", "Content-Length: 1", true),
    ])
  func version(status: String, framing: String, passes: Bool) throws {
    var head = HTTPHead(limits: .default)
    for line in [status, framing, ""] { try head.append(line: Array(line.utf8)) }
    let framing = try? HTTPFraming(head, hasBody: true)
    #expect((framing != nil) == passes)
  }

  @Test(
    "P10 An encoding passes only if it was asked for",
    arguments: [
      ("gzip", true), ("GZIP", true), ("identity", true), ("br", false), ("gzip, br", false),
    ])
  func encodings(sent: String, passes: Bool) throws {
    let request = TransportRequest(
      url: try #require(URL(string: "http://host/")), headers: [HTTPHeader("accept-encoding", "gzip;q=1, deflate")])
    let head = try HTTPHead(
      status: 200, headers: [HTTPHeader("Content-Length", "1"), HTTPHeader("Content-Encoding", sent)], limits: .default)
    #expect(((try? HTTPFraming(head, for: request)) != nil) == passes)
  }
}
