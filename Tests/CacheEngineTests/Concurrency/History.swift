/// What several tasks asked of a level, and what they were told, with the time of each question and answer.
struct History: Sendable, CustomStringConvertible {
  enum Call: Hashable, Sendable {
    case get(Int)
    case set(Int, Int)
    case remove(Int)
    case clear
    /// Removes even or odd values.
    case removeTagged(Int)
  }

  enum Outcome: Hashable, Sendable {
    /// A read ended so.
    case read(Int?)
    /// A write was acknowledged.
    case written
    /// It failed or was cancelled.
    case failed
  }

  struct Operation: Sendable {
    let task: Int
    let call: Call
    /// Times are ticks of one counter, no two alike.
    var began: Int
    var ended = Int.max
    var outcome = Outcome.failed

    func concerns(_ key: Int) -> Bool {
      switch call {
      case .get(let other), .set(let other, _), .remove(let other): key == other
      case .clear, .removeTagged: true
      }
    }

    var isRead: Bool {
      if case .get = call { return true }
      return false
    }
  }

  var operations: [Operation] = []

  /// The part that concerns one key.
  func about(_ key: Int) -> History { History(operations: operations.filter { $0.concerns(key) }) }

  /// The history with reads that began earlier: as soon as the last write of their key before them had ended.
  ///
  /// A pooled read may share a load that began before it did, but after every write that had ended by then.
  var withPooledReads: History {
    History(
      operations: operations.map { operation in
        guard case .get(let key) = operation.call else { return operation }
        let writes = operations.filter { $0.concerns(key) && !$0.isRead && $0.ended < operation.began }
        var earlier = operation
        earlier.began = writes.map(\.ended).max() ?? -1
        return earlier
      })
  }

  var description: String {
    operations.sorted { $0.began < $1.began }.map { operation in
      let end = operation.ended == .max ? "…" : String(operation.ended)
      return "  task \(operation.task)  [\(operation.began), \(end)]  \(operation.call) → \(operation.outcome)"
    }.joined(separator: "\n")
  }
}
