import CacheEngine
import CacheEngineTesting
import Dispatch
import Synchronization
import Testing

/// In which order the clock and the gate for tests let those go on who wait.
@Suite(.timeLimit(.minutes(5))) struct WakingOrderTests {
  @Test("Sleepers with one deadline wake in the order in which they fell asleep")
  func clock() async throws {
    let clock = ManualClock()
    let deadline = clock.now.advanced(by: .seconds(1))
    let order = try await order(
      of: { try await clock.sleep(until: deadline, tolerance: nil) }, once: { await clock.waitForSleepers($0) },
      woken: { clock.advance(by: .seconds(1)) })
    #expect(order == Array(0..<16))
  }

  @Test("A gate that is opened lets those who wait pass in the order in which they came")
  func gate() async throws {
    let gate = Gate()
    let order = try await order(
      of: { try await gate.pass() }, once: { await gate.arrivals($0) }, woken: { gate.open() })
    #expect(order == Array(0..<16))
  }

  /// The numbers of 16 tasks that came one after the other, in the order in which they went on.
  private func order(
    of wait: @escaping @Sendable () async throws -> Void, once haveCome: (Int) async -> Void,
    woken wake: @escaping @Sendable () -> Void
  ) async throws -> [Int] {
    let executor = InTurn()
    let order = Mutex<[Int]>([])
    var waiters: [Task<Void, any Error>] = []
    for number in 0..<16 {
      waiters.append(
        Task(executorPreference: executor) { @Sendable in
          try await wait()
          order.withLock { $0.append(number) }
        })
      await haveCome(number + 1)
    }
    // Its turn comes when the last one waits, too.
    await Task(executorPreference: executor) { wake() }.value
    for waiter in waiters { try await waiter.value }
    return order.withLock { $0 }
  }
}

/// Runs jobs one after the other, in the order in which they come.
private final class InTurn: TaskExecutor {
  private let queue = DispatchQueue(label: "in turn")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
