#if RedisTLS
import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import Foundation
import NIOCore
import NIOPosix
import TestRedis
import Testing

/// TLS to a server that speaks it, to one that does not, and to one that lies.
@Suite(
  .enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)),
  .enabled(if: TestCertificates.whyNot == nil, Comment(rawValue: TestCertificates.whyNot ?? "")),
  .timeLimit(.minutes(10)))
struct RedisTLSTests {
  private let certificates: TestCertificates
  private let port: Int

  init() throws {
    certificates = try TestCertificates()
    port = try TestRedis.freePort()
  }

  private func server(_ names: String, days: Int = 2, asksClients: Bool = false) async throws -> TestRedis {
    let pair = try certificates.sign(names, days: days)
    return try await TestRedis(certificates.options(pair, port: port, asksClients: asksClients))
  }

  private func store(
    _ host: String = "localhost", scheme: String = "rediss", _ change: (inout RedisSettings) -> Void = { _ in }
  ) throws -> RedisStore {
    var settings = try RedisSettings(url: "\(scheme)://\(host):\(port)")
    settings.tls?.authorities = certificates.authorities
    settings.commandLimit = .seconds(30)
    settings.connectLimit = .seconds(30)
    change(&settings)
    return RedisStore(settings)
  }

  private func error(_ store: RedisStore) async -> CacheError? {
    await #expect(throws: CacheError.self) { try await store.timeSinceEpoch() }
  }

  @Test("an entry written over TLS is read over TLS, by the host's name and by its number, and changes are heard")
  func speaks() async throws {
    let redis = try await server("DNS:localhost,IP:127.0.0.1")
    let (here, there) = (try store("localhost"), try store("127.0.0.1"))
    #expect(here.settings.address == "rediss://localhost:\(port)")
    let shared = try SharedCacheLevel<String, Data>(here, namespace: "test", valueCoding: .data)
    let other = try SharedCacheLevel<String, Data>(there, namespace: "test", valueCoding: .data)
    let cache = MemoryCacheLevel<String, Data>().compose(shared, coherence: Coherence(here, of: shared), observer: nil)
    try await turns { cache.coherence.deafSince == nil }
    // More than one record of TLS.
    let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    try await cache.set(large, forKey: "a")
    #expect(try await other.get("a") == large)
    try await other.set(Data([2]), forKey: "a")
    try await turns { cache.peek("a") == nil }
    #expect(try await cache.get("a") == Data([2]))
    redis.kill()
    try await redis.start()
    try await turns { cache.coherence.deafSince == nil && cache.coherence.everything >= 2 }
    #expect(try await cache.get("a") == nil)
  }

  @Test("64 tasks over TLS each get their own reply")
  func ownReplies() async throws {
    let redis = try await server("DNS:localhost")
    let store = try store()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<64 {
        group.addTask {
          for step in 0..<50 {
            let bytes = Array(repeating: UInt8(worker), count: step * 97)
            _ = try await store.commit([.set([UInt8(worker)], to: bytes, lifetime: nil)], if: [], reading: [])
            #expect(try await store.read([[UInt8(worker)]]) == [bytes])
          }
        }
      }
      try await group.waitForAll()
    }
    withExtendedLifetime(redis) {}
  }

  @Test("a cluster is followed over TLS, by the names that its servers go by, and its changes are heard")
  func cluster() async throws {
    let cluster = try await TestCluster(certificates: certificates)
    for primary in 0..<3 {
      let namespace = try cluster.namespace(of: primary)
      let (here, there) = (cluster.store(0), cluster.store((primary + 1) % 3))
      let shared = try SharedCacheLevel<String, Int>(here, namespace: namespace, valueCoding: .json)
      let other = try SharedCacheLevel<String, Int>(there, namespace: namespace, valueCoding: .json)
      let cache = MemoryCacheLevel<String, Int>().compose(
        shared, coherence: Coherence(here, of: shared), observer: nil)
      try await turns { cache.coherence.deafSince == nil }
      try await cache.set(1, forKey: "a")
      #expect(try await other.get("a") == 1)
      try await other.set(2, forKey: "a")
      try await turns { cache.peek("a") == nil }
      #expect(try await cache.get("a") == 2)
      // It goes where the namespace goes.
      try await cluster.move(namespace, from: primary, to: (primary + 2) % 3)
      #expect(try await cache.get("a") == 2)
      try await other.set(3, forKey: "a")
      try await turns { cache.peek("a") == nil }
      #expect(try await cache.get("a") == 3)
    }
  }

  @Test("a server that wants a client's certificate gets it, and refuses who has none or another authority's")
  func clientCertificate() async throws {
    let redis = try await server("DNS:localhost", asksClients: true)
    let without = try await #require(error(try store()))
    #expect(without.code == .unreachable && without.message.contains("wants a certificate"), "\(without)")
    func presenting(_ certificates: TestCertificates) throws -> RedisStore {
      let pair = try certificates.sign("DNS:client")
      return try store {
        $0.tls?.certificate = pair.certificate
        $0.tls?.privateKey = pair.key
      }
    }
    let others = try TestCertificates()
    let foreign = try await #require(error(try presenting(others)))
    #expect(foreign.code == .unreachable && foreign.message.contains("authority of this client"), "\(foreign)")
    #expect(try await presenting(certificates).timeSinceEpoch() > .zero)
    withExtendedLifetime((redis, others)) {}
  }

  @Test("a server whose authority is not known, or whose certificate is over, is not spoken to")
  func wrongAuthority() async throws {
    let redis = try await server("DNS:localhost")
    let other = try TestCertificates()
    for authorities in [other.authorities, nil] {
      let error = try await #require(error(try store { $0.tls?.authorities = authorities }))
      #expect(error.code == .unreachable && error.message.contains("not signed by an authority"), "\(error)")
    }
    redis.kill()
    let late = try await server("DNS:localhost", days: -1)
    let over = try await #require(error(try store()))
    #expect(over.code == .unreachable && over.message.contains("not valid now"), "\(over)")
    withExtendedLifetime(late) {}
  }

  @Test("a certificate for another host is refused, unless that is the name it was given")
  func wrongName() async throws {
    let redis = try await server("DNS:elsewhere,IP:10.1.2.3")
    for host in ["localhost", "127.0.0.1"] {
      let error = try await #require(error(try store(host)))
      #expect(error.code == .unreachable && error.message.contains("not one for this host"), "\(error)")
    }
    #expect(try await store { $0.tls?.serverName = "elsewhere" }.timeSinceEpoch() > .zero)
    withExtendedLifetime(redis) {}
  }

  @Test(
    "a name that no certificate is looked up by is told before anybody is connected to",
    arguments: ["", "127.0.0.1", "::1", "a\0b", String(repeating: "a", count: 256)])
  func noName(name: String) async throws {
    let error = try await #require(error(try store { $0.tls?.serverName = name }))
    #expect(error.code == .invalidSetting && error.message.contains("a name of 1 to 255 bytes"), "\(error)")
  }

  @Test("a server that does not speak TLS is told from one that does, within the limit")
  func wrongSide() async throws {
    let plain = try await TestRedis("--port", "\(port)")
    let first = try await #require(error(try store { $0.commandLimit = .milliseconds(300) }))
    #expect(first.message.contains("redis://"), "\(first)")
    plain.kill()
    let secret = try await server("DNS:localhost")
    let second = try await #require(error(try store(scheme: "redis")))
    #expect(second.code == .unreachable && second.message.contains("write rediss://"), "\(second)")
    withExtendedLifetime(secret) {}
  }

  @Test(
    "what is no TLS is an error, and never a reply",
    arguments: [
      "", "+OK\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "\u{15}\u{03}\u{03}\0\u{02}\u{02}\u{28}",
      "\u{16}\u{03}\u{03}\u{40}\0", "-",
    ])
  func hostile(answer: String) async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answering(answer)) }
      }
      .bind(host: "127.0.0.1", port: port).get()
    defer { server.close(promise: nil) }
    let error = try await #require(error(try store { $0.commandLimit = .milliseconds(300) }))
    #expect(error.code == .unreachable || error.code == .timedOut, "\(error)")
  }

  @Test("a file that is not there, or holds something else, is named")
  func files() async throws {
    let pair = try certificates.sign("DNS:localhost")
    for (change, words) in [
      ({ $0.authorities = "/nowhere.pem" }, "/nowhere.pem cannot be read as certificates of authorities"),
      ({ $0.authorities = pair.key }, "cannot be read as certificates of authorities"),
      ({ $0.certificate = pair.certificate }, "are given together"),
      ({ ($0.certificate, $0.privateKey) = (pair.certificate, pair.certificate) }, "cannot be read as a private key"),
    ] as [((inout RedisSettings.TLS) -> Void, String)] {
      var tls = RedisSettings.TLS()
      change(&tls)
      let error = try await #require(error(try store { $0.tls = tls }))
      #expect(error.code == .invalidSetting && error.message.contains(words), "\(error)")
    }
  }
}

/// Says the same to whatever comes; "-" closes.
private final class Answering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let answer: String

  init(_ answer: String) { self.answer = answer }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if answer == "-" { return context.close(promise: nil) }
    if !answer.isEmpty {
      context.channel.writeAndFlush(ByteBuffer(bytes: answer.unicodeScalars.map { UInt8($0.value) }), promise: nil)
    }
  }
}
#endif
