private import CStore

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
  ///
  /// By the address of the task, which outlives whatever it has begun and not ended.
  @usableFromInline static var current: TaskIdentity { TaskIdentity(bits: cstore_this_task()) }

  /// The priority of the task that runs here, as a number.
  @usableFromInline static var currentPriority: UInt8 { cstore_this_task_priority() }

  /// Whether the task that runs here is cancelled.
  @usableFromInline static var isCurrentCancelled: Bool { cstore_this_task_is_cancelled() }

  /// Throws if the task that runs here is cancelled.
  ///
  /// `Task` does so, too, in 90 instructions where this takes 35.
  @inlinable
  @inline(__always)
  static func checkCancellation() throws { if isCurrentCancelled { throw CancellationError() } }
}
