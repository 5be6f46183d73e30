/// The phase of a circuit breaker.
public enum CircuitPhase: String, Sendable {
  /// Everything passes.
  case closed
  /// Nothing passes.
  case open
  /// One call passes, to try whether all is well again.
  case halfOpen = "half-open"
}

/// When a circuit breaker lets a call through, as a plain value.
///
/// After M. Nygard, Release It!, 2007.
struct CircuitState: Sendable {
  /// A call that was let through, to be told of when it ends.
  struct Pass: Sendable, Equatable {
    fileprivate let generation: UInt64
  }

  private enum Phase {
    case closed(failures: Int)
    case open(until: CacheInstant)
    case halfOpen
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
    case .closed: break
    case .open(let until):
      guard until <= now else { return nil }
      enter(.halfOpen)
    case .halfOpen: return nil
    }
    return Pass(generation: generation)
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
    guard pass.generation == generation, case .halfOpen = state else { return }
    // The next call makes the trial.
    enter(.open(until: now))
  }

  private mutating func enter(_ next: Phase) {
    generation += 1
    state = next
  }
}
