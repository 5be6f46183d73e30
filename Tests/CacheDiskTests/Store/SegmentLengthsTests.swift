import CacheEngineTesting
import Testing
@testable import CacheDisk

@Suite struct SegmentLengthsTests {
  @Test("lengths are those of a dictionary, whichever segment is changed and in whatever order they came")
  func asDictionary() {
    var generator = SeededGenerator(seed: 1)
    var (lengths, model): (SegmentLengths, [UInt64: Int]) = ([:], [:])
    for step in 0..<5_000 {
      let number = UInt64.random(in: 0..<6, using: &generator)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: #expect(lengths.removeValue(forKey: number) == model.removeValue(forKey: number))
      case 1: (lengths[number], model[number]) = (nil, nil)
      case 2:
        lengths.keep { $0 != number }
        model = model.filter { $0.key != number }
      default: (lengths[number], model[number]) = (step, step)
      }
      #expect(lengths.all == model)
      #expect((0..<6).allSatisfy { lengths[$0] == model[$0] })
    }
  }
}
