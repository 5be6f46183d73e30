import Testing

@testable import CacheDisk

@Suite struct BriefLookTests {
  /// How many questions go by before the next look.
  private func leftOut(_ look: inout BriefLook) -> Int {
    var count = 0
    while !look.begins() { count += 1 }
    return count
  }

  @Test("who looks in vain looks ever more rarely, but never no more; an answer that was found makes good for all")
  func rarer() {
    var look = BriefLook()
    #expect(leftOut(&look) == 0)
    for expected in [2, 4, 8, 16, 32, 64, 64, 64] {
      look.ended(false)
      #expect(leftOut(&look) == expected)
    }
    look.ended(true)
    #expect(leftOut(&look) == 0)
    look.ended(false)
    #expect(leftOut(&look) == 2)
  }
}
