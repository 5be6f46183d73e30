// Which levels store at once: memory, and what stands around it without a wait of its own.

extension MemoryCacheLevel {
  /// Memory does.
  @inlinable public var storesAtOnce: Bool { true }
}
extension EmptyLevel {
  /// There is nothing to store in.
  @inlinable public var storesAtOnce: Bool { true }
}

extension AgeLimitedLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}
extension CappedLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}
extension LifetimeLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}
extension ObservedLevel {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}
extension TracedCache {
  /// As the level inside.
  @inlinable public var storesAtOnce: Bool { base.storesAtOnce }
}
extension BasicCache {
  /// As the level inside.
  public var storesAtOnce: Bool { inner?.storesAtOnce ?? false }
}
extension SwitchedLevel {
  /// If both lanes do.
  @inlinable public var storesAtOnce: Bool { first.storesAtOnce && second.storesAtOnce }
}
extension ComposedLevel {
  /// If both levels do.
  @inlinable public var storesAtOnce: Bool { upper.storesAtOnce && lower.storesAtOnce }
}
