import CacheEngine
import Testing

@Suite struct InFlightTableTests {
  var table = InFlightTable<String, Int>()

  /// Who waited for a load of the key.
  private mutating func finish(_ flight: UInt64) -> [Int] { table.finish(flight, of: "a").map(\.waiter) }

  @Test("the first caller of a key leads and the others follow")
  mutating func joins() {
    guard case .leads(let flight) = table.join("a", id: 100, waiter: 1) else {
      Issue.record("the first caller must lead")
      return
    }
    expect(table.join("a", id: 101, waiter: 2) == .follows(flight, callers: 2))
    expect(finish(flight) == [1, 2])
    #expect(table.isEmpty)
  }

  @Test("the last caller to leave ends the load, and the key is free at once")
  mutating func abandons() async {
    guard case .leads(let flight) = table.join("a", id: 100, waiter: 1) else { return }
    let load = Task {}
    expect(table.attach(load, to: flight, of: "a") != nil)
    _ = table.join("a", id: 101, waiter: 2)
    expect(table.leave(100, key: "a")?.abandoned == nil)
    expect(table.leave(101, key: "a")?.abandoned == load)
    expect(table.leave(101, key: "a") == nil)
    expect(finish(flight) == [])
    #expect(table.isEmpty)
  }

  @Test("a load whose callers all left before its task was known is not attached")
  mutating func abandonedEarly() async {
    guard case .leads(let flight) = table.join("a", id: 100, waiter: 1) else { return }
    expect(table.leave(100, key: "a")?.remaining == 0)
    expect(table.attach(Task {}, to: flight, of: "a") == nil)
  }

  @Test("a detached load serves those who wait, and the next caller leads anew")
  mutating func detaches() {
    guard case .leads(let old) = table.join("a", id: 100, waiter: 1) else { return }
    table.detach("a")
    guard case .leads(let new) = table.join("a", id: 101, waiter: 2) else {
      Issue.record("a caller after a detach must lead")
      return
    }
    expect(table.leave(100, key: "a")?.flight == old)
    expect(finish(new) == [2])
    #expect(table.isEmpty)
  }
}
