/// A fetcher made of a closure: the type that stands for any fetcher.
///
/// It stays read-only: what is set on it is stored nowhere.
public final class BasicFetcher<Key: Hashable & Sendable, Value: Sendable>: Fetcher {
  /// The name of the fetcher in errors, events and logs.
  public let name: String

  @usableFromInline let lookupClosure: @Sendable (Key) async throws -> Lookup<Value>
  @usableFromInline let staleLookupClosure: @Sendable (Key) async throws -> Lookup<Value>
  @usableFromInline let renewClosure: (@Sendable (Key, Entry<Value>) async throws -> Lookup<Value>)?
  @usableFromInline let peekClosure: @Sendable (Key) -> Value?
  @usableFromInline let memoryWarningClosure: @Sendable () async -> Void

  /// Creates a fetcher from a closure.
  ///
  /// - Parameters:
  ///   - name: The name of the fetcher in errors, events and logs.
  ///   - get: Returns the value for a key, or `nil`.
  @inlinable
  public init(name: String = "BasicFetcher", get: @escaping @Sendable (Key) async throws -> Value?) {
    self.name = name
    lookupClosure = { key in
      guard let value = try await get(key) else { return .miss(.absent) }
      return .hit(Entry(value))
    }
    staleLookupClosure = lookupClosure
    renewClosure = nil
    peekClosure = { _ in nil }
    memoryWarningClosure = {}
  }

  /// Creates a fetcher from a closure that is shown what has expired.
  ///
  /// ```swift
  /// let articles = BasicFetcher<String, Article>(renewing: { id, old in
  ///   let answer = try await api.article(id, unless: old?.validator)
  ///   guard let article = answer.article else { return .notModified(expiry: .after(answer.lifetime)) }
  ///   return .value(article, expiry: .after(answer.lifetime), validator: answer.tag)
  /// })
  /// let cache = MemoryCacheLevel<String, Article>(keepsExpired: .seconds(3600)).compose(articles.pooled())
  /// ```
  ///
  /// The levels above keep expired entries as long as they are told to (`keepsExpired`). While the closure fails, they keep
  /// them still.
  ///
  /// - Parameters:
  ///   - name: The name of the fetcher in errors, events and logs.
  ///   - clock: The clock of the levels above, which lifetimes are counted by.
  ///   - renew: Returns a value with its terms, or that the entry that it is given is still valid; `nil` if there is no such value.
  ///     The entry is `nil` if no level has kept one. If it is reloaded ahead of time, it has not expired yet.
  public init(
    name: String = "BasicFetcher", clock: any CacheClock = SystemClock(),
    renewing renew: @escaping @Sendable (Key, Entry<Value>?) async throws -> Renewal<Value>?
  ) {
    self.name = name
    let ask: @Sendable (Key, Entry<Value>?) async throws -> Lookup<Value> = { key, old in
      guard let renewal = try await renew(key, old) else { return .miss(.absent) }
      let (value, terms) = try renewal.settled(by: old, key: key, level: name)
      var entry = Entry(
        value, deadline: terms.expiry?.deadline(by: clock), cost: terms.cost, level: name, created: terms.created)
      entry.tags = terms.tags
      return .hit(entry)
    }
    lookupClosure = { try await ask($0, nil) }
    staleLookupClosure = lookupClosure
    renewClosure = { try await ask($0, $1) }
    peekClosure = { _ in nil }
    memoryWarningClosure = {}
  }

  @inlinable
  init<Base: Fetcher>(erasing base: Base) where Base.Key == Key, Base.Value == Value {
    name = base.name
    lookupClosure = { try await base.lookup($0) }
    staleLookupClosure = { try await base.lookupIncludingExpired($0) }
    if let renewer = base.renewer {
      renewClosure = { key, old in try await renewer.lookup(key, renewing: old) }
    } else {
      renewClosure = nil
    }
    peekClosure = { base.peek($0) }
    memoryWarningClosure = { await base.onMemoryWarning() }
  }

  /// Returns the value for a key, or `nil` if there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The value, or `nil` on a miss.
  /// - Throws: Any error that the closure throws.
  @inlinable
  public func get(_ key: Key) async throws -> Value? { try await lookupClosure(key).value }

  /// Returns the entry for a key, or the reason for the miss.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or why there is none.
  /// - Throws: Any error that the closure throws.
  @inlinable
  public func lookup(_ key: Key) async throws -> Lookup<Value> { try await lookupClosure(key) }

  /// Returns the entry for a key even if it has expired, if the fetcher inside keeps such.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, fresh or stale, or why there is none.
  /// - Throws: Any error that the closure throws.
  public func lookupIncludingExpired(_ key: Key) async throws -> Lookup<Value> { try await staleLookupClosure(key) }

  /// Returns the value if the fetcher inside can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { peekClosure(key) }

  /// Hands the warning to the fetcher inside.
  public func onMemoryWarning() async { await memoryWarningClosure() }
}

extension BasicFetcher: RenewingLevel {
  /// If it was made so, or the fetcher inside does.
  public var renews: Bool { renewClosure != nil }

  /// Returns the entry for a key, and shows the closure what has expired.
  public func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    if let renewClosure { return try await renewClosure(key, old) }
    return try await lookupClosure(key)
  }
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
