import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerState

struct FleetLedgerTests {
  private var ledger = FleetLedger()
  private let start = CacheInstant(nanoseconds: 1_000_000_000_000)

  /// Two apps that share a level.
  init() {
    join("one")
    join("two")
  }

  private mutating func join(_ name: String, listens: Bool = true, at milliseconds: Int = 0) {
    let place = ledger.join(
      FleetSheet.App(name: name, pid: 1, socket: "/\(name)"), shared: listens ? ["redis"] : [], sources: ["source"],
      at: time(milliseconds))
    if listens { ledger.hears(place, deafSince: nil) }
  }

  private func time(_ milliseconds: Int) -> CacheInstant { start.advanced(by: .milliseconds(milliseconds)) }

  private mutating func note(
    _ app: Int, at milliseconds: Int, _ kind: CacheEvent.Kind, _ level: String? = "memory", key: String? = "k"
  ) {
    ledger.note(
      CacheEvent(time: time(milliseconds), request: RequestID(1), level: level, key: key, kind: kind), app: app)
  }

  /// A change of the key, told by the call that made it.
  private mutating func change(_ app: Int, at milliseconds: Int, took: Duration = .milliseconds(1)) {
    note(app, at: milliseconds, .requestEnded(.set, .done, took), nil)
  }

  private mutating func fill(_ app: Int, at milliseconds: Int) {
    note(app, at: milliseconds, .stored(.backFill, cost: 1, deadline: nil, .zero))
  }

  private mutating func hit(_ app: Int, at milliseconds: Int, took: Duration = .zero) {
    note(app, at: milliseconds, .hit(cost: 1, deadline: nil, took))
  }

  private mutating func told(_ app: Int, at milliseconds: Int) {
    note(app, at: milliseconds, .operated(.shared(.forgot(nil))), "coherence")
  }

  private func sheet() -> FleetSheet { ledger.sheet(now: time(10_000)) }

  @Test("Who holds a key is seen from what is filled and forgotten, and its age from the filling")
  mutating func holders() {
    fill(0, at: 5)
    fill(1, at: 9)
    #expect(sheet().keys.map(\.name) == ["k"])
    #expect(sheet().keys[0].copies.map { $0?.created } == [time(5), time(9)])
    #expect(sheet().apps.map(\.copies) == [1, 1])
    told(1, at: 11)
    #expect(sheet().keys[0].copies.map { $0 == nil } == [false, true])
    #expect(sheet().apps.map(\.copies) == [1, 0])
    note(0, at: 12, .removed(.evicted, cost: 1))
    #expect(sheet().keys[0].copies.allSatisfy { $0 == nil })
    // Of forty it lists two, one of which another event takes away.
    ledger.holds(
      0,
      ["a": FleetSheet.Copy(created: time(13), deadline: nil), "k": FleetSheet.Copy(created: time(13), deadline: nil)],
      count: 40)
    note(0, at: 14, .removed(.evicted, cost: 1))
    #expect(sheet().apps.map(\.copies) == [39, 0])
    ledger.left(0, because: "the app has ended")
    #expect(sheet().apps.map(\.copies) == [0, 0])
    // Its answer is read after its end.
    ledger.holds(0, ["k": FleetSheet.Copy(created: time(13), deadline: nil)], count: 40)
    #expect(sheet().apps.map(\.copies) == [0, 0])
  }

  @Test("Who is told of a change is noted with how long after its acknowledgement that was")
  mutating func telling() throws {
    change(0, at: 100)
    told(1, at: 103)
    let change = try #require(sheet().keys[0].change)
    #expect(change.by == 0)
    #expect(change.told == [nil, time(103)])
    #expect(FleetSheet.lag(change, 1) == .milliseconds(3))
    #expect(FleetSheet.lag(change, 0) == nil)
    #expect(sheet().apps[1].told == 1)
    #expect(sheet().apps[1].slowestTelling == .milliseconds(3))
    #expect(sheet().apps[0].changes == 1)
  }

  @Test("Who is told while the change is under way was told at once")
  mutating func early() throws {
    told(1, at: 99)
    change(0, at: 100, took: .milliseconds(5))
    let change = try #require(sheet().keys[0].change)
    #expect(change.by == 0)
    #expect(change.at == time(100))
    #expect(FleetSheet.lag(change, 1) == .zero)
    #expect(sheet().changes.count == 1)
  }

  @Test("A change that no attached app has made is another’s")
  mutating func stranger() throws {
    told(0, at: 50)
    told(1, at: 52)
    change(0, at: 100)
    let sheet = sheet()
    #expect(sheet.changes.map(\.by) == [0, nil])
    #expect(sheet.changes[1].told == [time(50), time(52)])
    #expect(sheet.title(nil) == "another")
  }

  @Test("Of changes that are made at once others were told of each, and nobody else made one")
  mutating func beside() {
    join("three")
    told(2, at: 61)
    told(2, at: 81)
    fill(2, at: 82)
    change(1, at: 90, took: .milliseconds(40))
    change(0, at: 100, took: .milliseconds(100))
    hit(2, at: 150)
    let sheet = sheet()
    #expect(sheet.changes.map(\.by) == [0, 1])
    #expect(sheet.changes.map { $0.told[2] } == [time(81), time(81)])
    #expect(sheet.apps[2].staleReads == 0)
  }

  @Test("Who is told once of several changes is told of all, and of the later ones if more comes")
  mutating func together() {
    join("three")
    change(0, at: 100)
    change(1, at: 101, took: .zero)
    told(1, at: 102)
    told(2, at: 103)
    #expect(sheet().changes.map(\.told) == [[nil, nil, time(103)], [nil, time(102), time(103)]])
    told(2, at: 105)
    #expect(sheet().changes.map(\.told) == [[nil, nil, time(105)], [nil, time(102), time(103)]])
    #expect(sheet().keys[0].change?.told[2] == time(105))
    #expect(sheet().apps[2].slowestTelling == .milliseconds(4))
    // That one nobody here has made.
    told(2, at: 110)
    #expect(sheet().changes.map(\.by) == [nil, 1, 0])
  }

  @Test("Who writes over what another writes just then is told nothing, and holds what is there")
  mutating func writtenOver() {
    change(1, at: 99, took: .milliseconds(5))
    change(0, at: 100, took: .milliseconds(10))
    hit(1, at: 150)
    #expect(sheet().apps[1].staleReads == 0)
    #expect(sheet().keys[0].change?.told[1] == time(99))
    // It was told all the same: the other wrote later.
    told(1, at: 160)
    #expect(sheet().changes.map(\.by) == [0, 1])
    #expect(sheet().keys[0].change?.told[1] == time(160))
    // What it wrote over is no more to be told of when something else is.
    change(1, at: 200)
    change(0, at: 5_000)
    told(1, at: 5_001)
    #expect(sheet().apps[1].slowestTelling == .milliseconds(60))
  }

  @Test("Who loads for all may be told of that as well")
  mutating func echo() {
    note(0, at: 100, .operated(.shared(.led(lease: "ab", .milliseconds(60)))), "pool")
    told(1, at: 101)
    told(0, at: 102)
    #expect(sheet().changes.map(\.by) == [0])
    told(0, at: 110)
    #expect(sheet().changes.map(\.by) == [nil, 0])
  }

  @Test("What was changed before an app came, or came again, it may have been told of")
  mutating func late() {
    change(0, at: 100)
    join("three", at: 500)
    join("two", at: 500)
    for app in 1...2 { hit(app, at: 600) }
    #expect(sheet().apps.map(\.staleReads) == [0, 0, 0])
    note(2, at: 700, .operated(.shared(.forgot(.connected))), "coherence", key: nil)
    told(1, at: 700)
    #expect(sheet().apps.map(\.slowestTelling) == [nil, nil, nil])
    #expect(sheet().changes.map(\.by) == [nil, 0])
  }

  @Test("What others are told of while an app loads for all is its load, and makes nobody’s copy older")
  mutating func loaded() throws {
    fill(1, at: 10)
    note(0, at: 40, .operated(.shared(.leads(lease: "ab"))), "pool")
    told(1, at: 90)
    note(0, at: 100, .operated(.shared(.led(lease: "ab", .milliseconds(60)))), "pool")
    let change = try #require(sheet().keys[0].change)
    #expect(change.by == 0 && change.isLoad)
    #expect(sheet().apps[0].changes == 0)
    #expect(sheet().apps[1].slowestTelling == nil)
    hit(1, at: 110)
    #expect(sheet().apps[1].staleReads == 0)
  }

  @Test("So is what they are told soon after; a change that comes then is one")
  mutating func loadedBefore() throws {
    note(0, at: 40, .operated(.shared(.leads(lease: "ab"))), "pool")
    note(0, at: 100, .operated(.shared(.led(lease: "ab", .milliseconds(60)))), "pool")
    told(1, at: 103)
    #expect(sheet().keys[0].change?.by == 0)
    #expect(sheet().keys[0].change?.isLoad == true)
    // Told while the change is under way: the load has had its own.
    told(1, at: 200)
    change(0, at: 201, took: .milliseconds(5))
    let change = try #require(sheet().keys[0].change)
    #expect(!change.isLoad)
    #expect(change.told[1] == time(200))
    #expect(sheet().changes.count { !$0.isLoad } == 1)
  }

  @Test("Long after a load it is another’s change")
  mutating func loadedLongAgo() {
    note(0, at: 100, .operated(.shared(.led(lease: "ab", .milliseconds(60)))), "pool")
    told(1, at: 1_200)
    #expect(sheet().keys[0].change?.by == nil)
    #expect(sheet().keys[0].change?.isLoad == false)
  }

  @Test("A read is stale if it began after the change was acknowledged, and a copy of before answered it")
  mutating func stale() throws {
    fill(1, at: 10)
    change(0, at: 100)
    // It began before, whatever came meanwhile.
    hit(1, at: 101, took: .milliseconds(5))
    #expect(sheet().apps[1].staleReads == 0)
    hit(1, at: 140)
    hit(1, at: 120)
    hit(0, at: 150)
    told(1, at: 160)
    hit(1, at: 170)
    let sheet = sheet()
    #expect(sheet.apps[1].staleReads == 2)
    #expect(sheet.apps[1].stalest == FleetSheet.StaleRead(key: "k", by: .milliseconds(40), at: time(140)))
    #expect(sheet.apps[0].staleReads == 0)
  }

  @Test("A copy of after the change is not stale, though nobody was told")
  mutating func fresh() {
    fill(1, at: 10)
    change(0, at: 100)
    fill(1, at: 110)
    hit(1, at: 120)
    #expect(sheet().apps[1].staleReads == 0)
  }

  @Test("Apps that share nothing make each other’s copies no older")
  mutating func strangers() {
    join("alone", listens: false)
    fill(1, at: 10)
    fill(2, at: 10)
    change(2, at: 100)
    hit(1, at: 110)
    change(0, at: 120)
    hit(2, at: 130)
    #expect(sheet().apps.map(\.staleReads) == [0, 0, 0])
    #expect(sheet().apps[2].changes == 0)
  }

  @Test("Who forgets everything has been told of all changes before")
  mutating func everything() {
    fill(1, at: 10)
    change(0, at: 100)
    note(1, at: 130, .operated(.shared(.forgot(.connected))), "coherence", key: nil)
    hit(1, at: 140)
    #expect(sheet().apps[1].staleReads == 0)
    #expect(sheet().keys[0].copies[1] == nil)
    #expect(sheet().keys[0].change?.told[1] == time(130))
  }

  @Test("A load that others wait for is told with who makes it, and is over when it ends")
  mutating func leases() {
    note(1, at: 10, .operated(.shared(.follows(lease: "ab"))), "pool")
    #expect(sheet().leases.map(\.leader) == [nil])
    note(0, at: 10, .operated(.shared(.leads(lease: "ab"))), "pool")
    #expect(sheet().leases.map(\.leader) == [0])
    #expect(sheet().leases.map(\.waiting) == [[1]])
    #expect(sheet().leases[0].key == "k")
    note(1, at: 30, .operated(.shared(.followed(lease: "ab", .milliseconds(20)))), "pool")
    #expect(sheet().leases.map(\.waiting) == [[]])
    note(0, at: 31, .operated(.shared(.led(lease: "ab", .milliseconds(21)))), "pool")
    #expect(sheet().leases.isEmpty)
    #expect(sheet().apps[0].loads == 1)
    #expect(sheet().apps[1].waits == 1)
    #expect(sheet().apps[1].longestWait == .milliseconds(20))
  }

  @Test("An app of which several requests wait for a load waits once")
  mutating func waitsOnce() {
    note(0, at: 10, .operated(.shared(.leads(lease: "ab"))), "pool")
    for time in 11...12 { note(1, at: time, .operated(.shared(.follows(lease: "ab"))), "pool") }
    #expect(sheet().leases.map(\.waiting) == [[1]])
    #expect(sheet().apps[1].waits == 2)
  }

  @Test("An app that is gone holds nothing and waits for nobody, and has its place when it is there again")
  mutating func gone() {
    fill(1, at: 10)
    note(1, at: 10, .operated(.shared(.follows(lease: "ab"))), "pool")
    ledger.left(1, because: "the app has ended")
    #expect(sheet().apps[1].ended == "the app has ended")
    #expect(sheet().keys.isEmpty)
    #expect(sheet().leases.isEmpty)
    join("two")
    #expect(sheet().apps.count == 2)
    #expect(sheet().apps[1].ended == nil)
  }

  @Test("What an app says of its hearing stands against its events, which count only if it says nothing")
  mutating func hearing() {
    note(1, at: 10, .operated(.shared(.deaf(since: time(5)))), "coherence")
    #expect(sheet().apps[1].deafSince == nil)
    join("three", listens: false)
    note(2, at: 10, .operated(.shared(.deaf(since: time(5)))), "coherence")
    #expect(sheet().apps[2].listens && sheet().apps[2].deafSince == time(5))
    note(2, at: 20, .operated(.shared(.heard)), "coherence")
    #expect(sheet().apps[2].deafSince == nil)
    // Another process in its place, which says nothing of it.
    join("two", listens: false, at: 30)
    note(1, at: 40, .operated(.shared(.deaf(since: time(35)))), "coherence")
    #expect(sheet().apps[1].deafSince == time(35))
  }

  @Test("Where events were lost no load is shown for ever, and no read is called stale that need not be")
  mutating func gaps() {
    note(0, at: 10, .operated(.shared(.leads(lease: "ab"))), "pool")
    note(1, at: 10, .operated(.shared(.follows(lease: "ab"))), "pool")
    change(0, at: 20)
    for app in 0...1 { ledger.lose(3, of: app, at: time(50)) }
    // Of before, and told late.
    note(0, at: 40, .operated(.shared(.leads(lease: "cd"))), "pool")
    note(1, at: 40, .operated(.shared(.follows(lease: "cd"))), "pool")
    hit(1, at: 60)
    #expect(sheet().leases.isEmpty)
    #expect(sheet().apps[1].staleReads == 0)
    #expect(sheet().lost == 6)
    change(0, at: 70)
    hit(1, at: 80)
    #expect(sheet().apps[1].staleReads == 1)
  }

  @Test("A third app has a place in what is known already")
  mutating func third() {
    fill(1, at: 10)
    change(0, at: 100)
    join("three")
    told(2, at: 110)
    fill(2, at: 111)
    #expect(sheet().keys[0].copies.map { $0 != nil } == [false, true, true])
    #expect(sheet().keys[0].change?.told == [nil, nil, time(110)])
  }

  @Test("An app in the place of one that is gone made none of its changes, and was told of none that it was told of")
  mutating func replaced() {
    change(1, at: 100)
    fill(0, at: 50)
    note(0, at: 150, .requestEnded(.set, .done, .zero), nil, key: "other")
    note(1, at: 160, .operated(.shared(.forgot(nil))), "coherence", key: "other")
    ledger.left(1, because: "the app has ended")
    let app = FleetSheet.App(name: "three", pid: 2, socket: "/three")
    #expect(ledger.join(app, shared: ["redis"], sources: [], at: time(180), inPlaceOf: 1) == 1)
    #expect(sheet().apps.map(\.name) == ["one", "three"])
    #expect(sheet().apps.map(\.ended) == [nil, nil])
    #expect(sheet().changes.map(\.by) == [0, nil])
    #expect(sheet().changes.map(\.told) == [[nil, nil], [nil, nil]])
    // It is a change all the same, of which the other was not told.
    hit(0, at: 200)
    #expect(sheet().apps[0].staleReads == 1)
  }

  @Test("What is kept in mind is bounded")
  mutating func bounds() {
    for number in 0..<20_000 {
      note(0, at: number, .requestEnded(.set, .done, .zero), nil, key: "key\(number)")
    }
    let sheet = sheet()
    #expect(sheet.keys.count == 500)
    #expect(sheet.keys[0].name == "key19999")
    #expect(sheet.changes.count == 100)
    #expect((1...9_500).contains(sheet.unlisted))
  }
}
