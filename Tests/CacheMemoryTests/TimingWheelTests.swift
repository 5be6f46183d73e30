import CacheEngine
import CacheEngineTesting
import Testing
@testable import CacheMemory

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

  @Test("what is forgotten while its bucket is being emptied holds up nothing that comes into that bucket a turn later")
  func forgottenHalfway() {
    func tick(_ number: Int64) -> CacheInstant { instant(number * Self.millisecond) }
    var wheel = TimingWheel()
    for slot in Int32(0)..<40 { wheel.schedule(slot, at: tick(100), now: tick(0)) }
    var steps = 8
    #expect(wheel.popDue(now: tick(70), steps: &steps, deadline: { _ in tick(100) }) == nil)
    for slot in Int32(0)..<40 { wheel.cancel(slot) }
    // A turn of the quickest wheel but one later, in the same bucket of it.
    wheel.schedule(0, at: tick(4_096 + 100), now: tick(4_096 + 10))
    steps = 100
    #expect(wheel.popDue(now: tick(4_096 + 20), steps: &steps, deadline: { _ in tick(4_096 + 100) }) == nil)
    #expect(steps > 0, "it went round in circles")
    #expect(!wheel.isDue(now: tick(4_096 + 20)))
    #expect(wheel.popDue(now: tick(5_000), steps: &steps, deadline: { _ in tick(4_096 + 100) }) == 0)
  }
}
