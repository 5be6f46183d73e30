import CacheCore
#if os(Linux) || os(macOS)
/// The transfers that wait for their turn, a line for each origin.
///
/// At most so many run at a time to one origin, so that a server that stalls holds up those who ask it and not those
/// who ask another. Origins take turns: one that has been served is behind all others that wait.
struct CurlQueue {
  private struct Line {
    var waiting: ArraySlice<any CurlJob> = []
    var running = 0
    /// The smallest number is next.
    var turn: Int
  }

  private let transfers: Int
  private let transfersPerOrigin: Int
  private var lines: [String: Line] = [:]
  private var running = 0
  private var turns = 0
  /// The first moment at which a transfer may have waited too long.
  private(set) var nextDeadline: ContinuousClock.Instant?

  init(transfers: Int, transfersPerOrigin: Int) {
    self.transfers = transfers
    self.transfersPerOrigin = transfersPerOrigin
  }

  /// Whether nothing waits or runs.
  var isEmpty: Bool { lines.isEmpty }

  mutating func append(_ transfer: any CurlJob) {
    turns += 1
    lines[transfer.address.origin, default: Line(turn: turns)].waiting.append(transfer)
    nextDeadline = min(nextDeadline ?? transfer.deadline, transfer.deadline)
  }

  /// The next transfer whose turn it is, counted as running from now on.
  ///
  /// - Complexity: O(origins).
  mutating func next() -> (any CurlJob)? {
    let ready = lines.lazy.filter { [transfersPerOrigin] in
      !$0.value.waiting.isEmpty && $0.value.running < transfersPerOrigin
    }
    guard running < transfers, let origin = ready.min(by: { $0.value.turn < $1.value.turn })?.key,
      let transfer = lines[origin]?.waiting.popFirst()
    else { return nil }
    turns += 1
    lines[origin]?.turn = turns
    lines[origin]?.running += 1
    running += 1
    return transfer
  }

  /// Notes that a transfer runs no more.
  mutating func ended(_ transfer: any CurlJob) {
    running -= 1
    lines[transfer.address.origin]?.running -= 1
    dropEmptyLine(transfer.address.origin)
  }

  /// Takes out the transfers that have waited too long, once there may be any.
  mutating func removeOverdue(at now: ContinuousClock.Instant) -> [any CurlJob] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    var overdue: [any CurlJob] = []
    for origin in Array(lines.keys) {
      overdue += lines[origin]?.waiting.filter { $0.deadline <= now } ?? []
      lines[origin]?.waiting.removeAll { $0.deadline <= now }
      dropEmptyLine(origin)
    }
    self.nextDeadline = lines.values.lazy.flatMap(\.waiting).map(\.deadline).min()
    return overdue
  }

  private mutating func dropEmptyLine(_ origin: String) {
    if let line = lines[origin], line.waiting.isEmpty, line.running == 0 { lines[origin] = nil }
  }
}
#endif
