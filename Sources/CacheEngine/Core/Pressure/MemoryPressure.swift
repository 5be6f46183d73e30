/// How short of memory the machine is.
public enum MemoryPressure: String, Sendable, CaseIterable, Comparable {
  /// Programs begin to wait for memory.
  case warning
  /// Little else gets done than waiting for memory, or programs are about to be ended.
  case critical

  /// Whether one pressure is milder than another.
  public static func < (left: MemoryPressure, right: MemoryPressure) -> Bool {
    left == .warning && right == .critical
  }
}
