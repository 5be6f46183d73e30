/// What ``KernelPressureSource`` takes for pressure on Linux.
///
/// On Apple platforms the system has thresholds of its own, and these are not used.
public struct KernelPressureSettings: Sendable {
  /// How much waiting is a warning.
  public var warning: PressureThreshold
  /// How much waiting is critical.
  public var critical: PressureThreshold
  /// How often the average of the last ten seconds is read where the kernel does not tell by itself; at most every millisecond.
  public var sampleInterval: Duration

  /// Creates settings.
  ///
  /// - Parameters:
  ///   - warning: How much waiting is a warning: by default, some task waits for a tenth of two seconds.
  ///   - critical: How much waiting is critical: by default, all tasks wait for a tenth of two seconds.
  ///   - sampleInterval: How often to look where the kernel does not tell by itself. More than zero.
  public init(
    warning: PressureThreshold = PressureThreshold(.some, stall: .milliseconds(200), within: .seconds(2)),
    critical: PressureThreshold = PressureThreshold(.full, stall: .milliseconds(200), within: .seconds(2)),
    sampleInterval: Duration = .seconds(10)
  ) {
    precondition(sampleInterval > .zero, "an interval is more than zero")
    self.warning = warning
    self.critical = critical
    self.sampleInterval = sampleInterval
  }
}

/// A time spent waiting for memory, within a longer time.
public struct PressureThreshold: Sendable, Equatable {
  /// Which waiting counts: that of any task, or of all.
  public enum Kind: String, Sendable {
    /// The time in which at least one task waits.
    case some
    /// The time in which every task waits, so that nothing is done.
    case full
  }

  /// Which waiting counts: that of any task, or of all.
  public var kind: Kind
  /// How much of the window has to be spent waiting.
  public var stall: Duration
  /// The time over which waiting is added up.
  public var window: Duration

  /// Creates a threshold.
  ///
  /// A program without `CAP_SYS_RESOURCE` may only use windows that are whole multiples of two seconds.
  ///
  /// - Parameters:
  ///   - kind: Whose waiting counts.
  ///   - stall: How long they wait; more than zero, and no more than the window.
  ///   - window: Within what time; from half a second to ten seconds.
  public init(_ kind: Kind, stall: Duration, within window: Duration) {
    precondition(window >= .milliseconds(500) && window <= .seconds(10), "a window is from 0.5 to 10 seconds")
    precondition(stall >= .microseconds(1) && stall <= window, "a stall is more than zero and fits into its window")
    self.kind = kind
    self.stall = stall
    self.window = window
  }

  /// As the kernel wants it: `some 200000 2000000`.
  var trigger: String { "\(kind.rawValue) \(stall.clampedNanoseconds / 1000) \(window.clampedNanoseconds / 1000)" }

  /// The stall as a share of its window, from 0 to 100.
  var percent: Double { 100 * (stall / window) }
}
