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

  @Test(
    "whoever writes, clears, reads and gives up: writes of a key and clears are alone, no back-fill is late, all get a turn",
    arguments: 0..<30)
  func agreesWithModel(seed: UInt64) {
    enum Request { case write(Int), clear }
    var generator = SeededGenerator(seed: seed)
    var table = WriteGateTable<Int>()
    var waiting: [UInt64: Request] = [:]
    var running: [UInt64: Request] = [:]
    var fills: [Int] = []
    var readers: [(key: Int, version: UInt64, isOvertaken: Bool)] = []

    func overtake(_ request: Request) {
      for place in readers.indices {
        if case .write(let key) = request, key != readers[place].key { continue }
        readers[place].isOvertaken = true
      }
    }
    func begin(_ ids: [UInt64]) {
      for id in ids {
        guard let request = waiting.removeValue(forKey: id) else {
          Issue.record("\(id) got a turn and did not wait")
          continue
        }
        switch request {
        case .clear: #expect(running.isEmpty && fills.isEmpty)
        case .write(let key):
          #expect(!fills.contains(key))
          for case .write(key) in running.values { Issue.record("two writes of one key") }
          for case .clear in running.values { Issue.record("a write in a clear") }
        }
        running[id] = request
        overtake(request)
      }
    }
    func finish(_ id: UInt64) {
      guard let request = running.removeValue(forKey: id) else { return }
      overtake(request)
      switch request {
      case .clear: begin(table.finishClear())
      case .write(let key): begin(table.finishWrite(key))
      }
    }

    for _ in 0..<3_000 {
      let key = Int.random(in: 0..<4, using: &generator)
      switch Int.random(in: 0..<14, using: &generator) {
      case 0..<3:
        let id = table.nextID()
        waiting[id] = .write(key)
        if table.requestWrite(key, id: id) { begin([id]) }
      case 3:
        let id = table.nextID()
        waiting[id] = .clear
        if table.requestClear(id: id) { begin([id]) }
      case 4..<6:
        let isBusy = running.values.contains {
          switch $0 {
          case .clear: true
          case .write(let other): other == key
          }
        }
        readers.append((key, table.beginRead(key), isBusy))
      case 6..<8:
        guard let place = readers.indices.randomElement(using: &generator) else { continue }
        let reader = readers[place]
        // A write that is under way when a read begins is seen by its end, or as what occupies the key until then.
        if table.beginBackFill(reader.key, readVersion: reader.version) {
          #expect(!reader.isOvertaken)
          #expect(!fills.contains(reader.key))
          fills.append(reader.key)
        }
      case 8:
        guard let place = fills.indices.randomElement(using: &generator) else { continue }
        begin(table.finishWrite(fills.remove(at: place), isBackFill: true))
      case 9:
        guard let place = readers.indices.randomElement(using: &generator),
          !fills.contains(readers[place].key)
        else { continue }
        table.endRead(readers.remove(at: place).key)
      case 10:
        guard let id = waiting.keys.sorted().randomElement(using: &generator) else { continue }
        waiting[id] = nil
        begin(table.cancel(id))
      default:
        if let id = running.keys.sorted().randomElement(using: &generator) { finish(id) }
      }
    }
    while !running.isEmpty || !fills.isEmpty {
      while let key = fills.popLast() { begin(table.finishWrite(key, isBackFill: true)) }
      if let id = running.keys.min() { finish(id) }
    }
    #expect(waiting.isEmpty)
    for reader in readers { table.endRead(reader.key) }
    #expect(table.isEmpty)
  }

}
