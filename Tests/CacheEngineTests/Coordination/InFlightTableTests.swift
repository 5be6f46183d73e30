import CacheEngine
import CacheEngineTesting
import Testing
@testable import CacheCore

@Suite struct InFlightTableTests {
  typealias Flight = InFlightTable<String, Int>.Flight

  var table = InFlightTable<String, Int>()

  /// Who waited for a load of the key.
  private mutating func finish(_ flight: Flight) -> [Int] {
    table.finish(flight) ? flight.waiters.compactMap(\.waiter) : []
  }

  @Test("the first caller of a key leads and the others follow")
  mutating func joins() {
    guard case .leads(let flight) = table.join("a", id: 100, waiter: 1) else {
      Issue.record("the first caller must lead")
      return
    }
    guard case .follows(let joined, callers: 2) = table.join("a", id: 101, waiter: 2) else {
      Issue.record("the second caller must follow")
      return
    }
    #expect(joined === flight)
    expect(finish(flight) == [1, 2])
    #expect(table.isEmpty)
  }

  @Test("the last caller to leave ends the load, and the key is free at once")
  mutating func abandons() async {
    guard case .leads(let flight) = table.join("a", id: 100, waiter: 1) else {
      Issue.record("whoever asks first leads")
      return
    }
    let load = Task<Void, any Error> {}
    expect(table.attach(load, to: flight) != nil)
    _ = table.join("a", id: 101, waiter: 2)
    expect(table.leave(100, key: "a")?.abandoned == nil)
    expect(table.leave(101, key: "a")?.abandoned == load)
    expect(table.leave(101, key: "a") == nil)
    expect(finish(flight) == [])
    #expect(table.isEmpty)
  }

  @Test("a load whose callers all left before its task was known is not attached")
  mutating func abandonedEarly() async {
    guard case .leads(let flight) = table.join("a", id: 100, waiter: 1) else {
      Issue.record("whoever asks first leads")
      return
    }
    expect(table.leave(100, key: "a")?.remaining == 0)
    expect(table.attach(Task<Void, any Error> {}, to: flight) == nil)
  }

  @Test("a detached load serves those who wait, and the next caller leads anew")
  mutating func detaches() {
    guard case .leads(let old) = table.join("a", id: 100, waiter: 1) else {
      Issue.record("whoever asks first leads")
      return
    }
    table.detach("a")
    guard case .leads(let new) = table.join("a", id: 101, waiter: 2) else {
      Issue.record("a caller after a detach must lead")
      return
    }
    expect(table.leave(100, key: "a")?.flight == old.id)
    expect(finish(new) == [2])
    #expect(table.isEmpty)
  }

  @Test(
    "To leave a load takes as many steps among many as among few, detached or not", arguments: [false, true],
    [false, true])
  mutating func leavesInFewSteps(isDetached: Bool, isBackwards: Bool) {
    let count: UInt64 = 10_000
    for id in 1...count { _ = table.join("a", id: id, waiter: Int(id)) }
    // Another one that is detached for each caller.
    for id in 1...count {
      _ = table.join("b", id: count + id, waiter: 0)
      table.detach("b")
    }
    if isDetached { table.detach("a") }
    let before = table.steps
    for id in isBackwards ? Array((1...count).reversed()) : Array(1...count) {
      expect(table.leave(id, key: "a")?.waiter == Int(id))
    }
    expect(table.steps - before <= 20 * Int(count))
    expect(table.leave(1, key: "a") == nil)
    for id in 1...count { expect(table.leave(count + id, key: "b")?.remaining == 0) }
    expect(table.steps - before <= 40 * Int(count))
    #expect(table.isEmpty)
  }

  @Test("callers that come a little out of order are served in order, and those who left are not", arguments: 0..<20)
  mutating func outOfOrder(seed: UInt64) throws {
    var lot = SeededGenerator(seed: seed)
    var ids = Array(1...100 as ClosedRange<UInt64>)
    for place in stride(from: 0, to: 100, by: 5) { ids[place..<place + 5].shuffle(using: &lot) }
    var led: Flight?
    for id in ids { if case .leads(let first) = table.join("a", id: id, waiter: Int(id)) { led = first } }
    let leaving = Set(ids.shuffled(using: &lot).prefix(60))
    if seed % 2 == 0 { table.detach("a") }
    for id in leaving.shuffled(using: &lot) { expect(table.leave(id, key: "a")?.waiter == Int(id)) }
    let flight = try #require(led)
    expect(finish(flight) == (1...100).filter { !leaving.contains(UInt64($0)) })
    #expect(table.isEmpty)
  }
}
