/// A fetcher made of a closure: the type that stands for any fetcher.
///
/// It stays read-only: what is set on it is stored nowhere.
public final class BasicFetcher<Key: Hashable & Sendable, Value: Sendable>: Fetcher {
  /// What the fetcher is called in errors, events and logs.
  public let name: String

  @usableFromInline let lookupClosure: @Sendable (Key) async throws -> Lookup<Value>
  @usableFromInline let staleLookupClosure: @Sendable (Key) async throws -> Lookup<Value>
  @usableFromInline let peekClosure: @Sendable (Key) -> Value?
  @usableFromInline let memoryWarningClosure: @Sendable () async -> Void

  /// Creates a fetcher from a closure.
  ///
  /// - Parameters:
  ///   - name: What the fetcher is called in errors, events and logs.
  ///   - get: Returns the value for a key, or `nil`.
  @inlinable
  public init(name: String = "BasicFetcher", get: @escaping @Sendable (Key) async throws -> Value?) {
    self.name = name
    lookupClosure = { key in
      guard let value = try await get(key) else { return .miss(.absent) }
      return .hit(Entry(value))
    }
    staleLookupClosure = lookupClosure
    peekClosure = { _ in nil }
    memoryWarningClosure = {}
  }

  @inlinable
  init<Base: Fetcher>(erasing base: Base) where Base.Key == Key, Base.Value == Value {
    name = base.name
    lookupClosure = { try await base.lookup($0) }
    staleLookupClosure = { try await base.lookupIncludingExpired($0) }
    peekClosure = { base.peek($0) }
    memoryWarningClosure = { await base.onMemoryWarning() }
  }

  /// Returns the value for a key, or `nil` if there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: What the closure throws.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { try await lookupClosure(key).entry?.value }

  /// Returns the entry for a key, or the reason for the miss.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or why there is none.
  /// - Throws: What the closure throws.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await lookupClosure(key) }

  /// Returns the entry for a key even if it has expired, if the fetcher inside keeps such.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, fresh or stale, or why there is none.
  /// - Throws: What the closure throws.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> { try await staleLookupClosure(key) }

  /// Returns the value if the fetcher inside can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { peekClosure(key) }

  /// Hands the warning to the fetcher inside.
  public func onMemoryWarning() async { await memoryWarningClosure() }
}

extension Fetcher {
  /// Hides the type of this fetcher behind a closure; it stays read-only.
  ///
  /// - Returns: A fetcher that asks this one. One that is a ``BasicFetcher`` already returns itself.
  @inlinable
  public func normalizeFetcher() -> BasicFetcher<Key, Value> {
    (self as? BasicFetcher<Key, Value>) ?? BasicFetcher(erasing: self)
  }
}
