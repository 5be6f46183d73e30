import CacheEngine
import CacheEngineNetwork
import Foundation
import LoopbackServer
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NetworkTemplateTests {
  /// Notes what it is asked for, and answers with nothing.
  private struct Noting: HTTPTransport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
      TransportResponse(status: 200, body: Data(request.url.absoluteString.utf8))
    }
  }

  private func address(of key: String, in template: String) async throws -> String {
    let fetcher = try NetworkFetcher(template: template, transport: Noting())
    return String(decoding: try await fetcher.require(key), as: UTF8.self)
  }

  @Test(
    "A key becomes one percent-encoded part of the template",
    arguments: [
      ("avatar", "http://host/avatar"), ("a/b", "http://host/a%2Fb"),
      ("a b?c#d&e=f", "http://host/a%20b%3Fc%23d%26e%3Df"),
      ("\r\nHost: evil", "http://host/%0D%0AHost%3A%20evil"), ("é", "http://host/%C3%A9"), ("\u{0}", "http://host/%00"),
      ("@evil.example/", "http://host/%40evil.example%2F"), ("%2e%2e", "http://host/%252e%252e"),
      ("...", "http://host/..."),
      ("{key}", "http://host/%7Bkey%7D"),
    ])
  func segments(key: String, expected: String) async throws {
    #expect(try await address(of: key, in: "http://host/{key}") == expected)
  }

  @Test("Slashes stay where the template asks for it")
  func paths() async throws {
    #expect(try await address(of: "a/b c.png", in: "http://host/files/{+key}") == "http://host/files/a/b%20c.png")
  }

  @Test("A key may stand in the query, and beside text")
  func places() async throws {
    #expect(
      try await address(of: "a&b", in: "https://host:8443/get?id={key}&x=1") == "https://host:8443/get?id=a%26b&x=1")
    #expect(try await address(of: "k", in: "http://host/v1/{key}.png?of={key}") == "http://host/v1/k.png?of=k")
  }

  @Test("P18 Keys that are equal as strings have one address")
  func canonicalForm() async throws {
    let composed = try await address(of: "caf\u{E9}", in: "http://host/{key}")
    #expect(try await address(of: "cafe\u{301}", in: "http://host/{key}") == composed)
  }

  @Test(
    "A key that would leave the template's path is refused",
    arguments: ["", ".", "..", "../a", "a/../b", "a/..", "..\\a", "./a"],
    ["http://host/a/{key}", "http://host/a/{+key}"])
  func escapingKeys(key: String, template: String) async throws {
    let fetcher = try NetworkFetcher(template: template, name: "site", transport: Noting())
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(key) })
    #expect(error.code == .invalidAddress)
    #expect(error.level == "site")
  }

  @Test("A dot of the template and a dot of the key do not add up to a step upwards")
  func dotsAcrossTheSeam() async throws {
    let fetcher = try NetworkFetcher(template: "http://host/a/.{key}", transport: Noting())
    await #expect(throws: CacheError.self) { try await fetcher.get(".") }
  }

  @Test(
    "A template that is none is refused when the fetcher is made",
    arguments: [
      "", "http://host/", "{key}", "http://{key}/", "http://host{key}", "http://host:{key}/", "ftp://host/{key}",
      "http://host/#{key}", "http://host/{id}", "http://host/{key", "http:///{key}", "http://ho st/{key}",
      "http://host:0/{key}", "http://host/a b/{key}", "http://host/../{key}",
    ])
  func badTemplates(template: String) async throws {
    let error = try #require(throws: CacheError.self) { try NetworkFetcher(template: template) }
    #expect(error.code == .invalidAddress)
  }

  @Test("No key adds a header field or a request of its own")
  func headerInjection() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let fetcher = try NetworkFetcher(template: "\(server.address)/{key}")
    let key = "a HTTP/1.1\r\nX-Evil: 1\r\n\r\nGET /b"
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(key) })
    #expect(error.status == 404)
    #expect(server.requests.map(\.target) == ["/a%20HTTP%2F1.1%0D%0AX-Evil%3A%201%0D%0A%0D%0AGET%20%2Fb"])
    #expect(server.requests.first?.headers["x-evil"] == nil)
  }
}
