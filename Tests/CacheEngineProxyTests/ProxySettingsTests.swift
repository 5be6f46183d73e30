#if Proxy
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy
import HTTPTypes
import Testing

@Suite struct ProxySettingsTests {
  @Test(
    "A name that no field can have is an error, and ends no program",
    arguments: ["my app", "", "1st", "é", "a,b", "a\r\nb", String(repeating: "é", count: 10_000)])
  func names(name: String) async throws {
    var settings = ProxySettings()
    settings.name = name
    let error = await #expect(throws: CacheError.self) {
      _ = try await HTTPCacheProxy(
        storing: MemoryCacheLevel<String, StoredVariants>(), origin: ServerOrigin(host: "127.0.0.1", port: 1),
        settings: settings)
    }
    #expect(error?.code == .invalidSetting && error?.message.hasSuffix("take a token such as my-app") == true)
    #expect(error?.message.utf8.count ?? .max < 1_000)
  }

  @Test("A port that there is not is an error, and is not taken for another", arguments: [-1, 65_536])
  func ports(port: Int) async throws {
    let server = try await RawServer { _ in RawAnswer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
    var settings = ProxySettings()
    settings.port = port
    let error = await #expect(throws: CacheError.self) {
      _ = try await HTTPCacheProxy(
        storing: MemoryCacheLevel<String, StoredVariants>(), origin: ServerOrigin(host: "127.0.0.1", port: server.port),
        settings: settings)
    }
    #expect(
      error == CacheError(.invalidSetting, "\(port) is no port; take one from 1 to 65535, or 0 for any free one"))
    let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")
    for (port, code) in [(server.port, nil), (server.port + 65_536, CacheError.Code.unreachable)] {
      let origin = ServerOrigin(host: "127.0.0.1", port: port)
      do {
        _ = try await origin.send(request, body: HTTPBody()) { _ in }
        #expect(code == nil)
      } catch { #expect((error as? CacheError)?.code == code) }
    }
    #expect(server.requests.count == 1)
    await server.stop()
  }
}
#endif
