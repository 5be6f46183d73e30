#if HTTP
import CacheEngine
import CacheEngineNetwork
import CacheEngineHTTP
import Foundation
import LoopbackServer
import Testing

/// Holds the README's block about HTTP between two marker lines; the README's own test compares them.
struct ReadmeHTTPTests {
  @Test("The README's stack over HTTP keeps what a server sends")
  func stack() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.setValue(Data("page".utf8), forPath: "/page")
    let disk = MemoryCacheLevel<String, StoredVariants>()
    // README
    let http = HTTPCache(storing: disk, policy: HTTPCachePolicy(.private), origin: TransportOrigin())
    let pages = MemoryCacheLevel<URL, Data>(capacity: 1_000).compose(http.fetcher())
    // end
    #expect(try await pages.get(server.url("/page")) == Data("page".utf8))
  }
}
#endif
