import Synchronization

/// Work in a task of its own that its caller waits for a while, and then leaves to itself.
final class Errand: Sendable {
  private struct State {
    var isDone = false
    var waiter: CheckedContinuation<Void, any Error>?
    var alarm: Task<Void, Never>?
  }

  private let state = Mutex(State())

  /// Runs the work, and returns when it has ended or the limit has, whichever is first.
  ///
  /// Work that never suspends costs no timer. A caller that is cancelled returns at once, and its work is cancelled.
  static func run(
    within limit: Duration, by clock: any CacheClock, _ work: @escaping @Sendable () async -> Void
  ) async throws {
    let errand = Errand()
    let task = NestedStarts.start {
      // The caller does not wait for long.
      await Waiting.workForNobody(work)
      errand.end()
    }
    if errand.state.withLock({ $0.isDone }) { return }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        errand.wait(waiter, until: clock.now.advanced(by: limit), clock)
        if Task.isCancelled { errand.leave(task) }
      }
    } onCancel: {
      errand.leave(task)
    }
  }

  private func wait(
    _ waiter: CheckedContinuation<Void, any Error>, until deadline: CacheInstant, _ clock: any CacheClock
  ) {
    let isDone = state.withLock { state in
      if !state.isDone { state.waiter = waiter }
      return state.isDone
    }
    if isDone { return waiter.resume() }
    let alarm = Task { [self] in
      // Only a cancellation ends the sleep early, when the work was quicker.
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
      stopWaiting()?.resume()
    }
    let isLate = state.withLock { state in
      if state.waiter != nil { state.alarm = alarm }
      return state.waiter == nil
    }
    if isLate { alarm.cancel() }
  }

  private func end() {
    let alarm = state.withLock { state in
      state.isDone = true
      return state.alarm
    }
    alarm?.cancel()
    stopWaiting()?.resume()
  }

  private func leave(_ task: Task<Void, any Error>) {
    guard let waiter = stopWaiting() else { return }
    task.cancel()
    state.withLock { $0.alarm }?.cancel()
    waiter.resume(throwing: CancellationError())
  }

  private func stopWaiting() -> CheckedContinuation<Void, any Error>? {
    state.withLock { state in
      defer { state.waiter = nil }
      return state.waiter
    }
  }
}
