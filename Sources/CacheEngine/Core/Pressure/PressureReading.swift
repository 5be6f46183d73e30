/// What a file of the kernel's pressure stall information says.
///
/// See https://docs.kernel.org/accounting/psi.html.
struct PressureReading: Equatable {
  /// For how much of the last ten seconds at least one task waited, from 0 to 100.
  var some: Double
  /// For how much of the last ten seconds all tasks waited, from 0 to 100.
  var full: Double

  /// Reads the lines `some avg10=0.00 avg60=…` and `full avg10=…`.
  ///
  /// The second is missing in some kernels, and counts as zero.
  init?(_ text: String) {
    guard let some = Self.average(of: "some", in: text) else { return nil }
    self.some = some
    full = Self.average(of: "full", in: text) ?? 0
  }

  func pressure(by settings: KernelPressureSettings) -> MemoryPressure? {
    if reaches(settings.critical) { return .critical }
    return reaches(settings.warning) ? .warning : nil
  }

  private func reaches(_ threshold: PressureThreshold) -> Bool {
    (threshold.kind == .some ? some : full) >= threshold.percent
  }

  private static func average(of kind: String, in text: String) -> Double? {
    let line = text.split(separator: "\n").first { $0.hasPrefix(kind + " ") }
    let field = line?.split(separator: " ").first { $0.hasPrefix("avg10=") }
    return field.flatMap { Double($0.dropFirst("avg10=".count)) }
  }
}

/// How often a control group met its limits, as its `memory.events` says.
///
/// See https://docs.kernel.org/admin-guide/cgroup-v2.html.
struct GroupEvents: Equatable {
  /// How often memory was reclaimed because of the limits `high` and `max`.
  var limited: UInt64 = 0
  /// How often reclaiming did not help.
  var outOfMemory: UInt64 = 0

  init(_ text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let count = UInt64(words[1]) else { continue }
      switch words[0] {
      case "high", "max": limited &+= count
      case "oom", "oom_kill": outOfMemory &+= count
      default: break
      }
    }
  }

  func pressure(since earlier: GroupEvents) -> MemoryPressure? {
    if outOfMemory > earlier.outOfMemory { return .critical }
    return limited > earlier.limited ? .warning : nil
  }
}
