import Dispatch
import Synchronization

/// The thread on which the levels of a storage are asked, whichever face was called.
///
/// Swift runs tasks on as many threads as there are processors. If those all wait in the blocking face, no task gets on,
/// so nothing that somebody waits for may need one of them: every operation on the levels runs here, from its first
/// suspension on, and whoever holds a turn at the write gate gets on as well. Code that was passed in (transformers,
/// observers, completions, deinitialisers of values) never runs here, since it may block.
final class StorageExecutor: TaskExecutor {
  private static let mark = DispatchSpecificKey<Bool>()

  private let queue = DispatchQueue(label: "CacheEngine.storage")

  init() { queue.setSpecific(key: Self.mark, value: true) }

  /// Whether this is the thread of some storage.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Starts an operation where the caller runs, if the system can.
  ///
  /// What needs no waiting, as in memory, has ended then.
  private func start<Answer: Sendable>(
    _ afterlife: Afterlife, _ operation: @escaping @Sendable () async throws -> Answer
  ) -> Task<Answer, any Error> {
    let body: @Sendable () async throws -> Answer = {
      try await Afterlife.$current.withValue(afterlife) { try await operation() }
    }
    return if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(executorPreference: self) { try await body() }
    } else {
      Task(executorPreference: self) { try await body() }
    }
  }

  /// Carries out an operation while the caller's task waits, which may be cancelled.
  func run<Answer: Sendable>(_ operation: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    let afterlife = Afterlife()
    defer { afterlife.end() }
    let task = start(afterlife, operation)
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Carries out an operation while the caller's thread waits.
  func wait<Answer: Sendable>(_ operation: @escaping @Sendable () async throws -> Answer) throws -> Answer {
    let afterlife = Afterlife()
    defer { afterlife.end() }
    let outcome = Outcome<Answer>()
    _ = start(afterlife) {
      do { outcome.set(.success(try await operation())) } catch { outcome.set(.failure(error)) }
    }
    return try outcome.wait()
  }
}

/// What an operation gives, for a thread that waits for it.
private final class Outcome<Answer: Sendable>: Sendable {
  private let result = Mutex<Result<Answer, any Error>?>(nil)
  private let isSet = DispatchSemaphore(value: 0)

  func set(_ result: Result<Answer, any Error>) {
    self.result.withLock { $0 = result }
    isSet.signal()
  }

  func wait() throws -> Answer {
    while true {
      isSet.wait()
      if let result = result.withLock({ $0 }) { return try result.get() }
    }
  }
}
