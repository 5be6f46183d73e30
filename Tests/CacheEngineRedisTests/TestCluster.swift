#if Redis
import CacheEngine
import CacheEngineTesting
import TestRedis

// Namespaces are chosen by the slots they fall into.
@testable import CacheEngineRedis

/// A cluster of redis-servers of a test's own.
final class TestCluster: Sendable {
  let servers: [TestRedis]
  private let ports: [Int]
  private let connections: [RawConnection]
  private let ids: [String]
  private let certificates: TestCertificates?

  private static let primaries = 3

  /// Starts primaries, and a replica for the first of them if that is wanted, and waits until they know each other.
  ///
  /// Without a replica nobody is taken for dead who is only late, as on a machine that is busy. With one, any server may say for a
  /// moment that the cluster is down. With certificates all of it speaks TLS, and is called `localhost`.
  init(replicas: Int = 0, certificates: TestCertificates? = nil) async throws {
    let secrets = try certificates?.sign("DNS:localhost")
    let patience = replicas == 0 ? "60000" : "2000"
    var (servers, ports, connections, ids) = ([TestRedis](), [Int](), [RawConnection](), [String]())
    for number in 0..<Self.primaries + replicas {
      let port = try TestRedis.freePort()
      var options = ["--port", "\(port)"]
      if let certificates, let secrets {
        options =
          certificates.options(secrets, port: port) + [
            "--tls-cluster", "yes", "--tls-replication", "yes", "--cluster-announce-hostname", "localhost",
            "--cluster-preferred-endpoint-type", "hostname",
          ]
      }
      let server = try await TestRedis(
        options + [
          "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", patience,
          "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
        ])
      let raw = try await RawConnection(server.socket)
      if number < Self.primaries {
        _ = try await raw.ask(["CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)"])
        let first = RedisSlot.count * number / Self.primaries
        let last = RedisSlot.count * (number + 1) / Self.primaries - 1
        _ = try await raw.ask(["CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(last)"])
      }
      servers.append(server)
      ports.append(port)
      connections.append(raw)
      ids.append(try await raw.ask(["CLUSTER", "MYID"]).string ?? "")
    }
    for port in ports.dropFirst() { _ = try await connections[0].ask(["CLUSTER", "MEET", "127.0.0.1", "\(port)"]) }
    for raw in connections {
      try await turns {
        let info = try await raw.ask(["CLUSTER", "INFO"]).string ?? ""
        return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:\(ids.count)")
      }
    }
    for raw in connections.dropFirst(Self.primaries) {
      try await turns { try await raw.ask(["CLUSTER", "REPLICATE", ids[0]]) == .text("OK") }
      try await turns { try await raw.ask(["INFO", "replication"]).string?.contains("master_link_status:up") == true }
    }
    // Who takes over must be known to those who vote.
    for raw in connections {
      try await turns {
        let nodes = try await raw.ask(["CLUSTER", "NODES"]).string ?? ""
        return nodes.split(separator: "\n").count { $0.contains("slave") } == replicas
      }
    }
    (self.servers, self.ports, self.connections, self.ids) = (servers, ports, connections, ids)
    self.certificates = certificates
  }

  /// Settings that begin at a server's port.
  func settings(_ server: Int, _ others: [Int] = []) -> RedisSettings {
    let host = certificates == nil ? "127.0.0.1" : "localhost"
    var settings = RedisSettings(.host(host, port: ports[server]))
    settings.others = others.map { .host(host, port: ports[$0]) }
    settings.tls = certificates.map { .init(authorities: $0.authorities) }
    settings.commandLimit = .seconds(30)
    settings.connectLimit = .seconds(30)
    settings.pingInterval = .milliseconds(300)
    return settings
  }

  func store(_ server: Int = 0, _ change: (inout RedisSettings) -> Void = { _ in }) -> RedisStore {
    var settings = settings(server)
    change(&settings)
    return RedisStore(settings)
  }

  /// A namespace that the primary of that number has.
  func namespace(of primary: Int) throws -> String {
    let slots = RedisSlot.count * primary / Self.primaries..<RedisSlot.count * (primary + 1) / Self.primaries
    for number in 0..<10_000 where slots.contains(Self.slot(of: "n\(number)")) { return "n\(number)" }
    throw CacheError(.simulated, "no namespace")
  }

  static func slot(of namespace: String) -> Int { RedisSlot.of(Array(namespace.utf8)) }

  func ask(_ server: Int, _ words: String...) async throws -> RESPValue { try await connections[server].ask(words) }

  /// Moves the slot of a namespace from one primary to another; `halfway` is called when about half of its names have moved.
  func move(
    _ namespace: String, from: Int, to: Int, halfway: () async throws -> Void = {}
  ) async throws {
    let slot = "\(Self.slot(of: namespace))"
    _ = try await ask(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[from])
    _ = try await ask(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to])
    var (moved, isHalfway) = (0, false)
    let total =
      if case .number(let count) = try await ask(from, "CLUSTER", "COUNTKEYSINSLOT", slot) { Int(count) } else { 0 }
    while case .array(let names) = try await ask(from, "CLUSTER", "GETKEYSINSLOT", slot, "5"), !names.isEmpty {
      let words = names.compactMap(\.string)
      let reply = try await connections[from].ask(
        ["MIGRATE", "127.0.0.1", "\(ports[to])", "", "0", "5000", "KEYS"] + words)
      guard reply == .text("OK") || reply == .text("NOKEY") else { throw CacheError(.simulated, "MIGRATE: \(reply)") }
      moved += words.count
      if !isHalfway, moved * 2 >= total {
        isHalfway = true
        try await halfway()
      }
    }
    if !isHalfway { try await halfway() }
    for server in [to, from] + servers.indices.filter({ $0 != to && $0 != from }) {
      _ = try await ask(server, "CLUSTER", "SETSLOT", slot, "NODE", ids[to])
    }
  }
}
#endif
