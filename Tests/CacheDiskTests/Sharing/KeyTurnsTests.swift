import CacheEngine
import CacheEngineTesting
import Testing

@testable import CacheDisk

@Suite struct KeyTurnsTests {
  private func key(_ number: Int) -> StoreKey { StoreKey(Array("\(number)".utf8)) }

  /// The same in the simplest way: whoever waits goes on if nothing that has a turn, or waits ahead of it, is in its way.
  private struct Naive {
    var held: [KeyTurns.Scope] = []
    var waiting: [(scope: KeyTurns.Scope, turn: Int)] = []

    private static func collides(_ one: KeyTurns.Scope, _ other: KeyTurns.Scope) -> Bool {
      if case .key(let first) = one, case .key(let second) = other { first == second } else { true }
    }

    mutating func take(_ scope: KeyTurns.Scope) -> Bool {
      guard !(held + waiting.map(\.scope)).contains(where: { Self.collides($0, scope) }) else { return false }
      held.append(scope)
      return true
    }

    mutating func leave(_ scope: KeyTurns.Scope) -> [Int] {
      held.removeAll { Self.collides($0, scope) }
      let all = waiting
      waiting = []
      return all.filter { one in
        if take(one.scope) { return true }
        waiting.append(one)
        return false
      }.map(\.turn)
    }
  }

  @Test("changes of some keys and of everything have their turns in the order in which they came", arguments: 0..<40)
  func model(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (lines, naive) = (KeyTurns.Lines<Int>(), Naive())
    var scopes: [KeyTurns.Scope] = []
    var running: Set<Int> = []
    for turn in 0..<2_000 {
      let scope =
        Int.random(in: 0..<6, using: &random) == 0
        ? KeyTurns.Scope.everything : .key(key(Int.random(in: 0..<4, using: &random)))
      scopes.append(scope)
      let (isTaken, isExpected) = (lines.take(scope), naive.take(scope))
      #expect(isTaken == isExpected)
      if isTaken {
        running.insert(turn)
      } else {
        naive.waiting.append((scope, turn))
        lines.wait(scope, turn)
      }
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        guard let ended = running.sorted().randomElement(using: &random) else { break }
        running.remove(ended)
        let (next, expected) = (lines.leave(scopes[ended]), naive.leave(scopes[ended]))
        #expect(next == expected)
        running.formUnion(next)
      }
    }
    while let ended = running.first {
      running.remove(ended)
      running.formUnion(lines.leave(scopes[ended]))
      _ = naive.leave(scopes[ended])
    }
    let isFree = lines.take(.everything)
    #expect(isFree && naive.waiting.isEmpty)
  }

  @Test("each of many who wait for one key, or for everything, costs as much as the first", arguments: [true, false])
  func storm(isOne: Bool) {
    let scope = isOne ? KeyTurns.Scope.key(key(1)) : .everything
    var lines = KeyTurns.Lines<Int>()
    _ = lines.take(scope)
    let count = 40_000
    let begin = ContinuousClock.now
    for turn in 0..<count { lines.wait(scope, turn) }
    for turn in 0..<count where lines.leave(scope) != [turn] {
      Issue.record("\(turn) is not the next")
      return
    }
    #expect(begin.duration(to: .now) < .seconds(10))
    let last = lines.leave(scope)
    #expect(last.isEmpty)
  }
}
