private import CStore

/// How many tasks a thread has started at once, each within the one before.
///
/// Each stands on the stack until it waits for the first time: a value that is made from another, that from a third, and so
/// on, would fill it.
///
/// No work throws. It is typed as if it did, since the runtime only takes work that may, and else a function of its own, with memory
/// and a closure, stands between a task and its work.
@usableFromInline
enum NestedStarts {
  private static let most: UInt32 = 16

  /// Starts a task at once, on this thread, unless too many stand on its stack; such a one is enqueued.
  ///
  /// That costs a third of what one costs that is enqueued first.
  // The compiler values code in a loop more, and therefore puts all of `immediate` here and sees that no executor is
  // preferred: else each task would note that it prefers none, and take a lock to find it out whenever a function that waits
  // returns. That is a tenth of a load that is shared.
  @usableFromInline
  @inline(never)
  static func start(_ work: @escaping @Sendable @isolated(any) () async throws -> Void) -> Task<Void, any Error> {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), cstore_enter_start(most) else {
      return Task(operation: work)
    }
    defer { cstore_leave_start() }
    var task: Task<Void, any Error>?
    repeat { task = Task.immediate(operation: work) } while task == nil
    return task ?? Task(operation: work)
  }

  /// The same for a task that is to prefer an executor, if there is one.
  @usableFromInline
  static func start(
    on executor: (any TaskExecutor)?, _ work: @escaping @Sendable @isolated(any) () async throws -> Void
  ) -> Task<Void, any Error> {
    guard let executor else { return start(work) }
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), cstore_enter_start(most) else {
      return Task(executorPreference: executor, operation: work)
    }
    defer { cstore_leave_start() }
    return Task.immediate(executorPreference: executor, operation: work)
  }

  /// Notes that this thread is about to start a task at once, unless too many stand on its stack.
  @usableFromInline
  static func enter() -> Bool { cstore_enter_start(most) }

  @usableFromInline
  static func leave() { cstore_leave_start() }
}
