import CacheEngine
import Testing

@Suite struct ContiguousArrayGrowTests {
  @Test("an array that grows by one is an eighth too long at most, keeps what it holds, and moves seldom")
  func room() {
    var array: ContiguousArray<UInt64> = []
    var moves = 0
    for length in 1...100_000 {
      let before = array.count
      array.grow(to: length, repeating: 0)
      #expect(array.count >= length)
      #expect(array.count <= max(16, length + length / 8))
      array[length - 1] = UInt64(length)
      guard array.count != before else { continue }
      moves += 1
      // The allocator rounds up what it is asked for.
      #expect(array.capacity <= array.count + 512)
    }
    #expect(array.prefix(100_000).enumerated().allSatisfy { $0.element == UInt64($0.offset + 1) })
    #expect(moves < 80)
    let longest = array.count
    array.grow(to: 7, repeating: 0)
    #expect(array.count == longest)
  }
}
