public import CacheEngine
import Synchronization

/// What goes wrong in a level on purpose.
public struct Fault: Sendable, Equatable {
  /// How probable it is that an operation fails, from 0 to 1.
  public var errors: Double
  /// How much longer an operation takes, evenly spread; `nil` for no delay.
  public var latency: ClosedRange<Duration>?
  /// Every operation fails at once.
  public var isDown: Bool

  /// Creates a fault; without arguments nothing goes wrong.
  ///
  /// - Parameters:
  ///   - errors: How probable it is that an operation fails, from 0 to 1.
  ///   - latency: How much longer an operation takes, evenly spread.
  ///   - isDown: Whether every operation fails at once.
  public init(errors: Double = 0, latency: ClosedRange<Duration>? = nil, isDown: Bool = false) {
    precondition((0...1).contains(errors), "a probability is from 0 to 1")
    precondition(latency.map { $0.lowerBound >= .zero } ?? true, "a latency is never negative")
    self.errors = errors
    self.latency = latency
    self.isDown = isDown
  }

  /// Nothing goes wrong.
  public static let none = Fault()
}

/// Decides what goes wrong in the levels that it is given to; it can be changed at any time.
///
/// What happens follows from the seed: the first, second, … operation meets the same faults each time. Delays pass on
/// the clock that it is given.
///
/// ```swift
/// let faults = FaultInjector(seed: 7, clock: clock)
/// let level = disk.injectingFaults(faults)
/// faults.fault = Fault(errors: 0.05, latency: .milliseconds(200) ... .milliseconds(200))
/// ```
public final class FaultInjector: Sendable {
  /// What it has done so far.
  public struct Count: Sendable, Equatable {
    /// How many operations failed on purpose.
    public var errors = 0
    /// How many operations were held up.
    public var delays = 0

    /// Creates a count.
    ///
    /// - Parameters:
    ///   - errors: How many operations failed on purpose.
    ///   - delays: How many operations were held up.
    public init(errors: Int = 0, delays: Int = 0) {
      self.errors = errors
      self.delays = delays
    }
  }

  private struct State {
    var fault = Fault.none
    var count = Count()
    var choices: SeededGenerator
  }

  private let clock: any CacheClock
  private let state: Mutex<State>
  // A level that works pays one load for the possibility.
  private let isActive = Atomic(false)

  /// Creates an injector of no fault.
  ///
  /// - Parameters:
  ///   - seed: Other seeds give other faults.
  ///   - clock: The clock on which latencies pass.
  public init(seed: UInt64 = 0, clock: any CacheClock = SystemClock()) {
    self.clock = clock
    state = Mutex(State(choices: SeededGenerator(seed: seed)))
  }

  /// What goes wrong from now on.
  public var fault: Fault {
    get { state.withLock { $0.fault } }
    set {
      state.withLock { state in
        state.fault = newValue
        isActive.store(newValue != .none, ordering: .relaxed)
      }
    }
  }

  /// Whether nothing goes wrong on purpose.
  var isIdle: Bool { !isActive.load(ordering: .relaxed) }

  /// What it has done so far.
  public var count: Count { state.withLock { $0.count } }

  /// Begins the row of chances again.
  ///
  /// - Parameter seed: Other seeds give other faults.
  package func reseed(_ seed: UInt64) { state.withLock { $0.choices = SeededGenerator(seed: seed) } }

  /// Holds up an operation, or fails it, as the fault says.
  ///
  /// - Parameter level: The name of the level, for the error.
  /// - Throws: `CacheError` with code `CacheError.Code.simulated` if the operation is to fail; `CancellationError`
  ///   if the task is cancelled while it is held up.
  public func strike(level: String) async throws {
    guard isActive.load(ordering: .relaxed) else { return }
    let (isDown, wait, fails) = state.withLock { state in
      guard !state.fault.isDown else {
        state.count.errors += 1
        return (true, Duration.zero, true)
      }
      let wait = state.fault.latency.map { state.choices.duration(in: $0) } ?? .zero
      let fails = state.choices.fraction() < state.fault.errors
      if wait > .zero { state.count.delays += 1 }
      if fails { state.count.errors += 1 }
      return (false, wait, fails)
    }
    if wait > .zero { try await clock.sleep(until: clock.now.advanced(by: wait), tolerance: nil) }
    guard fails else { return }
    throw CacheError(
      .simulated, isDown ? "down on purpose; take the fault away to have it back" : "a fault was injected on purpose",
      level: level)
  }
}
