import Synchronization

/// The values that a task, and those it works for, are making: who asked for one of them again would wait for itself.
@usableFromInline
final class ValueInTheMaking: Sendable {
  /// The one that was begun last; the others are found from there.
  @TaskLocal private static var innermost: ValueInTheMaking?

  private let pool: ObjectIdentifier
  private let key: any Hashable & Sendable
  private let outer: ValueInTheMaking?
  /// A task that was started meanwhile, and lives on, still remembers it.
  private let isOver = Atomic(false)

  private init(key: any Hashable & Sendable, pool: AnyObject) {
    self.key = key
    self.pool = ObjectIdentifier(pool)
    outer = Self.innermost
  }

  /// Makes the value of a key for a pool.
  @usableFromInline
  static func make<Key: Hashable & Sendable, Value>(
    _ key: Key, for pool: AnyObject, by body: () async throws -> Value
  ) async throws -> Value {
    let making = ValueInTheMaking(key: key, pool: pool)
    defer { making.isOver.store(true, ordering: .relaxed) }
    return try await $innermost.withValue(making) { try await body() }
  }

  /// Whether this task works for the making of any value.
  @usableFromInline static var isAny: Bool { innermost != nil }

  /// Whether this task works for the making of that very value.
  ///
  /// - Complexity: O(n) for n values that are made one for the other; ask before whether the value is being made at all.
  @usableFromInline
  static func isUnderWay<Key: Hashable & Sendable>(_ key: Key, for pool: AnyObject) -> Bool {
    var next = innermost
    while let making = next {
      let isSame = making.pool == ObjectIdentifier(pool) && making.key as? Key == key
      if isSame, !making.isOver.load(ordering: .relaxed) { return true }
      next = making.outer
    }
    return false
  }
}
