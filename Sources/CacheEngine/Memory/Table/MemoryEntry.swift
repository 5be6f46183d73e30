public import CacheCore

/// What a memory level keeps of an entry beside its key.
@usableFromInline
struct MemoryEntry<Value: Sendable>: Sendable {
  @usableFromInline var value: Value
  /// Beside the value, since an overwrite often changes these two only.
  @usableFromInline var created: CacheInstant
  /// `never` for none: an optional would take eight bytes more.
  @usableFromInline var storedDeadline: CacheInstant
  @usableFromInline var cost: Int

  @inlinable static var never: CacheInstant { CacheInstant(nanoseconds: .min) }

  @inlinable var deadline: CacheInstant? {
    get { storedDeadline == Self.never ? nil : storedDeadline }
    set { storedDeadline = newValue.map { max($0, CacheInstant(nanoseconds: .min + 1)) } ?? Self.never }
  }

  /// Without a deadline.
  @inlinable
  init(value: Value, cost: Int, created: CacheInstant) {
    self.value = value
    self.cost = cost
    self.created = created
    storedDeadline = Self.never
  }

  @inlinable
  init(value: Value, cost: Int, created: CacheInstant, deadline: CacheInstant?) {
    self.init(value: value, cost: cost, created: created)
    self.deadline = deadline
  }
}
