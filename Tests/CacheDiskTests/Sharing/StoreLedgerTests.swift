import Testing

@testable import CacheDisk

@Suite struct StoreLedgerTests {
  @Test("an owner that does not keep all that was changed lets nobody try again")
  func bounded() {
    var ledger = StoreLedger(graceEnd: .max)
    for number in 0..<StoreLedger.mostTouched { ledger.touch(.key(StoreKey(Array("\(number)".utf8)))) }
    #expect(ledger.touched.count == StoreLedger.mostTouched)
    #expect(ledger.isTouched(.key(StoreKey(Array("7".utf8)))) && ledger.graceEnd == .max)
    for key in ["a", "b"] { ledger.touch(.key(StoreKey(Array(key.utf8)))) }
    #expect(ledger.touched.isEmpty && ledger.graceEnd == .min)
  }
}
