/// What several tasks asked of a level, and what they were told, with the time of each question and answer.
struct History: Sendable, CustomStringConvertible {
  enum Call: Hashable, Sendable {
    case get(Int)
    case set(Int, Int)
    /// Puts a value in the place of whatever is there.
    case update(Int, Int)
    /// Stores a value if there is one.
    case replace(Int, Int)
    /// Stores a value if there is none.
    case add(Int, Int)
    case remove(Int)
    case clear
    /// Removes even or odd values.
    case removeTagged(Int)
    /// Removes the values of even or odd keys.
    case removeKeys(Int)

    /// Whether it depends on what is there.
    var isConditional: Bool {
      switch self {
      case .update, .replace: true
      default: false
      }
    }
  }

  enum Outcome: Hashable, Sendable {
    /// A read ended so.
    case read(Int?)
    /// An update was given this, and its value was stored.
    case updated(Int?)
    /// Whether a value was stored on its condition.
    case stored(Bool)
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
      case .clear, .removeTagged: true
      case .removeKeys(let parity): key % 2 == parity
      default: key == self.key
      }
    }

    /// The only one it is about.
    var key: Int? {
      switch call {
      case .get(let key), .set(let key, _), .update(let key, _), .replace(let key, _), .add(let key, _),
        .remove(let key):
        key
      case .clear, .removeTagged, .removeKeys: nil
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

  /// The history with what was left in the end, and without what was read of a key during a write that puts a value in the place of
  /// another one: that may be taken back after it was seen, if a removal of many keys concerns the other.
  func settled(leaving values: [Int: Int]) -> History {
    let changes = operations.filter { $0.call.isConditional }
    var settled = operations.filter { operation in
      guard case .get(let key) = operation.call else { return true }
      return !changes.contains {
        $0.concerns(key) && $0.began < operation.ended && operation.began < $0.ended
      }
    }
    let time = operations.flatMap { [$0.began, $0.ended] }.filter { $0 < .max }.max() ?? 0
    for (number, key) in Set(operations.compactMap(\.key)).sorted().enumerated() {
      let began = time + 2 * number + 1
      settled.append(
        Operation(task: -1, call: .get(key), began: began, ended: began + 1, outcome: .read(values[key])))
    }
    return History(operations: settled)
  }

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
