public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Cashier {
  // MARK: Storing

  /// Stores a value: in memory, and in a file if the cache is persistent.
  ///
  /// Bytes are stored as they are, text as UTF-8, everything else as JSON.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes what is there.
  ///   - key: The key to store it under: any text.
  /// - Throws: `CacheError` with code `CacheError.Code.encodingFailed`, `CacheError.Code.tooLarge`,
  ///   `CacheError.Code.diskWriteFailed` (in an error that names the levels that failed) or `CacheError.Code.closed`.
  public func set<Value: Codable & Sendable>(_ value: Value?, forKey key: String) async throws {
    try await set(value, forKey: key, as: .cashier)
  }

  /// Stores media: bytes as they are, with what is known of them.
  ///
  /// - Parameters:
  ///   - media: The media; `nil` removes what is there.
  ///   - key: The key to store it under: any text.
  /// - Throws: As `set(_:forKey:)`.
  public func set(_ media: CashierMedia?, forKey key: String) async throws {
    try await set(media, forKey: key, as: .media)
  }

  /// Stores a value in a form of your own.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes what is there.
  ///   - key: The key to store it under: any text.
  ///   - coding: Turns values into bytes and back. It is read by a coding of the same name.
  /// - Throws: As `set(_:forKey:)`; the coding's error.
  public func set<Value: Sendable>(_ value: Value?, forKey key: String, as coding: ByteCoding<Value>) async throws {
    guard let value else { return try await remove(forKey: key) }
    try await store(forKey: key) { try CashierItem(value, coding, isPersistent: $0) }
  }

  /// Stores a value in memory only, whether or not the cache is persistent, and whatever its type.
  ///
  /// It has a lifespan like every entry, and is dropped on a memory warning, when memory is short, and with the cache.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes what is there.
  ///   - key: The key to store it under: any text.
  ///   - cost: How many bytes it takes, more or less.
  /// - Throws: As ``remove(forKey:)``, since an older value may be in a file.
  public func setInMemory<Value: Sendable>(_ value: Value?, forKey key: String, cost: Int = 1_024) async throws {
    guard let value else { return try await remove(forKey: key) }
    try await store(forKey: key) { _ in CashierItem(inMemory: value, cost: cost) }
  }

  // MARK: Reading

  /// Returns a value with what counts of its age.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key to look up.
  /// - Returns: The value; `nil` if there is none, if it is of another type, or if its lifespan is over and the settings
  ///   refuse what has expired.
  /// - Throws: `CacheError` with code `CacheError.Code.diskReadFailed`, `CacheError.Code.closed`, or
  ///   `CacheError.Code.invalidCachedData` for bytes that are no longer a value of the type.
  public func entry<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) async throws -> CashierEntry<Value>? {
    try await entry(forKey: key, as: .cashier)
  }

  /// Returns a value in a form of your own with what counts of its age.
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - coding: Turns values into bytes and back.
  /// - Returns: As ``entry(_:forKey:)``; a value that was stored by a coding of another name is of another type.
  /// - Throws: As ``entry(_:forKey:)``; the coding's error.
  public func entry<Value: Sendable>(
    forKey key: String, as coding: ByteCoding<Value>
  ) async throws -> CashierEntry<Value>? {
    guard let found = try await find(key), found.isReturned, let value = try found.entry.value.value(as: coding) else {
      return nil
    }
    return CashierEntry(value: value, isValid: found.isValid, lastUpdate: found.lastUpdate)
  }

  /// Returns a value.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key to look up.
  /// - Returns: As ``entry(_:forKey:)``.
  /// - Throws: As ``entry(_:forKey:)``.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) async throws -> Value? {
    try await entry(type, forKey: key)?.value
  }

  /// Returns a value in a form of your own.
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - coding: Turns values into bytes and back.
  /// - Returns: As ``entry(forKey:as:)``.
  /// - Throws: As ``entry(forKey:as:)``.
  public func value<Value: Sendable>(forKey key: String, as coding: ByteCoding<Value>) async throws -> Value? {
    try await entry(forKey: key, as: coding)?.value
  }

  /// Returns a value that was stored with ``setInMemory(_:forKey:cost:)``.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key to look up.
  /// - Returns: As ``entry(_:forKey:)``.
  /// - Throws: As ``entry(_:forKey:)``.
  public func valueInMemory<Value: Sendable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) async throws -> Value? {
    guard let found = try await find(key), found.isReturned else { return nil }
    return found.entry.value.value(of: type)
  }

  /// Returns bytes.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: As ``entry(_:forKey:)``.
  /// - Throws: As ``entry(_:forKey:)``.
  public func data(forKey key: String) async throws -> Data? { try await value(forKey: key) }

  /// Returns text.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: As ``entry(_:forKey:)``.
  /// - Throws: As ``entry(_:forKey:)``.
  public func string(forKey key: String) async throws -> String? { try await value(forKey: key) }

  /// Returns an array.
  ///
  /// - Parameters:
  ///   - element: The type of its elements.
  ///   - key: The key to look up.
  /// - Returns: As ``entry(_:forKey:)``.
  /// - Throws: As ``entry(_:forKey:)``.
  public func array<Element: Codable & Sendable>(
    of element: Element.Type = Element.self, forKey key: String
  ) async throws -> [Element]? {
    try await value(forKey: key)
  }

  /// Returns a dictionary with text for keys.
  ///
  /// - Parameters:
  ///   - value: The type of its values.
  ///   - key: The key to look up.
  /// - Returns: As ``entry(_:forKey:)``.
  /// - Throws: As ``entry(_:forKey:)``.
  public func dictionary<Value: Codable & Sendable>(
    of value: Value.Type = Value.self, forKey key: String
  ) async throws -> [String: Value]? {
    try await self.value(forKey: key)
  }

  /// Returns media.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: As ``entry(_:forKey:)``.
  /// - Throws: As ``entry(_:forKey:)``.
  public func media(forKey key: String) async throws -> CashierMedia? { try await value(forKey: key, as: .media) }
}
