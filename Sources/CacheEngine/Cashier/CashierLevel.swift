public import CacheCore

/// The values of one type in a ``Cashier``, as a level that can be composed with others.
///
/// Made by ``Cashier/level(as:)``. Here an entry whose lifespan is over is a miss, as in every level, so that a composition
/// asks the next one. Callers that ask for stale values get it, unless the settings refuse expired values. A value that is
/// stored here with a lifetime of its own is gone when that is over. Levels above keep a copy as long as the entry is valid by
/// the current lifespan.
public struct CashierLevel<Value: Sendable>: CacheLevel {
  private let cashier: Cashier
  private let coding: ByteCoding<Value>

  init(_ cashier: Cashier, _ coding: ByteCoding<Value>) {
    self.cashier = cashier
    self.coding = coding
  }

  /// The name of the cache.
  public var name: String { cashier.id }

  /// Returns a valid value, or `nil` if there is none.
  public func get(_ key: String) async throws -> Value? { try await lookup(key).entry?.value }

  /// Returns a valid entry, or why there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or `MissReason.absent` (also for a value of another type) or `MissReason.expired`.
  /// - Throws: As ``Cashier/entry(forKey:as:)``.
  public func lookup(_ key: String) async throws -> Lookup<Value> {
    let answer = try await lookupIncludingExpired(key)
    return answer.entry?.isStale == true ? .miss(.expired) : answer
  }

  /// Returns an entry even if its lifespan is over, unless the settings refuse that.
  public func lookupIncludingExpired(_ key: String) async throws -> Lookup<Value> {
    guard let found = try await cashier.find(key) else { return .miss(.absent) }
    guard found.isReturned else { return .miss(.expired) }
    guard let value = try found.entry.value.value(as: coding) else { return .miss(.absent) }
    var entry = found.entry.with(value)
    entry.cost = found.entry.cost
    entry.isStale = !found.isValid
    entry.deadline = [entry.deadline, found.limit].compactMap(\.self).min()
    return .hit(entry)
  }

  /// Stores a value.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  /// - Throws: As ``Cashier/set(_:forKey:as:)``.
  public func set(_ value: Value, forKey key: String) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value on terms of its own; its cost is the length of its bytes.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live at most, and since when.
  /// - Throws: As ``Cashier/set(_:forKey:as:)``.
  public func store(_ value: Value, forKey key: String, terms: StoreTerms) async throws {
    try await cashier.store(forKey: key, terms: terms) { try CashierItem(value, coding, isPersistent: $0) }
  }

  /// Removes the entry of a key, whatever its type.
  ///
  /// - Parameter key: The key to remove.
  /// - Throws: As ``Cashier/remove(forKey:)``.
  public func remove(_ key: String) async throws { try await cashier.remove(forKey: key) }

  /// Removes every entry, whatever its type.
  ///
  /// - Throws: As ``Cashier/clear()``.
  public func clear() async throws { try await cashier.clear() }

  /// Drops what is in memory.
  public func onMemoryWarning() async { await cashier.onMemoryWarning() }
}

extension CashierLevel: LoadingLevel {
  package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(cashier) }
  package func beginLoad(_ key: String) async throws -> LoadTicket? { nil }
}

extension Cashier {
  /// The values of one type as a level, to be composed with others and transformed.
  ///
  /// ```swift
  /// let thumbnails = news.level(as: .data).transformValues(ImageTransformer())
  /// ```
  ///
  /// - Parameter coding: Turns values into bytes and back.
  /// - Returns: The level, which keeps the cache open.
  public func level<Value: Sendable>(as coding: ByteCoding<Value>) -> CashierLevel<Value> { CashierLevel(self, coding) }

  /// The values of one type as a level, to be composed with others and transformed.
  ///
  /// - Parameter type: The type of the values, which are stored as by `set(_:forKey:)`.
  /// - Returns: The level, which keeps the cache open.
  public func level<Value: Codable & Sendable>(of type: Value.Type) -> CashierLevel<Value> {
    CashierLevel(self, .cashier)
  }
}
