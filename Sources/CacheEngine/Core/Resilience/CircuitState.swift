/// When a circuit breaker lets a call through, as a plain value.
///
/// After M. Nygard, Release It!, 2007.
struct CircuitState: Sendable {
  /// A call that was let through, to be told of when it ends.
  struct Pass: Sendable, Equatable {
    fileprivate let generation: UInt64
    /// Which of the trials of a half-open circuit.
    fileprivate let trial: Int
  }

  private enum Phase {
    case closed(failures: Int)
    case open(until: CacheInstant)
    /// If the last trial has not ended by then, the next call makes one, too.
    case halfOpen(trial: Int, until: CacheInstant)
  }

  private let limit: Int
  private let reset: Duration
  private var state = Phase.closed(failures: 0)
  /// Counts the changes of phase: what began before the last one tells nothing of this one.
  private var generation: UInt64 = 0

  init(failures: Int, reset: Duration) {
    limit = failures
    self.reset = reset
  }

  var phase: CircuitPhase {
    switch state {
    case .closed: .closed
    case .open: .open
    case .halfOpen: .halfOpen
    }
  }

  /// When an open circuit lets a call through again.
  var opensAgain: CacheInstant? {
    if case .open(let until) = state { return until }
    return nil
  }

  /// `nil` if the call must not be made.
  mutating func admit(at now: CacheInstant) -> Pass? {
    switch state {
    case .closed: return Pass(generation: generation, trial: 0)
    case .open(let until):
      guard until <= now else { return nil }
      enter(.halfOpen(trial: 1, until: now.advanced(by: reset)))
      return Pass(generation: generation, trial: 1)
    case .halfOpen(let last, let until):
      guard until <= now else { return nil }
      // Not a new phase: a trial that takes longer than the reset time and succeeds in the end is good news, too.
      state = .halfOpen(trial: last + 1, until: now.advanced(by: reset))
      return Pass(generation: generation, trial: last + 1)
    }
  }

  /// The level has answered at once; says whether it may, which no call was made for.
  mutating func answersAtOnce() -> Bool {
    guard case .closed = state else { return false }
    state = .closed(failures: 0)
    return true
  }

  mutating func succeeded(_ pass: Pass) {
    guard pass.generation == generation else { return }
    if case .halfOpen = state { enter(.closed(failures: 0)) } else { state = .closed(failures: 0) }
  }

  mutating func failed(_ pass: Pass, at now: CacheInstant) {
    guard pass.generation == generation else { return }
    switch state {
    case .closed(let failures) where failures + 1 < limit: state = .closed(failures: failures + 1)
    case .closed, .halfOpen: enter(.open(until: now.advanced(by: reset)))
    case .open: break
    }
  }

  /// The call ended without telling whether all is well: it was cancelled.
  mutating func forgot(_ pass: Pass, at now: CacheInstant) {
    guard pass.generation == generation, case .halfOpen(pass.trial, _) = state else { return }
    // The next call makes the trial.
    enter(.open(until: now))
  }

  private mutating func enter(_ next: Phase) {
    generation += 1
    state = next
  }
}
