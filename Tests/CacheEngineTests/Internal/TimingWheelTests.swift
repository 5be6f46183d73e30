import Testing

@testable import CacheEngine

@Suite struct TimingWheelTests {
  private static let millisecond: Int64 = 1 << 20

  private func instant(_ nanoseconds: Int64) -> CacheInstant { CacheInstant(nanoseconds: nanoseconds) }

  @Test("what is due comes out, once each and never early, whatever is added, moved and forgotten", arguments: 0..<12)
  func agreesWithModel(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var wheel = TimingWheel()
    var model: [Int32: Int64] = [:]
    var now: Int64 = seed % 2 == 0 ? 0 : 1 << 50
    for _ in 0..<4_000 {
      let slot = Int32.random(in: 0..<200, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5:
        // Near and far alike: as many nanoseconds as a random number of bits gives.
        let deadline =
          now + (Int64.random(in: 0..<Int64.max, using: &generator) >> Int64.random(in: 6..<62, using: &generator))
        wheel.schedule(slot, at: instant(deadline), now: instant(now))
        model[slot] = deadline
      case 5:
        wheel.schedule(slot, at: nil, now: instant(now))
        model[slot] = nil
      case 6:
        wheel.cancel(slot)
        model[slot] = nil
      default:
        now += Int64.random(in: 0..<Int64.max, using: &generator) >> Int64.random(in: 16..<62, using: &generator)
        var steps = Int.max
        while let due = wheel.popDue(
          now: instant(now), steps: &steps, deadline: { instant(model[$0] ?? .max) })
        {
          let deadline = model.removeValue(forKey: due)
          #expect(deadline.map { $0 <= now } ?? false)
        }
        // What is left is of this millisecond or later.
        #expect(model.values.allSatisfy { $0 / Self.millisecond >= now / Self.millisecond })
        let due = Set(model.filter { $0.value <= now }.keys)
        #expect(due.isSubset(of: wheel.slotsOfTick(instant(now))))
      }
      #expect(wheel.count == model.count)
    }
  }

  @Test("a step looks at one slot: however many are due, so many steps take out no more, and the rest comes later")
  func bounded() {
    var wheel = TimingWheel()
    let deadline = instant(5_000 * Self.millisecond)
    for slot in Int32(0)..<1_000 { wheel.schedule(slot, at: deadline, now: instant(0)) }
    let now = instant(1 << 40)
    var rounds = 0
    while wheel.count > 0, rounds < 1_000 {
      let before = wheel.count
      var steps = 32
      while wheel.popDue(now: now, steps: &steps, deadline: { _ in deadline }) != nil {}
      #expect(before - wheel.count <= 32)
      rounds += 1
    }
    #expect(wheel.count == 0)
    // A slot moves from wheel to wheel a few times at most.
    #expect(rounds <= 1_000 * 8 / 32)
  }
}
