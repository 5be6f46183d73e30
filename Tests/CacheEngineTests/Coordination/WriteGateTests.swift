import CacheEngine
import CacheEngineTesting
import Testing
@testable import CacheCore

@Suite struct WriteGateTests {
  var table = WriteGateTable<String>()

  private enum Request { case begins, waits }

  private mutating func request(_ key: String, _ id: UInt64) -> Request {
    table.requestWrite(key, id: id, by: Waiting(task: TaskIdentity(bits: UInt(id)))) ? .begins : .waits
  }

  @Test("writes of one key go one after the other, in the order they came")
  mutating func ordersWrites() {
    expect(request("a", 1) == .begins)
    expect(request("a", 2) == .waits)
    expect(request("a", 3) == .waits)
    expect(request("b", 4) == .begins)
    expect(table.finishWrite("a") == 2)
    expect(table.finishWrite("a") == 3)
    expect(table.finishWrite("a") == nil)
    expect(table.finishWrite("b") == nil)
    #expect(table.isEmpty)
  }

  @Test("who waits for whose turn is known, whoever has it by now")
  mutating func knowsWhoWaits() {
    let (first, second) = (TaskIdentity(bits: 1), TaskIdentity(bits: 2))
    expect(request("a", 1) == .begins)
    expect(request("b", 1) == .begins)
    for id in UInt64(2)...4 { expect(request("a", id) == .waits) }
    expect(request("b", 5) == .waits)
    #expect(table.owner(awaitedBy: 3) == first)
    #expect(table.waiting(forTurnsOf: first).map(\.id) == [2, 3, 4, 5])
    expect(table.cancel(3))
    expect(table.finishWrite("a") == 2)
    #expect(table.owner(awaitedBy: 2) == nil)
    #expect(table.owner(awaitedBy: 4) == second)
    #expect(table.waiting(forTurnsOf: first).map(\.id) == [5])
    #expect(table.waiting(forTurnsOf: second).map(\.id) == [4])
    table.adopt("b", by: second)
    #expect(table.waiting(forTurnsOf: first).isEmpty)
    #expect(table.waiting(forTurnsOf: second).map(\.id) == [4, 5])
    expect(table.cancel(4))
    expect(table.finishWrite("b") == 5)
    #expect(table.waiting(forTurnsOf: second).isEmpty)
    for key in ["a", "b"] { expect(table.finishWrite(key) == nil) }
    #expect(table.isEmpty)
  }

  @Test("a back-fill is allowed when nothing came between")
  mutating func allowsBackFill() {
    let version = table.beginRead("a").version
    expect(table.beginBackFill("a", readVersion: version))
    expect(table.finishWrite("a", isBackFill: true) == nil)
    table.endRead("a")
    #expect(table.isEmpty)
  }

  @Test("a back-fill is refused after a write, and while one is under way")
  mutating func refusesBackFill() {
    let version = table.beginRead("a").version
    expect(request("a", 1) == .begins)
    expect(!table.beginBackFill("a", readVersion: version))
    _ = table.finishWrite("a")
    expect(!table.beginBackFill("a", readVersion: version))
    let during = table.beginRead("a").version
    expect(request("a", 2) == .begins)
    _ = table.finishWrite("a")
    expect(!table.beginBackFill("a", readVersion: during))
    table.endRead("a")
    table.endRead("a")
    #expect(table.isEmpty)
  }

  @Test("who read before a line went is late, whoever reads the key since, and whatever was written in between")
  mutating func refusesLateBackFill() {
    let late = table.beginRead("a").version
    table.endRead("a")
    expect(request("a", 1) == .begins)
    expect(table.finishWrite("a") == nil)
    let present = table.beginRead("a").version
    expect(!table.beginBackFill("a", readVersion: late))
    table.endRead("a")
    // A clear in between has been forgotten, since nobody was there who had to know of it.
    let next = table.beginRead("a").version
    expect(!table.beginBackFill("a", readVersion: present))
    expect(table.beginBackFill("a", readVersion: next))
    expect(table.finishWrite("a", isBackFill: true) == nil)
    table.endRead("a")
    #expect(table.isEmpty)
  }

  @Test("what is read anew goes before all reads under way, unless a write came")
  mutating func overtakesReads() {
    let early = table.beginRead("a").version
    let reload = table.beginReload("a")
    let anew = table.overtakeReads("a", at: nil, byReload: reload.number)?.version ?? .max
    expect(!table.beginBackFill("a", readVersion: early))
    expect(table.beginBackFill("a", readVersion: anew))
    _ = table.finishWrite("a", isBackFill: true)
    expect(request("a", 1) == .begins)
    let during = table.beginReload("a")
    for number in [reload.number, during.number] {
      expect(table.overtakeReads("a", at: nil, byReload: number) == nil)
    }
    _ = table.finishWrite("a")
    expect(table.overtakeReads("a", at: nil, byReload: during.number) == nil)
    expect(!table.beginBackFill("a", readVersion: anew))
    expect(!table.beginBackFill("a", readVersion: during.read.version))
    for _ in 0..<3 { table.endRead("a") }
    #expect(table.isEmpty)
  }

  @Test("of reloads that overlap, each goes first that was asked for later than those that have ended")
  mutating func ordersReloads() {
    let reloads = (0..<3).map { _ in table.beginReload("a") }
    let second = table.overtakeReads("a", at: nil, byReload: reloads[1].number) ?? (.max, true)
    expect(!second.meetsCopy && table.beginBackFill("a", readVersion: second.version))
    expect(table.overtakeReads("a", at: nil, byReload: reloads[0].number) == nil)
    #expect(table.isOvertaken("a", readVersion: reloads[0].read.version, since: 0))
    let third = table.overtakeReads("a", at: nil, byReload: reloads[2].number) ?? (.max, false)
    #expect(third.meetsCopy)
    _ = table.finishWrite("a", isBackFill: true)
    expect(!table.beginBackFill("a", readVersion: second.version))
    expect(table.beginBackFill("a", readVersion: third.version))
    _ = table.finishWrite("a", isBackFill: true)
    for _ in 0..<3 { table.endRead("a") }
    #expect(table.isEmpty)
  }

  @Test("a read is overtaken by a write or a sweep that it met on its way, and by no back-fill")
  mutating func overtaken() {
    func isOvertaken(_ version: UInt64, since moment: UInt64 = 0) -> Bool {
      table.isOvertaken("a", readVersion: version, since: moment)
    }
    let early = table.beginRead("a").version
    #expect(!isOvertaken(early))
    expect(table.beginBackFill("a", readVersion: early))
    #expect(!isOvertaken(early))
    _ = table.finishWrite("a", isBackFill: true)
    expect(request("a", 1) == .begins)
    let during = table.beginRead("a").version
    #expect(isOvertaken(early))
    #expect(isOvertaken(during))
    _ = table.finishWrite("a")
    #expect(isOvertaken(during))
    let late = table.beginRead("a").version
    #expect(!isOvertaken(late))
    let sweep = table.sweeps.begin(.everything)
    #expect(isOvertaken(late))
    table.sweeps.endBelow(sweep)
    #expect(isOvertaken(late, since: table.sweeps.moment))
    let moment = table.sweeps.moment
    table.sweeps.end(sweep)
    #expect(isOvertaken(late, since: moment))
    #expect(!isOvertaken(late, since: table.sweeps.moment))
  }

  @Test("a write that comes during a back-fill waits for its end")
  mutating func writeWaitsForBackFill() {
    let version = table.beginRead("a").version
    expect(table.beginBackFill("a", readVersion: version))
    expect(request("a", 1) == .waits)
    expect(table.finishWrite("a", isBackFill: true) == 1)
  }

  @Test("a second read may back-fill after a first one did")
  mutating func twoBackFills() {
    let first = table.beginRead("a").version
    let second = table.beginRead("a").version
    expect(table.beginBackFill("a", readVersion: first))
    expect(!table.beginBackFill("a", readVersion: second))
    _ = table.finishWrite("a", isBackFill: true)
    expect(table.beginBackFill("a", readVersion: second))
  }

  @Test("a cancelled write leaves the line, wherever it stands")
  mutating func cancelledWrite() {
    expect(request("a", 1) == .begins)
    for id in UInt64(2)...6 { expect(request("a", id) == .waits) }
    for id in [4, 2, 6] as [UInt64] {
      expect(table.cancel(id))
      expect(!table.cancel(id))
    }
    expect(table.finishWrite("a") == 3)
    expect(table.finishWrite("a") == 5)
    expect(table.finishWrite("a") == nil)
    #expect(table.isEmpty)
  }

  @Test("To leave a line takes as many steps in a long one as in a short one", arguments: [10, 40_000])
  mutating func cancelsInConstantTime(length: UInt64) {
    _ = request("a", 1)
    for id in 2...length { _ = request("a", id) }
    var generator = SeededGenerator(seed: length)
    let before = table.steps
    for id in (2...length).shuffled(using: &generator) { expect(table.cancel(id)) }
    #expect(table.steps - before <= 3 * Int(length))
    expect(table.finishWrite("a") == nil)
    #expect(table.isEmpty)
  }

  @Test("P17 a key that does not equal itself leaves nothing behind")
  func unequalToItself() {
    var table = WriteGateTable<Double>()
    _ = table.beginRead(.nan).version
    for id in UInt64(1)...2 { expect(table.requestWrite(.nan, id: id, by: Waiting(task: .none))) }
    expect(table.finishWrite(.nan) == nil)
    expect(table.finishWrite(.nan) == nil)
    table.endRead(.nan)
    #expect(table.isEmpty)
  }

  @Test(
    "whoever writes, reads and gives up: writes of a key are alone and in order, no back-fill is late, all get a turn",
    arguments: 0..<30)
  func agreesWithModel(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var table = WriteGateTable<Int>()
    var lastID: UInt64 = 0
    var waiting: [(id: UInt64, key: Int)] = []
    var running: [Int: UInt64] = [:]
    var fills: Set<Int> = []
    var readers: [(key: Int, version: UInt64, isOvertaken: Bool)] = []

    func overtake(_ key: Int) {
      for place in readers.indices where readers[place].key == key { readers[place].isOvertaken = true }
    }
    func begin(_ id: UInt64, _ key: Int) {
      #expect(running[key] == nil && !fills.contains(key))
      running[key] = id
      overtake(key)
    }
    func passOn(_ key: Int, to next: UInt64?) {
      let place = waiting.firstIndex { $0.key == key }
      #expect(next == place.map { waiting[$0].id })
      guard let place else { return }
      let (id, _) = waiting.remove(at: place)
      begin(id, key)
    }
    func finish(_ key: Int) {
      guard running.removeValue(forKey: key) != nil else { return }
      overtake(key)
      passOn(key, to: table.finishWrite(key))
    }

    for _ in 0..<3_000 {
      let key = Int.random(in: 0..<4, using: &generator)
      switch Int.random(in: 0..<13, using: &generator) {
      case 0..<4:
        lastID += 1
        if table.requestWrite(key, id: lastID, by: Waiting(task: TaskIdentity(bits: UInt(lastID)))) {
          begin(lastID, key)
        } else {
          waiting.append((lastID, key))
        }
      case 4..<6: readers.append((key, table.beginRead(key).version, running[key] != nil))
      case 6..<8:
        guard let reader = readers.randomElement(using: &generator) else { continue }
        let isFree = running[reader.key] == nil && !fills.contains(reader.key)
        let begins = table.beginBackFill(reader.key, readVersion: reader.version)
        // A write that is under way when a read begins is seen by its end, or as what occupies the key until then.
        #expect(begins == (isFree && !reader.isOvertaken))
        if begins { fills.insert(reader.key) }
      case 8:
        guard let filled = fills.sorted().randomElement(using: &generator) else { continue }
        fills.remove(filled)
        passOn(filled, to: table.finishWrite(filled, isBackFill: true))
      case 9:
        guard let place = readers.indices.randomElement(using: &generator) else { continue }
        table.endRead(readers.remove(at: place).key)
      case 10:
        guard let place = waiting.indices.randomElement(using: &generator) else { continue }
        expect(table.cancel(waiting.remove(at: place).id))
      default: if let busy = running.keys.sorted().randomElement(using: &generator) { finish(busy) }
      }
    }
    while !running.isEmpty || !fills.isEmpty {
      while let key = fills.popFirst() { passOn(key, to: table.finishWrite(key, isBackFill: true)) }
      if let key = running.keys.min() { finish(key) }
    }
    #expect(waiting.isEmpty)
    for reader in readers { table.endRead(reader.key) }
    #expect(table.isEmpty)
  }

  @Test("what a sweep may have removed meanwhile is known for every moment, however many there are", arguments: 0..<20)
  func sweepsAgreeWithModel(seed: UInt64) {
    struct Known {
      let id: UInt64
      let key: Int
      var isBelow = true
      var isOver = false
    }
    var generator = SeededGenerator(seed: seed)
    var sweeps = Sweeps<Int>()
    var known: [Known] = []
    /// A moment, with the sweeps that were at work below then or began later, and those that were not over.
    var moments: [(moment: UInt64, below: Set<UInt64>, open: Set<UInt64>)] = []
    func note(_ id: UInt64) {
      for place in moments.indices {
        moments[place].below.insert(id)
        moments[place].open.insert(id)
      }
    }
    for _ in 0..<2_000 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0:
        let key = Int.random(in: 0..<3, using: &generator)
        known.append(Known(id: sweeps.begin(.key(key)), key: key))
        note(known[known.count - 1].id)
      case 1:
        guard let place = known.indices.filter({ known[$0].isBelow }).randomElement(using: &generator) else { continue }
        sweeps.endBelow(known[place].id)
        known[place].isBelow = false
      case 2:
        guard let place = known.indices.filter({ !known[$0].isOver }).randomElement(using: &generator) else { continue }
        sweeps.end(known[place].id)
        known[place].isBelow = false
        known[place].isOver = true
      case 3:
        let below = Set(known.filter(\.isBelow).map(\.id))
        moments.append((sweeps.moment, below, Set(known.filter { !$0.isOver }.map(\.id))))
        if moments.count > 8 { moments.removeFirst() }
      case 4 where Int.random(in: 0..<20, using: &generator) == 0:
        sweeps.forgetDone()
        moments = []
      default:
        #expect(sweeps.isBelow == known.contains { $0.isBelow })
        guard let (moment, below, open) = moments.randomElement(using: &generator) else { continue }
        let concerns = sweeps.since(moment)
        let ended = sweeps.ended(since: moment)
        for key in 0..<3 {
          let isOver = known.contains { $0.isOver && open.contains($0.id) && $0.key == key }
          if isOver { #expect(ended.contains { $0.meets(key, tags: []) }) }
          let isMeant = known.contains { below.contains($0.id) && $0.key == key }
          let isTold = concerns.contains { $0.meets(key, tags: []) }
          // The oldest of many are remembered as one that concerns everything.
          if isMeant { #expect(isTold) }
          if concerns.count < Sweeps<Int>.most { #expect(isMeant == isTold) }
        }
        #expect(concerns.count <= Sweeps<Int>.most + known.count { $0.isBelow })
        #expect(ended.count <= Sweeps<Int>.most)
        #expect(sweeps.isAny(since: moment) == !open.isEmpty)
      }
    }
  }

  @Test("a sweep is about everything, one key, the entries with a tag, or the keys that meet a condition")
  func concerns() {
    #expect(SweepConcern<Int>.everything.meets(1, tags: []))
    #expect(SweepConcern.key(1).meets(1, tags: []))
    #expect(!SweepConcern.key(1).meets(2, tags: []))
    #expect(SweepConcern<Int>.tagged("a").meets(1, tags: ["a", "b"]))
    #expect(!SweepConcern<Int>.tagged("a").meets(1, tags: ["b"]))
    #expect(!SweepConcern<Int>.tagged("a").meets(1, tags: []))
    #expect(SweepConcern<Int>.tagged("a").meets(1, tags: nil))
    #expect(SweepConcern<Int>.keys { $0 > 1 }.meets(2, tags: []))
    #expect(!SweepConcern<Int>.keys { $0 > 1 }.meets(1, tags: []))
  }
}
