import CacheEngineTesting
import Testing

/// The checker is asked about histories whose answer is known.
@Suite struct LinearizabilityCheckerTests {
  /// A history from lines of (task, call, began, ended, outcome); an end of `nil` is a write that failed.
  private func history(_ lines: [(History.Call, Int, Int?, History.Outcome)]) -> History {
    History(
      operations: lines.map { call, began, ended, outcome in
        History.Operation(task: 0, call: call, began: began, ended: ended ?? .max, outcome: outcome)
      })
  }

  private func isLinearizable(_ lines: [(History.Call, Int, Int?, History.Outcome)]) -> Bool {
    LinearizabilityChecker.isLinearizable(history(lines))
  }

  @Test("reads one after the other that fit are accepted, and the empty history too")
  func sequential() {
    #expect(isLinearizable([]))
    #expect(isLinearizable([(.set(0, 1), 1, 2, .written), (.get(0), 3, 4, .read(1)), (.get(1), 5, 6, .read(nil))]))
  }

  @Test("a value that nobody wrote, or that was overwritten before, is refused")
  func stale() {
    #expect(!isLinearizable([(.get(0), 1, 2, .read(7))]))
    #expect(
      !isLinearizable([
        (.set(0, 1), 1, 2, .written), (.set(0, 2), 3, 4, .written), (.get(0), 5, 6, .read(1)),
      ]))
  }

  @Test("a miss after an acknowledged set, and a hit after an acknowledged removal or clear, are refused")
  func lost() {
    #expect(!isLinearizable([(.set(0, 1), 1, 2, .written), (.get(0), 3, 4, .read(nil))]))
    for call in [History.Call.remove(0), .clear] {
      #expect(!isLinearizable([(.set(0, 1), 1, 2, .written), (call, 3, 4, .written), (.get(0), 5, 6, .read(1))]))
    }
  }

  @Test("a read during a write may give either value, and two reads only in the order of the values")
  func overlapping() {
    for value in [nil, 1] { #expect(isLinearizable([(.set(0, 1), 1, 4, .written), (.get(0), 2, 3, .read(value))])) }
    #expect(isLinearizable([(.set(0, 1), 1, 6, .written), (.get(0), 2, 3, .read(nil)), (.get(0), 4, 5, .read(1))]))
    #expect(!isLinearizable([(.set(0, 1), 1, 6, .written), (.get(0), 2, 3, .read(1)), (.get(0), 4, 5, .read(nil))]))
  }

  @Test("a failed write may take effect late, or never, and only once")
  func failed() {
    let write: (History.Call, Int, Int?, History.Outcome) = (.set(0, 1), 1, nil, .failed)
    #expect(isLinearizable([write, (.get(0), 2, 3, .read(nil)), (.get(0), 4, 5, .read(1))]))
    #expect(isLinearizable([write, (.get(0), 2, 3, .read(nil)), (.get(0), 4, 5, .read(nil))]))
    #expect(!isLinearizable([write, (.get(0), 2, 3, .read(1)), (.get(0), 4, 5, .read(nil))]))
    #expect(!isLinearizable([(.get(0), 0, 1, .read(1)), (.set(0, 1), 2, nil, .failed)]))
  }

  @Test("what an update was given, and whether there was something to replace, must have been so")
  func updates() {
    let set: (History.Call, Int, Int?, History.Outcome) = (.set(0, 1), 1, 2, .written)
    let clear: (History.Call, Int, Int?, History.Outcome) = (.clear, 4, 5, .written)
    for (write, outcome) in [
      (History.Call.update(0, 2), History.Outcome.updated(1)), (.replace(0, 2), .stored(true)),
    ] {
      #expect(isLinearizable([set, (write, 3, 6, outcome), (.get(0), 7, 8, .read(2))]))
      #expect(isLinearizable([set, (write, 3, 6, outcome), clear, (.get(0), 7, 8, .read(nil))]))
      #expect(!isLinearizable([set, (write, 3, 6, outcome), clear, (.get(0), 7, 8, .read(2))]))
    }
    #expect(isLinearizable([set, (.update(0, 2), 3, 6, .updated(nil)), clear, (.get(0), 7, 8, .read(2))]))
    #expect(!isLinearizable([set, (.replace(0, 2), 3, 6, .stored(false))]))
    #expect(isLinearizable([set, (.add(0, 2), 3, 6, .stored(false)), (.get(0), 7, 8, .read(1))]))
    #expect(!isLinearizable([set, (.add(0, 2), 3, 6, .stored(true))]))
    #expect(isLinearizable([set, (.add(0, 2), 3, 6, .stored(true)), clear, (.get(0), 7, 8, .read(2))]))
  }

  @Test("a clear is one moment for all keys in the whole check, and a moment for each key in the other")
  func clears() {
    let torn = history([
      (.set(0, 1), 1, 2, .written), (.set(1, 2), 3, 4, .written), (.clear, 5, 10, .written),
      (.get(0), 6, 7, .read(nil)), (.get(1), 8, 9, .read(2)),
    ])
    #expect(!LinearizabilityChecker.isLinearizable(torn))
    #expect(LinearizabilityChecker.isLinearizable(torn, keys: 0..<2))
  }

  @Test("a pooled read may go back to the last write that had ended, and not beyond it")
  func pooledReads() {
    let inverted = history([
      (.set(0, 1), 1, 2, .written), (.set(0, 2), 3, 8, .written), (.get(0), 4, 5, .read(2)), (.get(0), 6, 7, .read(1)),
    ])
    #expect(!LinearizabilityChecker.isLinearizable(inverted))
    #expect(LinearizabilityChecker.isLinearizable(inverted.withPooledReads))
    let stale = history([
      (.set(0, 1), 1, 2, .written), (.set(0, 2), 3, 4, .written), (.get(0), 5, 6, .read(1)),
    ])
    #expect(!LinearizabilityChecker.isLinearizable(stale.withPooledReads))
  }

  @Test("the answers are those of a search through every order, for thousands of random histories")
  func agreesWithEveryOrder() {
    var generator = SeededGenerator(seed: 7)
    var accepted = 0
    for _ in 0..<3_000 {
      var times = Array(1...10).shuffled(using: &generator)
      let lines = (0..<5).map { _ -> (History.Call, Int, Int?, History.Outcome) in
        let (began, ended) = (min(times[0], times[1]), max(times[0], times[1]))
        times.removeFirst(2)
        let key = Int.random(in: 0..<2, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0..<4: return (.get(key), began, ended, .read([nil, 1, 2].randomElement(using: &generator) ?? nil))
        case 4..<6: return (.set(key, Int.random(in: 1...2, using: &generator)), began, ended, .written)
        case 6: return (.remove(key), began, ended, .written)
        default: return (.clear, began, ended, .written)
        }
      }
      let answer = isLinearizable(lines)
      #expect(answer == Self.fitsInSomeOrder(history(lines).operations))
      if answer { accepted += 1 }
    }
    #expect(accepted > 100 && accepted < 2_900)
  }

  /// Tries every order that respects the times, without any cleverness.
  private static func fitsInSomeOrder(_ operations: [History.Operation], _ values: [Int: Int] = [:]) -> Bool {
    if operations.isEmpty { return true }
    return operations.indices.contains { index in
      let next = operations[index]
      var rest = operations
      rest.remove(at: index)
      guard rest.allSatisfy({ $0.ended > next.began }) else { return false }
      var after = values
      switch next.call {
      case .get(let key): if next.outcome != .read(values[key]) { return false }
      case .set(let key, let value), .update(let key, let value), .replace(let key, let value),
        .add(let key, let value):
        after[key] = value
      case .removeKeys(let parity): after = values.filter { $0.key % 2 != parity }
      case .remove(let key): after[key] = nil
      case .clear: after = [:]
      case .removeTagged(let tag): after = values.filter { $0.value % 2 != tag }
      }
      return fitsInSomeOrder(rest, after)
    }
  }
}
