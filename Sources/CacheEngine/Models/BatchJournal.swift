import CacheDisk
import CacheMemory
import CacheCore

/// What was done in a batch, in order: a value, guarded by the batch's lock.
struct BatchJournal: Sendable {
  enum Step: Sendable {
    case store(any Sendable, deadline: CacheInstant?, isMerging: Bool)
    case remove

    /// Whether it gives the same result whatever is stored.
    var isFinal: Bool {
      if case .store(_, _, isMerging: true) = self { return false }
      return true
    }
  }

  private enum Entry: Sendable {
    case change(ModelKey, Step)
    case clear
  }

  private var entries: [Entry] = []
  private var positions: [ModelKey: [Int]] = [:]
  private var clears: [Int] = []
  private var isClosed = false

  var count: Int { entries.count }

  /// Whether every model goes that was not stored since.
  var isCleared: Bool { !clears.isEmpty }

  mutating func append(_ step: Step, to key: ModelKey) {
    guard !isClosed else { return }
    positions[key, default: []].append(entries.count)
    entries.append(.change(key, step))
  }

  mutating func appendClear() {
    guard !isClosed else { return }
    clears.append(entries.count)
    entries.append(.clear)
  }

  /// Takes back the last entry; whether there was one.
  mutating func removeLast() -> Bool {
    guard !isClosed, let last = entries.popLast() else { return false }
    switch last {
    case .clear: clears.removeLast()
    case .change(let key, _):
      positions[key]?.removeLast()
      if positions[key]?.isEmpty ?? false { positions[key] = nil }
    }
    return true
  }

  /// What is done to a model, of which a clear is the first step.
  func steps(for key: ModelKey) -> [Step] {
    let clear = clears.last
    let steps = (positions[key] ?? []).drop { $0 < clear ?? 0 }.compactMap { position -> Step? in
      if case .change(_, let step) = entries[position] { step } else { nil }
    }
    return clear == nil ? steps : [.remove] + steps
  }

  /// The steps of each model that was changed since the last clear, in the order in which they first were.
  var stepsByKey: [(key: ModelKey, steps: [Step])] {
    let start = clears.last ?? 0
    return entries.indices.dropFirst(start).compactMap { position in
      guard case .change(let key, _) = entries[position] else { return nil }
      return positions[key]?.first { $0 >= start } == position ? (key, steps(for: key)) : nil
    }
  }

  mutating func close() -> (steps: [(key: ModelKey, steps: [Step])], isCleared: Bool) {
    defer { self = BatchJournal(isClosed: true) }
    return (stepsByKey, isCleared)
  }

  init() {}

  private init(isClosed: Bool) { self.isClosed = isClosed }

  /// Whether the outcome of steps depends on what is stored.
  static func dependsOnStored(_ steps: [Step]) -> Bool { steps.allSatisfy { !$0.isFinal } }

  /// What steps leave of a model: the last one that stores or removes for good, and every merge after it.
  static func outcome(
    of steps: [Step], for key: ModelKey, onto stored: (any Sendable)?
  ) -> (value: any Sendable, deadline: CacheInstant?)? {
    let first = steps.lastIndex(where: \.isFinal) ?? 0
    var outcome = stored.map { (value: $0, deadline: CacheInstant?.none) }
    for step in steps[first...] {
      switch step {
      case .remove: outcome = nil
      case .store(let model, let deadline, isMerging: true):
        outcome = (outcome.map { merge($0.value, with: model, of: key.type) } ?? model, deadline)
      case .store(let model, let deadline, isMerging: false): outcome = (model, deadline)
      }
    }
    return outcome
  }
}
