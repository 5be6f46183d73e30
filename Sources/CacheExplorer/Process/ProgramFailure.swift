/// Why the program cannot do what it was asked, with its exit status.
struct ProgramFailure: Error, CustomStringConvertible {
  enum Status: Int32, Sendable {
    case expectationFailed = 1
    case usage = 2
    case configuration = 3
    case terminal = 4
    case unreachable = 5
  }

  let status: Int32
  let description: String

  init(_ status: Status, _ description: String) {
    self.status = status.rawValue
    self.description = description
  }

  /// A session that is to be recorded has no screen.
  ///
  /// `reason`: Why there can be none; `nil` if none was wanted.
  static func nothingToRecord(because reason: String?) -> ProgramFailure {
    ProgramFailure(
      reason == nil ? .usage : .terminal, "error: --record needs a screen: \(reason ?? "leave out --plain")")
  }

  /// A trace, by its name, that asks for nothing.
  ///
  /// `skipped`: How many requests of it are no reads.
  static func noRequest(in trace: String, skipped: Int) -> ProgramFailure {
    let lack =
      skipped > 0
      ? "none of its requests is a read; give a trace with reads, or name its format"
      : "there is no request in it; write a key on each line"
    return ProgramFailure(.usage, "\(trace): error: \(lack)")
  }
}
