/// When the next memory warning is due, as a plain value.
///
/// One warning is handled at a time, and they begin at least an interval apart. Whatever comes meanwhile is one
/// further warning.
struct WarningPace {
  enum Next: Equatable {
    /// Warn now.
    case warn
    /// Wait until then and ask again.
    case wait(until: CacheInstant)
    /// There is nothing to do: whoever carries out warnings may leave.
    case rest
  }

  let interval: Duration
  private(set) var isBusy = false
  private var isDue = false
  private var lastWarning: CacheInstant?

  init(interval: Duration) { self.interval = interval }

  /// Notes pressure.
  ///
  /// - Returns: Whether nobody carries out warnings, so that somebody must begin to.
  mutating func pressureCame() -> Bool {
    isDue = true
    defer { isBusy = true }
    return !isBusy
  }

  /// What the one who carries out warnings does next.
  mutating func next(at now: CacheInstant) -> Next {
    guard isDue else {
      isBusy = false
      return .rest
    }
    if let due = lastWarning?.advanced(by: interval), due > now { return .wait(until: due) }
    isDue = false
    lastWarning = now
    return .warn
  }
}
