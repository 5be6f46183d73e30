public import CacheEngine
import Foundation
public import Hummingbird

/// Keeps what a Hummingbird application persists, such as sessions, in any level that can store on a condition.
///
/// ```swift
/// let disk = try DiskCacheLevel<String, Data>(directory: "/var/lib/app/sessions")
/// let sessions = CachePersistDriver(MemoryCacheLevel<String, Data>(capacity: 8 << 20).compose(disk)) { try await disk.close() }
/// var app = Application(router: router)
/// app.addServices(sessions)
/// ```
///
/// A cache may evict entries when it is full: if no session may be lost, give the disk enough capacity for all of them.
public struct CachePersistDriver<Level: ConditionalLevel>: PersistDriver
where Level.Key == String, Level.Value == Data {
  private let level: Level
  private let clock: any CacheClock
  private let close: @Sendable () async throws -> Void

  /// Creates a driver.
  ///
  /// - Parameters:
  ///   - level: Where values are kept, as JSON.
  ///   - clock: The clock of the level.
  ///   - close: Runs when the application has shut down.
  public init(
    _ level: Level, clock: any CacheClock = SystemClock(), close: @escaping @Sendable () async throws -> Void = {}
  ) {
    self.level = level
    self.clock = clock
    self.close = close
  }

  /// Stores a value; it is an error if there is one already.
  public func create<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws {
    let isStored = try await level.setIfAbsent(encoded(value), forKey: key, expiry: expires.map(Expiry.after) ?? .never)
    guard isStored else { throw PersistError.duplicate }
  }

  /// Stores a value; without a lifetime of its own, it keeps the deadline of the previous value.
  public func set<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws {
    var expiry = expires.map(Expiry.after)
    if expiry == nil, let deadline = try await level.lookup(key).entry?.deadline { expiry = .at(deadline) }
    try await level.set(encoded(value), forKey: key, expiry: expiry ?? .never)
  }

  /// The value for a key, if there is one.
  public func get<Object: Codable & Sendable>(key: String, as type: Object.Type) async throws -> Object? {
    try await getWithTTL(key: key, as: type)?.object
  }

  /// The value for a key and the rest of its lifetime, if there is one.
  public func getWithTTL<Object: Codable & Sendable>(
    key: String, as type: Object.Type
  ) async throws -> (object: Object, ttl: Duration?)? {
    guard let entry = try await level.lookup(key).entry else { return nil }
    guard let object = try? JSONDecoder().decode(type, from: entry.value) else { throw PersistError.invalidConversion }
    return (object, entry.deadline.map { clock.now.duration(to: $0) })
  }

  /// Removes the value for a key.
  public func remove(key: String) async throws { try await level.remove(key) }

  /// Closes whatever the level is built on.
  public func shutdown() async throws { try await close() }

  private func encoded(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }
}
