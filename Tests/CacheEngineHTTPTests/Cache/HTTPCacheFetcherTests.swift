#if HTTP
import CacheEngine
import CacheEngineHTTP
import CacheEngineTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The cache at the bottom of a stack")
struct HTTPCacheFetcherTests {
  let clock = ManualClock()
  let url = URL(string: "http://user@Example.org/a?b#c")!

  private func stack(_ origin: ScriptedOrigin) -> some CacheLevel<URL, Data> {
    let cache = HTTPCache(
      storing: MemoryCacheLevel<String, StoredVariants>(clock: clock), policy: HTTPCachePolicy(.private),
      origin: origin,
      clock: clock)
    return MemoryCacheLevel<URL, Data>(clock: clock).compose(cache.fetcher())
  }

  @Test("An entry that travels upwards carries the server's deadline")
  func deadline() async throws {
    let origin = ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10", "Age: 4"], "\(count)") }
    let stack = stack(origin)
    #expect(try await stack.get(url) == Data("0".utf8))
    #expect(origin.requests[0].authority == "example.org" && origin.requests[0].path == "/a?b")
    #expect(try await stack.lookup(url).entry?.deadline == clock.now.advanced(by: .seconds(6)))
    clock.advance(by: .seconds(5))
    #expect(try await stack.get(url) == Data("0".utf8))
    clock.advance(by: .seconds(1))
    #expect(try await stack.get(url) == Data("1".utf8))
  }

  @Test(
    "What may not be used unasked is delivered and asked for anew", arguments: ["no-cache", "no-store", "max-age=0"])
  func unusable(_ control: String) async throws {
    let origin = ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: \(control)"], "\(count)") }
    let stack = stack(origin)
    for count in 0..<3 { #expect(try await stack.get(url) == Data("\(count)".utf8)) }
  }

  @Test("A status without a value is an error that tells it, of what address, and what to do", arguments: [404, 301])
  func status(status: Int) async throws {
    let stack = stack(ScriptedOrigin { _, _ in HTTPAnswer(status, ["Cache-Control: max-age=10"]) })
    let error = await #expect(throws: CacheError.self) { try await stack.get(url) }
    #expect(error?.code == .status && error?.status == status && error?.level == "http")
    #expect(error?.message.contains("\(url.path) answered with status \(status): ") == true)
  }

  @Test("What an origin that gives no answer throws is thrown as it is")
  func failure() async throws {
    let cache = HTTPCache(
      storing: MemoryCacheLevel<String, StoredVariants>(clock: clock), policy: HTTPCachePolicy(.private),
      origin: ScriptedOrigin { _, _ in throw CacheError(.unreachable, "down") }, clock: clock)
    for method in [HTTPRequest.Method.get, .post] {
      let error = await #expect(throws: CacheError.self) {
        try await cache.response(for: get(method: method))
      }
      #expect(error?.code == .unreachable)
    }
  }

  @Test("A part that nobody asked for is no content", arguments: [206, 226])
  func part(status: Int) async throws {
    let origin = ScriptedOrigin { _, _ in
      HTTPAnswer(status, ["Cache-Control: max-age=10", "ETag: \"1\"", "Content-Range: bytes 0-3/10"], "0123")
    }
    let error = await #expect(throws: CacheError.self) { try await stack(origin).get(url) }
    #expect(error?.code == .invalidResponse && error?.message.contains("status \(status)") == true)
    let cache = HTTPCache(
      storing: MemoryCacheLevel<String, StoredVariants>(clock: clock), policy: HTTPCachePolicy(.private),
      origin: origin, clock: clock)
    let fields = HTTPFields([HTTPField(name: .range, value: "bytes=0-3")])
    #expect(try await cache.fetcher(fields: fields).get(url) == Data("0123".utf8))
  }
}
#endif
