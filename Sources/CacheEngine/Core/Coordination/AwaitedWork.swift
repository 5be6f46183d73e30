private import CStore
import Synchronization

/// What a task does for others, who wait for it: a load that is shared, or work that an operator moved to a task of its own.
@usableFromInline
protocol AwaitedWork: AnyObject, Sendable {
  /// Those who wait for it now, those included, if asked for, who do nothing that others wait for.
  func waiting(isEverybodyMeant: Bool) -> [Waiting]
}

/// A task that waits, or is about to, and what it does for others.
@usableFromInline
struct Waiting: Sendable {
  /// The task's own, and that of tasks that were started meanwhile.
  private static let innermost = TaskLocal<(any AwaitedWork)?>(wrappedValue: nil)
  private static var key: UnsafeRawPointer { unsafe UnsafeRawPointer(Unmanaged.passUnretained(innermost).toOpaque()) }

  /// Differs from that of all others who wait for the same.
  var id: UInt64 = 0
  @usableFromInline let task: TaskIdentity
  @usableFromInline let work: (any AwaitedWork)?

  /// The task that runs here.
  @usableFromInline
  init() {
    task = .current
    work = unsafe cstore_task_local(Self.key)?.load(as: (any AwaitedWork)?.self) ?? nil
  }

  @usableFromInline
  init(task: TaskIdentity) {
    self.task = task
    work = nil
  }

  /// Does in this task what others wait for.
  static func work<Answer>(on work: any AwaitedWork, _ body: () async throws -> Answer) async rethrows -> Answer {
    try await innermost.withValue(work) { try await body() }
  }

  /// Says that this task does what others wait for, until that is unbound.
  @usableFromInline
  static func bind(_ work: any AwaitedWork) {
    unsafe withUnsafeTemporaryAllocation(of: (any AwaitedWork)?.self, capacity: 1) { value in
      unsafe value.initializeElement(at: 0, to: work)
      unsafe cstore_bind_task_local(
        key, value.baseAddress, unsafeBitCast((any AwaitedWork)?.self, to: UnsafeRawPointer.self))
    }
  }

  @usableFromInline
  static func unbind() { cstore_unbind_task_local() }

  /// Does in this task what nobody waits for, whatever began the task.
  static func workForNobody<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    try await innermost.withValue(nil) { try await body() }
  }
}

/// Work that was moved to a task of its own, which the one that moved it waits for.
@usableFromInline
final class MovedWork: AwaitedWork {
  private let waiter = Mutex<Waiting?>(Waiting())

  @usableFromInline
  init() {}

  @usableFromInline
  func waiting(isEverybodyMeant: Bool) -> [Waiting] { waiter.withLock { $0 }.map { [$0] } ?? [] }

  /// Nobody waits any more, though the work may go on.
  @usableFromInline
  func end() { waiter.withLock { $0 = nil } }
}
