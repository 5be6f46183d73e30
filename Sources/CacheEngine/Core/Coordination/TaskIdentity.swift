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
final class TaskLineage: Sendable {
  /// The nearest of them; the others are found from there.
  @TaskLocal private static var nearest: TaskLineage?

  private let task: TaskIdentity
  private let state: Mutex<(outer: TaskLineage?, isOver: Bool)>

  /// The task that runs will wait for another one.
  init() {
    task = .current
    state = Mutex((Self.nearest, false))
  }

  /// The tasks that wait for this one.
  static var tasks: [TaskIdentity] {
    var tasks: [TaskIdentity] = []
    var next = nearest
    // Who waits for a task that does not wait any more does not wait for this one.
    while let lineage = next {
      let (outer, isOver) = lineage.state.withLock { $0 }
      if isOver { break }
      tasks.append(lineage.task)
      next = outer
    }
    return tasks
  }

  /// Does in another task what this one waits for.
  func work<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    try await Self.$nearest.withValue(self) { try await body() }
  }

  /// The task does not wait any more, though the work may go on.
  func end() {
    // What goes on may begin more of the kind, without end: it does not keep what was before.
    state.withLock { $0 = (nil, true) }
  }
}
