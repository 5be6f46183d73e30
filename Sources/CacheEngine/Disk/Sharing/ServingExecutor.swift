import Dispatch

/// Where requests of other processes are carried out: on no thread that the program's own tasks need.
final class ServingExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "CacheEngine.store.serving")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
