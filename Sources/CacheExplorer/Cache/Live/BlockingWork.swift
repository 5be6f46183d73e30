import Dispatch

/// Runs calls that block on threads of their own: Swift's pool has as many threads as there are cores, and two
/// blocked ones stop everything on this kind of machine.
package enum BlockingWork {
  private static let queue = DispatchQueue(label: "cache-explorer.blocking", attributes: .concurrent)

  package static func run<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }

  /// As ``run(_:)``, but a cancelled task does not wait for the end: the result is dropped then.
  package static func runUnlessCancelled<Answer: Sendable>(
    _ work: @escaping @Sendable () throws -> Answer
  ) async throws -> Answer {
    try await unlessCancelled { try await run(work) }
  }
}
