import Testing

@testable import CacheEngine

@Suite struct WriteGateTests {
  var table = WriteGateTable<String>()

  @Test("writes of one key go one after the other, in the order they came")
  mutating func ordersWrites() {
    expect(table.requestWrite("a", id: 1))
    expect(!table.requestWrite("a", id: 2))
    expect(!table.requestWrite("a", id: 3))
    expect(table.requestWrite("b", id: 4))
    expect(table.finishWrite("a") == [2])
    expect(table.finishWrite("a") == [3])
    expect(table.finishWrite("a") == [])
    expect(table.finishWrite("b") == [])
    #expect(table.isEmpty)
  }

  @Test("a back-fill is allowed when nothing came between")
  mutating func allowsBackFill() {
    let version = table.beginRead("a")
    expect(table.beginBackFill("a", readVersion: version))
    expect(table.finishWrite("a", isBackFill: true) == [])
    table.endRead("a")
    #expect(table.isEmpty)
  }

  @Test("a back-fill is refused after a write, and while one is under way")
  mutating func refusesBackFill() {
    let version = table.beginRead("a")
    expect(table.requestWrite("a", id: 1))
    expect(!table.beginBackFill("a", readVersion: version))
    _ = table.finishWrite("a")
    expect(!table.beginBackFill("a", readVersion: version))
    let during = table.beginRead("a")
    expect(table.requestWrite("a", id: 2))
    _ = table.finishWrite("a")
    expect(!table.beginBackFill("a", readVersion: during))
    table.endRead("a")
    table.endRead("a")
    #expect(table.isEmpty)
  }

  @Test("a read is overtaken by a write or a clear that it met on its way, and by no back-fill")
  mutating func overtaken() {
    let early = table.beginRead("a")
    #expect(!table.isOvertaken("a", readVersion: early))
    expect(table.beginBackFill("a", readVersion: early))
    #expect(!table.isOvertaken("a", readVersion: early))
    _ = table.finishWrite("a", isBackFill: true)
    expect(table.requestWrite("a", id: 1))
    let during = table.beginRead("a")
    #expect(table.isOvertaken("a", readVersion: early))
    #expect(table.isOvertaken("a", readVersion: during))
    _ = table.finishWrite("a")
    #expect(table.isOvertaken("a", readVersion: during))
    let late = table.beginRead("a")
    #expect(!table.isOvertaken("a", readVersion: late))
    expect(table.requestClear(id: 2))
    #expect(table.isOvertaken("a", readVersion: late))
    _ = table.finishClear()
    #expect(table.isOvertaken("a", readVersion: late))
  }

  @Test("a write that comes during a back-fill waits for its end")
  mutating func writeWaitsForBackFill() {
    let version = table.beginRead("a")
    expect(table.beginBackFill("a", readVersion: version))
    expect(!table.requestWrite("a", id: 1))
    expect(table.finishWrite("a", isBackFill: true) == [1])
  }

  @Test("a second read may back-fill after a first one did")
  mutating func twoBackFills() {
    let first = table.beginRead("a")
    let second = table.beginRead("a")
    expect(table.beginBackFill("a", readVersion: first))
    expect(!table.beginBackFill("a", readVersion: second))
    _ = table.finishWrite("a", isBackFill: true)
    expect(table.beginBackFill("a", readVersion: second))
  }

  @Test("a clear waits for the writes under way and holds back later ones")
  mutating func clearIsExclusive() {
    expect(table.requestWrite("a", id: 1))
    expect(!table.requestClear(id: 2))
    expect(!table.requestWrite("b", id: 3))
    expect(table.finishWrite("a") == [2])
    expect(!table.requestWrite("a", id: 4))
    expect(table.finishClear() == [3, 4])
    _ = table.finishWrite("a")
    _ = table.finishWrite("b")
    #expect(table.isEmpty)
  }

  @Test("a clear refuses the back-fill of every read that began before its end")
  mutating func clearRefusesBackFills() {
    let version = table.beginRead("a")
    expect(table.requestClear(id: 1))
    expect(!table.beginBackFill("a", readVersion: version))
    expect(table.finishClear() == [])
    expect(!table.beginBackFill("a", readVersion: version))
  }

  @Test("a cancelled clear lets the writes go that it held back")
  mutating func cancelledClear() {
    expect(table.requestWrite("a", id: 1))
    expect(!table.requestClear(id: 2))
    expect(!table.requestWrite("b", id: 3))
    expect(table.cancel(2) == [3])
    _ = table.finishWrite("a")
    _ = table.finishWrite("b")
    #expect(table.isEmpty)
  }

  @Test("a cancelled write leaves the queue")
  mutating func cancelledWrite() {
    expect(table.requestWrite("a", id: 1))
    expect(!table.requestWrite("a", id: 2))
    expect(!table.requestWrite("a", id: 3))
    expect(table.cancel(2) == [])
    expect(table.finishWrite("a") == [3])
  }

  @Test("P17 a key that does not equal itself leaves nothing behind")
  func unequalToItself() {
    var table = WriteGateTable<Double>()
    _ = table.beginRead(.nan)
    expect(table.requestWrite(.nan, id: 1))
    expect(!table.requestClear(id: 2))
    expect(!table.requestWrite(.nan, id: 3))
    expect(table.finishWrite(.nan) == [2])
    expect(table.finishClear() == [3])
    expect(table.finishWrite(.nan) == [])
    table.endRead(.nan)
    #expect(table.isEmpty)
  }
}
