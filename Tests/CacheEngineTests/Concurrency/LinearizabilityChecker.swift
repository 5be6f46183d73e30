/// Whether a history is linearizable: whether every operation could have taken effect at one moment between its call and
/// its return, on one plain dictionary.
///
/// The search is that of Wing and Gong, Testing and Verifying Concurrent Objects, Journal of Parallel and Distributed
/// Computing 17, 1993: try each operation that may be the next one, go back where none fits. States that were seen
/// before are skipped after Lowe, Testing for Linearizability, Concurrency and Computation 29(4), 2017.
///
/// A read that failed tells nothing.
struct LinearizabilityChecker {
  /// What a write that failed or was cancelled may have done.
  enum Failure {
    /// It took effect at any one time after its call, or never.
    case isOneWrite
    /// From some time after its call reads may give its value or the one before, to and fro, until a write succeeds.
    case leavesBoth
  }

  private struct Configuration: Hashable {
    var done: UInt64
    /// What a read of each key may give; a miss where there is nothing.
    var values: [Int: Set<Int?>]
  }

  private let failure: Failure
  private let operations: [History.Operation]
  /// What must have taken effect.
  private let required: UInt64
  private var seen: Set<Configuration> = []

  private init(_ history: History, _ failure: Failure) {
    self.failure = failure
    let operations = history.operations.filter { !($0.isRead && $0.outcome == .failed) }
    precondition(operations.count <= 64, "a history of at most 64 operations can be checked")
    required = operations.indices.reduce(0) { mask, index in
      operations[index].outcome == .failed ? mask : mask | 1 << index
    }
    self.operations = operations
  }

  /// Whether the whole history is linearizable: clears take effect on all keys at once.
  static func isLinearizable(_ history: History, failure: Failure = .isOneWrite) -> Bool {
    var checker = LinearizabilityChecker(history, failure)
    return checker.search(Configuration(done: 0, values: [:]))
  }

  /// Whether the history is linearizable key by key: a clear removes each key at a moment of its own.
  static func isLinearizable(_ history: History, keys: Range<Int>, failure: Failure = .isOneWrite) -> Bool {
    keys.allSatisfy { isLinearizable(history.about($0), failure: failure) }
  }

  private mutating func search(_ configuration: Configuration) -> Bool {
    let open = required & ~configuration.done
    if open == 0 { return true }
    guard seen.insert(configuration).inserted else { return false }
    // What began after something unfinished had returned cannot go before it.
    let horizon = operations.indices.reduce(Int.max) { least, index in
      open & 1 << index == 0 ? least : min(least, operations[index].ended)
    }
    for index in operations.indices where configuration.done & 1 << index == 0 {
      let operation = operations[index]
      guard operation.began < horizon, let values = apply(operation, to: configuration.values) else { continue }
      if search(Configuration(done: configuration.done | 1 << index, values: values)) { return true }
    }
    return false
  }

  /// What reads may give afterwards; `nil` if this read could not have been answered so.
  private func apply(_ operation: History.Operation, to values: [Int: Set<Int?>]) -> [Int: Set<Int?>]? {
    var after = values
    func write(_ value: Int?, to key: Int) {
      let before = failure == .leavesBoth && operation.outcome == .failed ? values[key, default: [nil]] : []
      after[key] = before.union([value])
    }
    switch operation.call {
    case .get(let key):
      guard case .read(let value) = operation.outcome else { return nil }
      return values[key, default: [nil]].contains(value) ? values : nil
    case .set(let key, let value): write(value, to: key)
    case .update(let key, let value):
      if case .updated(let seen) = operation.outcome, !values[key, default: [nil]].contains(seen) { return nil }
      write(value, to: key)
    case .replace(let key, let value), .add(let key, let value):
      let isStored = operation.outcome != .stored(false)
      let isMeant = operation.call == .replace(key, value) ? isStored : !isStored
      if operation.outcome != .failed, !values[key, default: [nil]].contains(where: { ($0 != nil) == isMeant }) {
        return nil
      }
      if isStored { write(value, to: key) }
    case .remove(let key): write(nil, to: key)
    case .clear: for key in values.keys { write(nil, to: key) }
    case .removeKeys(let parity): for key in values.keys where key % 2 == parity { write(nil, to: key) }
    case .removeTagged(let tag):
      for (key, held) in values {
        let left = Set(held.map { value in value.map { $0 % 2 } == tag ? nil : value })
        after[key] = operation.outcome == .failed && failure == .leavesBoth ? held.union(left) : left
      }
    }
    return after
  }
}
