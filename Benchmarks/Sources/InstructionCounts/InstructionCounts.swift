import CacheEngineTesting
import CCallgrind
import CacheEngine
import Dispatch
import Foundation
import Synchronization

/// Walks the paths that matter often enough for their instructions to be counted, each between two marks.
///
/// `Scripts/count` runs it under callgrind and divides. Tasks run on the main thread: Valgrind dies where Dispatch hands over.
@main
struct InstructionCounts {
  /// Text keys of 25 bytes.
  static let keys = (0..<20_000).map { "user:profile:" + String(1_000_000_000_000 + $0).dropFirst() }
  /// A walk over half of the keys, which are held, the popular ones often.
  static let held = zipf(10_000, requests: 10_000)
  /// The same over all keys, with room for a tenth.
  static let all = zipf(20_000, requests: 10_000)

  static func main() {
    guard callgrind_is_running() != 0 else {
      FileHandle.standardError.write(Data("run this by Scripts/count, which counts\n".utf8))
      exit(2)
    }
    let thread = MainThread()
    let work = Task(executorPreference: thread) { try await walk() }
    thread.run { if case .failure(let error) = await work.result { fatalError("\(error)") } }
  }

  static func walk() async throws {
    var sum = 0
    try await count("an empty loop", operations: held.count) { sum &+= held[$0] }
    try await memory()
    try await stacks()
    try await disk()
    if sum == 42 { print(sum) }
  }

  /// Runs a body a few times first, so that what is made once is not counted.
  @inline(__always)
  static func count(_ name: String, operations: Int, _ body: (Int) async throws -> Void) async throws {
    for number in 0..<min(operations, 1_000) { try await body(number) }
    callgrind_begin()
    for number in 0..<operations { try await body(number) }
    callgrind_end("\(name)|\(operations)")
  }

  /// Numbers of requests of which a few are frequent: the n-th with a weight of 1/n^0.99.
  static func zipf(_ count: Int, requests: Int) -> [Int] {
    var sum = 0.0
    let cumulated = (1...count).map { rank in
      sum += 1 / pow(Double(rank), 0.99)
      return sum
    }
    var generator = SeededGenerator(seed: 1)
    let order = (0..<count).shuffled(using: &generator)
    return (0..<requests).map { _ in
      let sought = Double.random(in: 0..<sum, using: &generator)
      return order[cumulated.firstIndex { $0 > sought } ?? 0]
    }
  }
}

/// Runs tasks on the thread that calls ``run(until:)``.
final class MainThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let isDone = Mutex(false)
  /// Waiting costs no instructions, as spinning would.
  private let arrived = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    arrived.signal()
  }

  func run(until end: @escaping @Sendable () async -> Void) {
    Task(executorPreference: self) {
      await end()
      self.isDone.withLock { $0 = true }
    }
    while !isDone.withLock({ $0 }) {
      arrived.wait()
      let waiting = jobs.withLock { jobs in
        defer { jobs = [] }
        return jobs
      }
      for job in waiting { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
