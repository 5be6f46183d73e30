#if os(Linux)
  /// The transfers that wait for their turn, a line for each origin.
  ///
  /// At most so many run at a time to one origin, so that a server that stalls holds up those who ask it and not those
  /// who ask another.
  struct CurlQueue {
    private struct Line {
      var waiting: ArraySlice<CurlTransfer> = []
      var running = 0
    }

    private let transfers: Int
    private let transfersPerOrigin: Int
    private var lines: [String: Line] = [:]
    private var running = 0
    /// The first moment at which a transfer may have waited too long.
    private(set) var nextDeadline: ContinuousClock.Instant?

    init(transfers: Int, transfersPerOrigin: Int) {
      self.transfers = transfers
      self.transfersPerOrigin = transfersPerOrigin
    }

    /// Whether nothing waits or runs.
    var isEmpty: Bool { lines.isEmpty }

    mutating func append(_ transfer: CurlTransfer) {
      lines[transfer.address.origin, default: Line()].waiting.append(transfer)
      nextDeadline = min(nextDeadline ?? transfer.deadline, transfer.deadline)
    }

    /// The next transfer whose turn it is, counted as running from now on.
    ///
    /// - Complexity: O(origins).
    mutating func next() -> CurlTransfer? {
      guard running < transfers,
        let origin = lines.first(where: { !$0.value.waiting.isEmpty && $0.value.running < transfersPerOrigin })?.key,
        let transfer = lines[origin]?.waiting.popFirst()
      else { return nil }
      lines[origin]?.running += 1
      running += 1
      return transfer
    }

    /// Notes that a transfer runs no more.
    mutating func ended(_ transfer: CurlTransfer) {
      running -= 1
      lines[transfer.address.origin]?.running -= 1
      dropEmptyLine(transfer.address.origin)
    }

    /// Takes out the transfers that have waited too long, once there may be any.
    mutating func removeOverdue(at now: ContinuousClock.Instant) -> [CurlTransfer] {
      guard let nextDeadline, nextDeadline <= now else { return [] }
      var overdue: [CurlTransfer] = []
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
