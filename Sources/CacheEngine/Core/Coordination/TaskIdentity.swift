import Synchronization

/// Which task runs, to find out who would wait for itself.
///
/// To be compared while that task has something to end; afterwards another one may have the same.
@usableFromInline
struct TaskIdentity: Hashable, Sendable {
  @usableFromInline let bits: UInt

  @inlinable
  init(bits: UInt) { self.bits = bits }

  /// No task, or none that is known.
  @inlinable static var none: TaskIdentity { TaskIdentity(bits: 0) }

  /// The task that runs here.
  @inlinable static var current: TaskIdentity {
    // The address of the task, which outlives whatever it has begun and not ended.
    TaskIdentity(
      bits: unsafe withUnsafeCurrentTask { task in unsafe task.map { unsafe unsafeBitCast($0, to: UInt.self) } ?? 0 })
  }
}

/// The tasks that wait for another one, where an operator moved work to a task of its own.
