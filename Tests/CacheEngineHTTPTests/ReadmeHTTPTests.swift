#if HTTP
import CacheEngine
import CacheEngineNetwork
import CacheEngineHTTP
import Foundation
import HTTPTypes
import LoopbackServer
import Testing

/// Holds the block of the page about HTTP between two marker lines; `PagesTests` compares them.
struct ReadmeHTTPTests {
  @Test("The README's stack over HTTP keeps what a server sends")
  func stack() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.setValue(Data("page".utf8), forPath: "/page")
    let folder = FileManager.default.temporaryDirectory.appending(path: "http-page-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let url = server.url("/page")
    let request = HTTPRequest(
      method: .get, scheme: "http", authority: "\(url.host() ?? ""):\(url.port ?? 80)", path: url.path())
    // README
    let disk = try DiskCacheLevel<String, StoredVariants>(
      directory: folder, keyCoding: .utf8, valueCoding: .storedVariants)
    let http = HTTPCache(storing: disk, policy: HTTPCachePolicy(.private), origin: TransportOrigin())

    // As a client ...
    let answer = try await http.response(for: request)
    let content = try await answer.body.collect(upTo: 8 << 20)?.content
    print(answer.head.status, answer.status)  // 200 OK, and how the cache obtained it

    // ... or at the bottom of a stack, whose upper levels keep contents as long as the server said.
    let pages = MemoryCacheLevel<URL, Data>(capacity: 64 << 20).compose(http.fetcher())
    // end
    #expect(answer.head.status == .ok)
    #expect(content == Data("page".utf8))
    #expect(try await pages.get(url) == Data("page".utf8))
    try await disk.close()
  }
}
#endif
