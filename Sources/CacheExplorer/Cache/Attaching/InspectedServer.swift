#if Redis
import CacheEngine
import CacheEngineRedis
import ExplorerCommands
import ExplorerState
import ExplorerText
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A running Redis server as a level that can only be read: the keys that were looked at, and their values.
final class InspectedServer: StorageLevel, PagedStorage, PartialStorage {
  private struct State {
    var sheet = KeyspaceSheet(server: KeyspaceSheet.Server(), sample: KeyspaceSheet.Sample())
    var entries: [EntrySummary<String>] = []
    /// The names of keys that are no text.
    var names: [String: [UInt8]] = [:]
    var lookedAt: ContinuousClock.Instant?
    /// The run of the server that was looked at last, and how many commands it had counted.
    var run: String?
    var counted = 0
    var announce: (@Sendable (String) -> Void)?
  }

  static let title = "redis"
  private static let refused = CacheError(
    .readOnly, "a server is looked at and not changed; open a configuration with a redis level", level: title)
  /// A look at the keys ends after so long.
  private static let longestLook = Duration.seconds(5)
  /// Listening to every command ends after so many.
  private static let mostCommands = 200_000

  let name = title
  let address: String
  let database: Int
  private let inspection: RedisInspection
  private let mostKeys: Int
  private let clock = SystemClock()
  private let state = Mutex(State())

  init(_ settings: RedisSettings, mostKeys: Int) {
    var settings = settings
    settings.commandLimit = .seconds(5)
    settings.connectLimit = .seconds(5)
    address = settings.address
    database = settings.database
    inspection = RedisInspection(settings)
    self.mostKeys = mostKeys
  }

  func close() { inspection.close() }

  var sheet: KeyspaceSheet { state.withLock { $0.sheet } }

  var usage: LevelUsage {
    let server = sheet.server
    return LevelUsage(count: server.keys, cost: server.usedBytes, capacity: server.mostBytes)
  }

  // MARK: Looking

  /// Asks the server how it does.
  func look() async throws {
    let facts = try await inspection.facts()
    let keys = try await inspection.count()
    let now = ContinuousClock.now
    // Whatever a server says, sums of it do not overflow.
    func number(_ name: String) -> Int { min(max(0, facts[name].flatMap { Int($0) } ?? 0), 1 << 60) }
    let (run, counted) = (facts["run_id"], number("total_commands_processed"))
    let isSame = state.withLock { state in
      defer { (state.run, state.counted) = (run, counted) }
      // Its counts can be set back (CONFIG RESETSTAT) without a restart.
      return state.run == nil || state.run == run && state.counted <= counted
    }
    if !isSame { inspection.forgetOwn() }
    // The server counts what it is asked from here like anything else.
    let own = inspection.own
    var server = KeyspaceSheet.Server()
    server.address = address
    server.product = facts["valkey_version"] == nil ? "Redis" : "Valkey"
    server.version = facts["valkey_version"] ?? facts["redis_version"] ?? ""
    server.role = facts["role"] ?? ""
    server.uptime = .seconds(number("uptime_in_seconds"))
    server.usedBytes = number("used_memory")
    server.peakBytes = number("used_memory_peak")
    server.mostBytes = number("maxmemory") > 0 ? number("maxmemory") : nil
    server.policy = facts["maxmemory_policy"] ?? ""
    server.hits = max(0, number("keyspace_hits") - own.hits)
    server.misses = max(0, number("keyspace_misses") - own.misses)
    (server.evicted, server.expired) = (number("evicted_keys"), number("expired_keys"))
    server.clients = number("connected_clients")
    server.blockedClients = number("blocked_clients")
    server.trackingClients = number("tracking_clients")
    server.commands = max(0, counted - own.commands)
    server.keys = min(max(0, keys), 1 << 60)
    state.withLock { state in
      let old = state.sheet.server
      // Of a server that counts from zero again, the last second is not known.
      if let last = state.lookedAt, isSame {
        let seconds = max(0.001, Double(last.duration(to: now).clampedNanoseconds) / 1e9)
        var rates = KeyspaceSheet.Rates()
        rates.hits = Double(max(0, server.hits - old.hits)) / seconds
        rates.misses = Double(max(0, server.misses - old.misses)) / seconds
        rates.evicted = Double(max(0, server.evicted - old.evicted)) / seconds
        rates.commands = Double(max(0, server.commands - old.commands)) / seconds
        state.sheet.rates = rates
      } else {
        state.sheet.rates = nil
      }
      (state.lookedAt, state.sheet.server, state.sheet.problem) = (now, server, nil)
    }
  }

  /// Asks for its keys, so many at most.
  func lookAtKeys() async throws {
    let began = ContinuousClock.now
    let (keys, isAll) = try await inspection.keys(atMost: mostKeys, within: Self.longestLook)
    let now = clock.now
    let named = keys.map { (name: Self.text($0.name), key: $0) }
    var sample = KeyspaceSheet.Sample()
    (sample.keys, sample.isAll, sample.took) = (keys.count, isAll, ContinuousClock.now - began)
    sample.prefixes = KeyspaceSheet.prefixes(of: named.map { ($0.name, $0.key.bytes, $0.key.left) })
    state.withLock { [sample] state in
      (state.names, state.entries) = ([:], [])
      for (name, key) in named {
        if String(validating: key.name, as: UTF8.self) != name { state.names[name] = key.name }
        // A server does not tell when a key was stored, and nobody shows what stands here.
        state.entries.append(
          EntrySummary(key: name, cost: key.bytes ?? 0, created: now, deadline: key.left.map { now.advanced(by: $0) }))
      }
      state.sheet.sample = sample
    }
  }

  /// Why it cannot be asked.
  func note(problem: String) { state.withLock { $0.sheet.problem = problem } }

  /// Is told what is about to be done to the server.
  func announce(by announce: (@Sendable (String) -> Void)?) { state.withLock { $0.announce = announce } }

  /// Listens to every command for a while, and says what that brought.
  func monitor(for limit: Duration) async throws -> String {
    state.withLock { $0.announce }?(MonitoredTraffic.announcement(limit))
    let reader = Mutex(MonitorReader())
    let own = inspection.own.commands
    let (lasted, commands) = try await inspection.monitor(for: limit, atMost: Self.mostCommands) { [database] line in
      reader.withLock { $0.take(line, database: database) }
    }
    var traffic = reader.withLock { $0 }.traffic(lasted: lasted, isCut: commands >= Self.mostCommands)
    // Among them is what it was asked from here meanwhile.
    traffic.commands = max(0, traffic.commands - max(0, inspection.own.commands - own))
    state.withLock { [traffic] in $0.sheet.traffic = traffic }
    return traffic.sentence
  }

  /// A key as text; for bytes that are not text, the beginning that is, and the rest in hexadecimal digits.
  static func text(_ key: [UInt8]) -> String {
    if let text = String(validating: key, as: UTF8.self) { return text }
    let readable = key.prefix { (0x20...0x7e).contains($0) }
    let rest = key.dropFirst(readable.count).prefix(32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    return String(decoding: readable, as: UTF8.self) + "0x" + rest.joined()
  }

  // MARK: Level

  func beginning(of key: String, atMost count: Int) async throws -> (bytes: Data, of: Int)? {
    let name = state.withLock { $0.names[key] } ?? Array(key.utf8)
    guard let (bytes, size) = try await inspection.beginning(of: name, atMost: count) else { return nil }
    return (Data(bytes), size)
  }

  func get(_ key: String) async throws -> Data? {
    guard let (bytes, size) = try await beginning(of: key, atMost: ValueSight.mostBytes) else { return nil }
    guard bytes.count == size else {
      throw CommandFailure(
        message: "the value has \(Format.bytes(size)); v shows the first \(Format.bytes(bytes.count))")
    }
    return bytes
  }

  func lookup(_ key: String) async throws -> Lookup<Data> {
    guard let value = try await get(key) else { return .miss(.absent) }
    return .hit(Entry(value, cost: value.count, level: name))
  }

  func contents() async throws -> [EntrySummary<String>] { state.withLock { $0.entries } }

  func forEachEntry(_ body: (EntrySummary<String>) -> Bool) async throws {
    for entry in try await contents() { guard body(entry) else { return } }
  }

  func set(_ value: Data, forKey key: String) async throws { throw Self.refused }
  func remove(_ key: String) async throws { throw Self.refused }
  func clear() async throws { throw Self.refused }
  func expire(_ key: String) async throws { throw Self.refused }
  func removeExpired() async throws -> Int { throw Self.refused }
}
#endif
