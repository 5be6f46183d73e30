extension LevelDecorator where Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Base.Key) -> Bool) async throws -> Int {
    try await base.removeAll(where: condition)
  }
}

// A decorator that is a storage level as well would have two ways.
extension LevelDecorator where Self: StorageLevel, Base: SelectiveRemoval {
  /// Removes the entries whose keys meet a condition from the level inside.
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Base.Key) -> Bool) async throws -> Int {
    try await base.removeAll(where: condition)
  }
}

extension LevelDecorator where Base: TaggedLevel {
  /// Removes every entry that was stored with a tag from the level inside.
  @discardableResult
  public func removeAll(tagged tag: String) async throws -> Int { try await base.removeAll(tagged: tag) }
}

extension AgeLimitedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension CappedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension CircuitBreakerLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension ConditionedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension FallbackLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension LifetimeLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension OptionalLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension PostProcessedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension RetriedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension TimeLimitedLevel: SelectiveRemoval where Base: SelectiveRemoval {}

extension AgeLimitedLevel: TaggedLevel where Base: TaggedLevel {}
extension CappedLevel: TaggedLevel where Base: TaggedLevel {}
extension CircuitBreakerLevel: TaggedLevel where Base: TaggedLevel {}
extension ConditionedLevel: TaggedLevel where Base: TaggedLevel {}
extension FallbackLevel: TaggedLevel where Base: TaggedLevel {}
extension LifetimeLevel: TaggedLevel where Base: TaggedLevel {}
extension OptionalLevel: TaggedLevel where Base: TaggedLevel {}
extension PostProcessedLevel: TaggedLevel where Base: TaggedLevel {}
extension RetriedLevel: TaggedLevel where Base: TaggedLevel {}
extension TimeLimitedLevel: TaggedLevel where Base: TaggedLevel {}
