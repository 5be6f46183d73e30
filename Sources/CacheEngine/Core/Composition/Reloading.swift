// How operators pass on a request to reload a key: each treats it like any other read.

extension ReadDecorator where Base: ReloadableLevel {
  /// Lets the level inside reload a key, in this decorator's way.
  public func reload(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await read(key) { try await base.reload(key) }
  }
}

extension CappedLevel: ReloadableLevel where Base: ReloadableLevel {}
extension ConditionedLevel: ReloadableLevel where Base: ReloadableLevel {}
extension PostProcessedLevel: ReloadableLevel where Base: ReloadableLevel {}

extension SwitchedLevel: ReloadableLevel {
  /// Lets the lane of the key reload it if it has levels below, and otherwise reads it as usual.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    switch selector(key) {
    case .first: try await first.reloadIfAble(key)
    case .second: try await second.reloadIfAble(key)
    }
  }
}

extension KeyTransformedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload the transformed key.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    try await base.reload(try await transformer.transform(key))
  }
}

extension ValueTransformedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload a key, and transforms its value.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    try await base.reload(key).transformed(by: transformer)
  }
}
