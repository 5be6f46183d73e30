import CFloor
import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import Foundation
import NIOCore

/// Measures the client of Redis beside one in C, redis-benchmark and memcached, and memory that hears of changes beside memory
/// that does not.
///
/// What is compared takes its turns in every round. An argument names the program of `Benchmarks/Peers/servers.c`.
@main
struct RedisBenchmarks {
  typealias Shared = SharedCacheLevel<String, Data>

  static let rounds = 15
  static let keys = (0..<1_000).map { "key:\(String(repeating: "0", count: 12 - String($0).count))\($0)" }
  static let value = Data(repeating: 7, count: 1_024)

  static func main() async throws {
    let server = try Server()
    defer { server.end() }
    let connection = try server.connect()
    let redis = RedisStore(RedisSettings(.socket(server.socket)))
    for key in keys {
      _ = try await redis.commit([.set(Array(key.utf8), to: Array(value), lifetime: nil)], if: [], reading: [])
    }
    let shared = try Shared(redis, namespace: "bench", valueCoding: .data)
    for key in keys { try await shared.set(value, forKey: key) }

    let socket = server.socket
    try await Task.detached { try await one(redis, shared, connection, socket) }.value
    try await Task.detached { try await many(redis, shared) }.value
    try peers(server)
    try await Task.detached { try await above(redis) }.value
    redis.close()
  }

  /// One task, one question at a time.
  private static func one(
    _ redis: RedisStore, _ shared: Shared, _ connection: Int32, _ socket: String
  ) async throws {
    let (channel, reader) = try await BareChannel.connect(socket)
    let requests = keys.map { Array("*2\r\n$4\r\nMGET\r\n$\($0.utf8.count)\r\n\($0)\r\n".utf8) }
    let answer = "*1\r\n$1024\r\n".utf8.count + 1_024 + 2
    var rows: [(String, [Double])] = [
      ("a client in C that blocks", []), ("a bare channel of swift-nio", []), ("RedisStore.read", []),
      ("SharedCacheLevel.get", []),
    ]
    for round in 0...rounds {
      let began = ContinuousClock.now
      for request in requests {
        guard cfloor_round_trip(connection, request, request.count, answer, 4) > 0 else { throw Failure("no answer") }
      }
      let samples = [
        began.duration(to: .now) / .nanoseconds(4 * keys.count),
        try await nanoseconds(2, requests) { await reader.ask($0, on: channel, answer) },
        try await nanoseconds(2, keys) { _ = try await redis.read([Array($0.utf8)]) },
        try await nanoseconds(2, keys) { _ = try await shared.get($0) },
      ]
      if round > 0 { for (place, sample) in samples.enumerated() { rows[place].1.append(sample) } }
    }
    try await channel.close()
    report("a GET of 1 KiB, one at a time, over a Unix socket", "us", rows.map { ($0.0, $0.1.map { $0 / 1_000 }) })
  }

  /// Nanoseconds a call, each key or what is made of it so many times.
  private static func nanoseconds<Item>(
    _ times: Int, _ items: [Item], _ call: (Item) async throws -> Void
  ) async throws -> Double {
    let began = ContinuousClock.now
    for _ in 0..<times { for item in items { try await call(item) } }
    return began.duration(to: .now) / .nanoseconds(times * items.count)
  }

  /// 64 tasks on one connection.
  private static func many(_ redis: RedisStore, _ shared: Shared) async throws {
    func perSecond(_ call: @escaping @Sendable (String) async throws -> Void) async throws -> Double {
      let began = ContinuousClock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<64 {
          group.addTask { for number in 0..<1_000 { try await call(keys[(number + worker * 15) % keys.count]) } }
        }
        try await group.waitForAll()
      }
      return 64_000 / (began.duration(to: .now) / .seconds(1))
    }
    var rows: [(String, [Double])] = [("RedisStore.read", []), ("SharedCacheLevel.get", [])]
    for round in 0...rounds {
      let samples = [
        try await perSecond { _ = try await redis.read([Array($0.utf8)]) },
        try await perSecond { _ = try await shared.get($0) },
      ]
      if round > 0 { for (place, sample) in samples.enumerated() { rows[place].1.append(sample) } }
    }
    report("GETs of 1 KiB by 64 tasks on one connection", "a second", rows)
  }

  /// What others do, as far as they are installed.
  private static func peers(_ server: Server) throws {
    let settings = ["-s", server.socket, "-n", "300000", "-d", "1024", "-r", "1000", "-t", "get", "--csv"]
    for (name, clients, depth) in [("64 at a time on one connection", "1", "64"), ("64 connections", "64", "1")] {
      let text = try server.output(of: "redis-benchmark", settings + ["-c", clients, "-P", depth])
      guard let line = text?.split(separator: "\n").first(where: { $0.hasPrefix("\"GET") }) else { continue }
      print("redis-benchmark, \(name): \(line.split(separator: ",")[1].replacing("\"", with: "")) a second")
    }
    guard CommandLine.arguments.count > 1, let text = try server.output(of: CommandLine.arguments[1], ["5"]) else {
      return
    }
    for line in text.split(separator: "\n") where line.hasPrefix("server-get") {
      let fields = line.split(separator: "\t")
      let samples = fields.dropFirst(3).compactMap { Double($0) }.sorted()
      print("\(fields[2]), values of 8 bytes: \(String(format: "%.2f", samples[samples.count / 2] / 1_000)) us a get")
    }
  }

  /// A hit in memory above the shared level, that hears of changes and that does not.
  private static func above(_ redis: RedisStore) async throws {
    func memory() -> MemoryCacheLevel<String, Data> { MemoryCacheLevel(countLimit: 4_096) }
    let shared = try Shared(redis, namespace: "bench", valueCoding: .data)
    let hears = memory().compose(shared, coherence: Coherence(redis, of: shared))
    let deaf = memory().compose(shared)
    while hears.coherence.deafSince != nil { try await Task.sleep(for: .milliseconds(1)) }
    for key in keys {
      guard try await hears.get(key) == value, try await deaf.get(key) == value else { throw Failure("a wrong value") }
    }
    var rows: [(String, [Double])] = [("compose", []), ("compose, coherent", [])]
    for round in 0...rounds * 3 {
      let samples: [Double]
      // Neither always comes after the other.
      if round.isMultiple(of: 2) {
        let first = try await nanoseconds(200, keys) { _ = try await deaf.get($0) }
        samples = [first, try await nanoseconds(200, keys) { _ = try await hears.get($0) }]
      } else {
        let first = try await nanoseconds(200, keys) { _ = try await hears.get($0) }
        samples = [try await nanoseconds(200, keys) { _ = try await deaf.get($0) }, first]
      }
      if round > 0 { for (place, sample) in samples.enumerated() { rows[place].1.append(sample) } }
    }
    report("a hit in memory above a shared level", "ns", rows)
  }

  private static func report(_ title: String, _ unit: String, _ rows: [(String, [Double])]) {
    print("\(title):")
    func median(_ samples: [Double]) -> Double { samples.sorted()[samples.count / 2] }
    for (name, samples) in rows {
      let ratio = median(zip(samples, rows[0].1).map { $0 / $1 })
      print(
        "  \(name): \(String(format: "%.1f", median(samples))) \(unit) (\(String(format: "%.1f", samples.min() ?? 0)) to "
          + "\(String(format: "%.1f", samples.max() ?? 0))), \(String(format: "%.2f", ratio)) of the first")
    }
    fflush(nil)
  }
}
