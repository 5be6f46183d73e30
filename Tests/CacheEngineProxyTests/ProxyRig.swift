#if Proxy
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy
import NIOCore
import Synchronization

/// What a proxy told of its requests.
final class ServedLog: Sendable {
  private let served = Mutex<[ServedRequest]>([])
  var all: [ServedRequest] { served.withLock { $0 } }
  func note(_ request: ServedRequest) { served.withLock { $0.append(request) } }
}

/// Tests of a proxy over memory, between raw clients and an origin that answers raw bytes by raw requests.
protocol ProxySuite {
  var log: ServedLog { get }
}

extension ProxySuite {
  typealias Memory = MemoryCacheLevel<String, StoredVariants>

  /// Runs a proxy before an origin.
  ///
  /// `first`: What stands between a connection and what answers.
  /// `reaching`: The origin at a port.
  /// `answersHeads`: Whether the origin waits for no content.
  func withProxy(
    _ settings: ProxySettings = ProxySettings(), bodyLimit: Int = 8 << 20,
    first: (@Sendable () -> (any ChannelHandler & Sendable))? = nil,
    reaching: (_ port: Int) throws -> ServerOrigin = {
      ServerOrigin(host: "127.0.0.1", port: $0, idleTime: .seconds(3_600))
    },
    origin answer: @escaping @Sendable (String) -> RawAnswer, answersHeads: Bool = false,
    _ body: (_ port: Int, _ proxy: HTTPCacheProxy<Memory>, _ origin: RawServer) async throws -> Void
  ) async throws {
    let server = try await RawServer(first: first, answersHeads: answersHeads, answer)
    let proxy = try await HTTPCacheProxy(
      storing: Memory { $1.cost }, origin: reaching(server.port), settings: settings, bodyLimit: bodyLimit,
      observe: log.note)
    let serving = Task { try await proxy.serve() }
    do {
      try await body(proxy.port, proxy, server)
    } catch {
      await proxy.stop(within: .zero)
      await server.stop()
      throw error
    }
    await proxy.stop()
    try await serving.value
    await server.stop()
  }

  /// An answer that is fresh for a minute.
  static func fresh(_ body: String, _ fields: String = "") -> RawAnswer {
    RawAnswer(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  func ask(_ port: Int, _ text: String) async throws -> String { try await RawClient.ask(port, text) }

  /// A GET over a connection of its own.
  func get(_ path: String = "/", _ fields: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: proxy.example\r\n\(fields)Connection: close\r\n\r\n"
  }
}
#endif
