import Synchronization

/// A cache that listens to memory warnings, until this is cancelled or released.
///
/// Made by ``CacheLevel/listenToMemoryWarnings(from:minimumInterval:clock:)``, or by ``init(to:minimumInterval:clock:warn:)`` for
/// anything that is not a level. Keep it as long as the cache should listen:
///
/// ```swift
/// let listening = cache.listenToMemoryWarnings()
/// …
/// listening.cancel()
/// ```
///
/// Neither the source nor this object keeps alive a level that is an object. A level that is a value, as a
/// composition is, cannot be held weakly: this object holds it, the source does not, and releasing this object
/// releases it.
public final class MemoryWarningSubscription: Sendable {
  private let listener: WarningListener
  private let pressure: MemoryPressureSubscription

  /// Begins to listen to pressure.
  ///
  /// - Parameters:
  ///   - source: Reports memory pressure; by default the operating system.
  ///   - minimumInterval: The minimum time between warnings.
  ///   - clock: The clock by which the interval is measured.
  ///   - warn: Frees memory. It runs in a task of its own, one call at a time, and is kept as long as this object: capture weakly
  ///     whatever must not live as long.
  public init(
    to source: some MemoryPressureSource = KernelPressureSource.system, minimumInterval: Duration = .seconds(5),
    clock: any CacheClock = SystemClock(), warn: @escaping @Sendable () async -> Void
  ) {
    let listener = WarningListener(interval: minimumInterval, clock: clock, warn: warn)
    self.listener = listener
    // Weakly, so that no source, not even one that never releases a closure, keeps a cache alive.
    pressure = source.subscribe { [weak listener] _ in listener?.pressureCame() }
  }

  deinit { cancel() }

  /// Ends listening: pressure that comes after this causes no warning.
  ///
  /// A warning that is being handled is carried through, one that waits for its time is dropped. A second call does nothing.
  public func cancel() {
    pressure.cancel()
    listener.cancel()
  }

  /// No warning is being handled or waited for.
  var isIdle: Bool { listener.isIdle }
}

/// Turns pressure into warnings, one at a time and not too often.
private final class WarningListener: Sendable {
  private struct State {
    var pace: WarningPace
    var isCancelled = false
    /// The task is in the middle of a warning, which is carried through.
    var isWarning = false
    var task: Task<Void, Never>?
  }

  private let warn: @Sendable () async -> Void
  private let clock: any CacheClock
  private let state: Mutex<State>

  init(interval: Duration, clock: any CacheClock, warn: @escaping @Sendable () async -> Void) {
    self.warn = warn
    self.clock = clock
    state = Mutex(State(pace: WarningPace(interval: interval)))
  }

  var isIdle: Bool { state.withLock { !$0.pace.isBusy } }

  func pressureCame() {
    state.withLock { state in
      guard !state.isCancelled, state.pace.pressureCame() else { return }
      state.task = Task { [self] in await carryOut() }
    }
  }

  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.isWarning ? nil : state.task
    }
    task?.cancel()
  }

  private func carryOut() async {
    while true {
      let now = clock.now
      let next = state.withLock { state in
        let next = state.isCancelled ? .rest : state.pace.next(at: now)
        state.isWarning = next == .warn
        return next
      }
      switch next {
      case .warn: await warn()
      case .wait(let due):
        // Only a cancellation ends the sleep early, and it ends listening.
        do { try await clock.sleep(until: due, tolerance: nil) } catch { return }
      case .rest: return
      }
    }
  }
}

extension CacheLevel {
  /// Hands memory pressure to this level, as memory warnings.
  ///
  /// Without this call a level is not notified of memory pressure. A pressure becomes one ``onMemoryWarning()``, whether it is a
  /// warning or critical; nothing is cleared on the level's behalf. A composition hands the warning to each of its
  /// levels once. Warnings are handled one at a time and begin at least `minimumInterval` apart: pressure that comes
  /// earlier is handled when the time has come, as one warning, however often it came.
  ///
  /// To end listening, cancel or release what is returned (`unsubscribeToMemoryWarnings` in Carlos).
  ///
  /// - Parameters:
  ///   - source: Reports memory pressure; by default the operating system.
  ///   - minimumInterval: The minimum time between warnings. Pressure lasts, and a cache that is emptied all the
  ///     time serves nobody.
  ///   - clock: The clock by which the interval is measured.
  /// - Returns: The subscription, which is to be kept.
  public func listenToMemoryWarnings(
    from source: some MemoryPressureSource = KernelPressureSource.system, minimumInterval: Duration = .seconds(5),
    clock: any CacheClock = SystemClock()
  ) -> MemoryWarningSubscription {
    MemoryWarningSubscription(to: source, minimumInterval: minimumInterval, clock: clock, warn: warning())
  }

  /// Warns this level, and keeps it alive only if it is a value.
  private func warning() -> @Sendable () async -> Void {
    guard Self.self is AnyClass, let object = self as? any CacheLevel & AnyObject else {
      return { await onMemoryWarning() }
    }
    return { [weak object] in await object?.onMemoryWarning() }
  }
}
