// How operators hand on the wish to read a key past the levels inside: each does to it what it does to any read.

extension ReadDecorator where Base: ReloadableLevel {
  /// Lets the level inside read a key anew, in this decorator's way.
  public func reload(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await read(key) { try await base.reload(key) }
  }
}

extension CappedLevel: ReloadableLevel where Base: ReloadableLevel {}
extension ConditionedLevel: ReloadableLevel where Base: ReloadableLevel {}
extension PostProcessedLevel: ReloadableLevel where Base: ReloadableLevel {}

extension SwitchedLevel: ReloadableLevel {
  /// Lets the lane of the key read it anew, if it has levels below, and else as ever.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    switch selector(key) {
    case .first: try await first.reloadIfAble(key)
    case .second: try await second.reloadIfAble(key)
    }
  }
}

extension KeyTransformedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside read the transformed key anew.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    try await base.reload(try await transformer.transform(key))
  }
}

extension ValueTransformedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside read a key anew, and transforms its value.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    try await base.reload(key).transformed(by: transformer)
  }
}
