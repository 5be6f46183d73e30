#if Explorer
import Foundation
import Testing

@testable import CacheTorture

/// A second opinion that objects to nothing is none.
@Suite struct LedgerTests {
  private typealias Line = (number: Int, key: String, work: History.Work, isSynced: Bool, begun: Int, ended: Int?)

  private func ledger(_ lines: [Line]) -> Ledger {
    var ledger = Ledger()
    for line in lines {
      ledger.begin(.init(number: line.number, key: line.key, work: line.work), isSynced: line.isSynced, at: line.begun)
      if let ended = line.ended { ledger.end(line.number, at: ended) }
    }
    return ledger
  }

  private func value(_ number: Int, _ key: String = "k", _ length: Int = 100) -> Data {
    History.value(.init(number: number, key: key, work: .set(length: length)))
  }

  @Test("an acknowledged synced write is there, one that is under way may be, one that has not begun is not")
  func synced() {
    let ledger = ledger([(1, "k", .set(length: 100), true, 0, 4), (2, "k", .set(length: 100), true, 6, 9)])
    #expect(ledger.allowed("k", at: 0) == [nil])
    #expect(ledger.allowed("k", at: 3) == [nil, 1])
    #expect(ledger.allowed("k", at: 5) == [1])
    #expect(ledger.allowed("k", at: 7) == [1, 2])
    #expect(ledger.allowed("k", at: 9) == [2])
    #expect(ledger.objection(to: nil, for: "k", at: 5, mayEvict: false) != nil)
    #expect(ledger.objection(to: nil, for: "k", at: 5, mayEvict: true) == nil)
    #expect(ledger.objection(to: value(1), for: "k", at: 9, mayEvict: true) != nil, "older than what was there")
  }

  @Test("a buffered write may be lost, and what was synced before it may not")
  func buffered() {
    let ledger = ledger([(1, "k", .set(length: 100), true, 0, 4), (2, "k", .set(length: 100), false, 4, 5)])
    #expect(ledger.allowed("k", at: 9) == [1, 2])
  }

  @Test("removals and clears have the same tiers as sets")
  func removals() {
    let set: Line = (1, "k", .set(length: 100), true, 0, 4)
    #expect(ledger([set, (2, "k", .remove, true, 4, 6)]).allowed("k", at: 6) == [nil])
    #expect(ledger([set, (2, "*", .clear, true, 4, 6)]).allowed("k", at: 6) == [nil])
    #expect(ledger([set, (2, "*", .clear, false, 4, 6)]).allowed("k", at: 6) == [1, nil])
    // A removal of nothing changes nothing on the disk.
    #expect(ledger([set, (2, "k", .remove, true, 6, 6)]).allowed("k", at: 6) == [nil])
  }

  @Test("a write that failed may be there until the next one that did not")
  func failed() {
    let failed: Line = (2, "k", .set(length: 100), true, 4, nil)
    #expect(ledger([failed]).allowed("k", at: 9) == [nil, 2])
    #expect(ledger([failed, (3, "k", .remove, true, 9, 12)]).allowed("k", at: 12) == [nil])
  }

  @Test("torn values, values of other keys and bytes of nobody are never right")
  func foreign() {
    let ledger = ledger([(1, "k", .set(length: 100), false, 0, 4), (2, "l", .set(length: 100), false, 4, 5)])
    var torn = value(1)
    torn[60] ^= 1
    for wrong in [torn, value(1).prefix(80), value(2, "l"), Data(count: 100), Data()] {
      #expect(ledger.objection(to: wrong, for: "k", at: 9, mayEvict: true) != nil)
    }
    #expect(ledger.objection(to: value(1), for: "k", at: 9, mayEvict: false) == nil)
  }

  @Test("what was found after a cut is on the disk, and stays")
  func afterwards() {
    let old = ledger([(1, "k", .set(length: 100), false, 0, 4), (2, "k", .set(length: 100), false, 4, 5)])
    #expect(Ledger(after: old, at: 9, found: ["k": [1]], isSynced: true).allowed("k", at: 0) == [1])
    #expect(Ledger(after: old, at: 9, found: ["k": [1]], isSynced: false).allowed("k", at: 0) == [nil, 1, 2])
  }
}
#endif
