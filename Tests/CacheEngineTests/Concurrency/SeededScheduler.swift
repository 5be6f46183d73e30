import CacheEngineTesting
import Dispatch
import Synchronization

/// Carries out the steps of tasks one at a time, in an order that a seed decides.
///
/// A task that prefers this executor runs from one suspension to the next; then any task that can go on may be the next
/// one. So every interleaving is possible, each seed gives one of them again and again, and a task that waits for ever
/// is seen at once: nothing is left to do, and it has not ended.
final class SeededScheduler: TaskExecutor {
  private enum Step: Sendable {
    case job(UnownedJob)
    case resume(CheckedContinuation<Void, Never>)
    case act(@Sendable () -> Void)
  }

  private struct State: Sendable {
    var steps: [Step] = []
    var generator: SeededGenerator
  }

  private let state: Mutex<State>
  private static let queue = DispatchQueue(label: "SeededScheduler", attributes: .concurrent)

  init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.steps.append(.job(job)) }
  }

  /// Lets others go first, or not.
  func pause() async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.steps.append(.resume(continuation)) }
    }
  }

  /// Does something at some time from now on.
  func sometime(_ act: @escaping @Sendable () -> Void) { state.withLock { $0.steps.append(.act(act)) } }

  func random(_ range: Range<Int>) -> Int { state.withLock { Int.random(in: range, using: &$0.generator) } }

  /// Carries out steps until nothing can go on.
  func run() async {
    await withCheckedContinuation { done in
      Self.queue.async { [self] in
        while let step = next() {
          switch step {
          case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
          case .resume(let continuation): continuation.resume()
          case .act(let act): act()
          }
        }
        done.resume()
      }
    }
  }

  private func next() -> Step? {
    state.withLock { state in
      guard !state.steps.isEmpty else { return nil }
      let position = Int.random(in: 0..<state.steps.count, using: &state.generator)
      state.steps.swapAt(position, state.steps.count - 1)
      return state.steps.removeLast()
    }
  }
}
