import ExplorerState

/// Does work that is cancelled with the task that waits for it, which then does not wait for its end.
func unlessCancelled<Answer: Sendable>(
  _ work: @escaping @Sendable () async throws -> Answer
) async throws -> Answer {
  let answer = Awaited<Result<Answer, any Error>?>(nil) { $0 != nil }
  let task = Task {
    let result: Result<Answer, any Error>
    do { result = .success(try await work()) } catch { result = .failure(error) }
    answer.put { $0 = result }
  }
  return try await withTaskCancellationHandler {
    await answer.wait()
    guard let result = answer.take(leaving: nil) else { throw CancellationError() }
    return try result.get()
  } onCancel: {
    task.cancel()
  }
}
