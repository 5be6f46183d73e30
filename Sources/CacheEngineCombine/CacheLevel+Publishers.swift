#if Combine || canImport(Combine)
public import CacheEngine

extension CacheLevel {
  /// Publishes the value held for a key; a miss is a failure here.
  ///
  /// ```swift
  /// names.publisher(for: "ada")
  ///   .sink(receiveCompletion: { print($0) }, receiveValue: { print($0) })
  ///   .store(in: &cancellables)
  /// ```
  ///
  /// It fails as `CacheLevel.require(_:)` does: with a `CacheError` of code `valueNotInCache` on a miss,
  /// or `conditionNotSatisfied` where a condition refused the key, or with the error of the level.
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - actor: Where the answer is delivered; by default the actor that this is called on. `nil` is any thread.
  /// - Returns: A cold publisher of one value.
  public func publisher(for key: Key, on actor: (any Actor)? = #isolation) -> LevelPublisher<Value> {
    LevelPublisher(on: actor) { try await require(key) }
  }

  /// Publishes what a level knows of a key: the entry, or why there is none.
  ///
  /// A miss is an answer here; only an error of the level is a failure.
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - actor: Where the answer is delivered; by default the actor that this is called on. `nil` is any thread.
  /// - Returns: A cold publisher of one answer.
  public func lookupPublisher(for key: Key, on actor: (any Actor)? = #isolation) -> LevelPublisher<Lookup<Value>> {
    LevelPublisher(on: actor) { try await lookup(key) }
  }

  /// Stores a value under a key whenever it is subscribed to.
  ///
  /// The value is not written before somebody subscribes: `.ignoreOutput()` is enough, but a publisher that is dropped
  /// writes nothing, and the compiler warns of that. If the subscription is dropped, the write is cancelled and may not
  /// happen.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - expiry: When the entry expires, counted from the write; `nil` for the level's own default.
  ///   - actor: Where the outcome is delivered; by default the actor that this is called on. `nil` is any thread.
  /// - Returns: A cold publisher of one empty value, after the value was stored.
  public func setPublisher(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, on actor: (any Actor)? = #isolation
  ) -> LevelPublisher<Void> {
    LevelPublisher(on: actor) { try await store(value, forKey: key, terms: StoreTerms(expiry: expiry)) }
  }

  /// Removes the value for a key whenever it is subscribed to.
  ///
  /// - Parameters:
  ///   - key: The key to remove. Removing an absent key succeeds.
  ///   - actor: Where the outcome is delivered; by default the actor that this is called on. `nil` is any thread.
  /// - Returns: A cold publisher of one empty value, after the removal.
  public func removePublisher(_ key: Key, on actor: (any Actor)? = #isolation) -> LevelPublisher<Void> {
    LevelPublisher(on: actor) { try await remove(key) }
  }

  /// Removes everything whenever it is subscribed to.
  ///
  /// - Parameter actor: Where the outcome is delivered; by default the actor that this is called on. `nil` is any
  ///   thread.
  /// - Returns: A cold publisher of one empty value, after the removal.
  public func clearPublisher(on actor: (any Actor)? = #isolation) -> LevelPublisher<Void> {
    LevelPublisher(on: actor) { try await clear() }
  }
}
#endif
