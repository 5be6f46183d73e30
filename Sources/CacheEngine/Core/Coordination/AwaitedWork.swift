private import CStore
import Synchronization

/// What a task does for others, who wait for it: a load that is shared, or work that an operator moved to a task of its own.
///
/// A class, since a reference to an object is one word, and one to whatever conforms to a protocol two.
@usableFromInline
class AwaitedWork: @unchecked Sendable {  // it has nothing of its own, and who inherits from it guards what it has
  @inlinable
  init() {}

  @inlinable
  deinit {}

  /// Those who wait for it now, those included, if asked for, who do nothing that others wait for.
  @usableFromInline
  func waiting(isEverybodyMeant: Bool) -> [NumberedWaiting] { [] }
}

/// A task that waits, or is about to, and what it does for others.
// Of two words, so that what it is part of is copied word by word: what is larger than four is copied by what its type says.
@usableFromInline
struct Waiting: Sendable {
  /// The task's own, and that of tasks that were started meanwhile.
  private static let innermost = TaskLocal<AwaitedWork?>(wrappedValue: nil)
  private static var key: UnsafeRawPointer { unsafe UnsafeRawPointer(Unmanaged.passUnretained(innermost).toOpaque()) }

  @usableFromInline let task: TaskIdentity
  @usableFromInline let work: AwaitedWork?

  /// The task that runs here.
  @usableFromInline
  init() {
    task = .current
    work = unsafe cstore_task_local(Self.key)?.load(as: AwaitedWork?.self) ?? nil
  }

  @usableFromInline
  init(task: TaskIdentity) {
    self.task = task
    work = nil
  }

  /// Does in this task what others wait for.
  static func work<Answer>(on work: AwaitedWork, _ body: () async throws -> Answer) async rethrows -> Answer {
    try await innermost.withValue(work) { try await body() }
  }

  /// Says that this task does what others wait for, until that is unbound.
  @usableFromInline
  static func bind(_ work: AwaitedWork) {
    unsafe withUnsafeTemporaryAllocation(of: AwaitedWork?.self, capacity: 1) { value in
      unsafe value.initializeElement(at: 0, to: work)
      unsafe cstore_bind_task_local(
        key, value.baseAddress, unsafeBitCast(AwaitedWork?.self, to: UnsafeRawPointer.self))
    }
  }

  @usableFromInline
  static func unbind() { cstore_unbind_task_local() }

  /// Does in this task what nobody waits for, whatever began the task.
  static func workForNobody<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    try await innermost.withValue(nil) { try await body() }
  }
}

/// One of those who wait for the same.
@usableFromInline
struct NumberedWaiting: Sendable {
  let who: Waiting
  /// Differs from that of all others who wait for the same.
  let id: UInt64
}

/// Work that was moved to a task of its own, which the one that moved it waits for.
@usableFromInline
final class MovedWork: AwaitedWork, @unchecked Sendable {  // what it has is a lock
  private let waiter = Mutex<Waiting?>(Waiting())

  @usableFromInline
  override init() {}

  @usableFromInline
  override func waiting(isEverybodyMeant: Bool) -> [NumberedWaiting] {
    waiter.withLock { $0 }.map { [NumberedWaiting(who: $0, id: 0)] } ?? []
  }

  /// Nobody waits any more, though the work may go on.
  @usableFromInline
  func end() { waiter.withLock { $0 = nil } }
}
