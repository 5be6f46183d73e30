public import CacheEngine
import Foundation
public import Hummingbird

/// Keeps what a Hummingbird application persists, sessions for one, in any level that can store on a condition.
///
/// ```swift
/// let disk = try DiskCacheLevel<String, Data>(directory: "/var/lib/app/sessions")
/// let sessions = CachePersistDriver(MemoryCacheLevel<String, Data>(capacity: 8 << 20).compose(disk)) { try await disk.close() }
/// var app = Application(router: router)
/// app.addServices(sessions)
/// ```
///
/// A cache may let go of what it holds when room is needed: whoever must not lose a session gives the disk the room for all.
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

  /// Stores a value; an error if there is one.
  public func create<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws {
    let isStored = try await level.setIfAbsent(encoded(value), forKey: key, expiry: expires.map(Expiry.after) ?? .never)
    guard isStored else { throw PersistError.duplicate }
  }

  /// Stores a value; without a lifetime of its own it has the deadline of the one before.
  public func set<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws {
    var expiry = expires.map(Expiry.after)
    if expiry == nil, let deadline = try await level.lookup(key).entry?.deadline { expiry = .at(deadline) }
    try await level.set(encoded(value), forKey: key, expiry: expiry ?? .never)
  }

  /// The value for a key, if there is one.
  public func get<Object: Codable & Sendable>(key: String, as type: Object.Type) async throws -> Object? {
    try await getWithTTL(key: key, as: type)?.object
  }

  /// The value for a key and how long it lives yet, if there is one.
  public func getWithTTL<Object: Codable & Sendable>(
    key: String, as type: Object.Type
  ) async throws -> (object: Object, ttl: Duration?)? {
    guard let entry = try await level.lookup(key).entry else { return nil }
    guard let object = try? JSONDecoder().decode(type, from: entry.value) else { throw PersistError.invalidConversion }
    return (object, entry.deadline.map { clock.now.duration(to: $0) })
  }

  /// Removes the value for a key.
  public func remove(key: String) async throws { try await level.remove(key) }

  /// Closes what the level stands on.
  public func shutdown() async throws { try await close() }

  private func encoded(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }
}
