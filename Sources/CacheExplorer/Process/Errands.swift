/// Tasks that were started beside something, so that it can end them all and wait for their end.
@MainActor
final class Errands {
  private var tasks: [UInt64: Task<Void, Never>] = [:]
  private var last: UInt64 = 0

  func begin(_ work: @escaping @MainActor () async -> Void) {
    last += 1
    let number = last
    tasks[number] = Task {
      await work()
      tasks[number] = nil
    }
  }

  func cancel() { for task in tasks.values { task.cancel() } }

  /// Cancels all, and returns when none runs.
  func end() async {
    while let task = tasks.values.first {
      task.cancel()
      await task.value
    }
  }
}
