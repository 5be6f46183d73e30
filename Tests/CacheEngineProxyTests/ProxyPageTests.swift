#if Proxy
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy

/// The code of the product's first page, which `PagesTests` finds here.
///
/// Only compiled: it takes a fixed port and serves until it is stopped.
func servesAsThePageSays() async throws {
  // Article
  var settings = ProxySettings()
  settings.port = 8080
  let memory = MemoryCacheLevel<String, StoredVariants>(capacity: 256 << 20) { $1.cost }
  let proxy = try await HTTPCacheProxy(
    storing: memory, origin: ServerOrigin(host: "127.0.0.1", port: 3000), settings: settings,
    observe: { print($0.plainLine) })
  try await proxy.serve()
  // end
}
#endif
